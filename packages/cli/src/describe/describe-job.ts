import { type CronJob, type Event, humanDuration, type Job, parseTime } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { formatLocalTime } from './local-time.ts'
import { controllerText, describeAnnotations, describeIdentity, describeLabels } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** Jobs that must complete before this one begins. */
const dependsOnAnnotation = 'coracle.dev/depends-on'

/** A Job in detail (kubectl's describeJob). */
export function describeJob(job: Job, events: readonly Event[] | undefined, nowMs: number): string {
  const { metadata, spec, status } = job
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.field(0, 'Selector', labelSelectorText(spec.selector, ''))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  const controller = controllerText(job)
  if (controller !== undefined) text.field(0, 'Controlled By', controller)
  const dependsOn = metadata.annotations?.[dependsOnAnnotation]
  if (dependsOn !== undefined) text.field(0, 'Depends On', dependsOn)
  if (spec.parallelism !== undefined) text.field(0, 'Parallelism', spec.parallelism)
  text.field(0, 'Completions', spec.completions ?? '<unset>')
  if (spec.completionMode !== undefined) text.field(0, 'Completion Mode', spec.completionMode)
  if (spec.suspend !== undefined) text.field(0, 'Suspend', spec.suspend)
  if (spec.backoffLimit !== undefined) text.field(0, 'Backoff Limit', spec.backoffLimit)
  if (spec.ttlSecondsAfterFinished !== undefined) {
    text.field(0, 'TTL Seconds After Finished', spec.ttlSecondsAfterFinished)
  }
  text.time(0, 'Start Time', status?.startTime).time(0, 'Completed At', status?.completionTime)
  if (status?.startTime !== undefined && status.completionTime !== undefined) {
    text.field(0, 'Duration', humanDuration(parseTime(status.completionTime) - parseTime(status.startTime)))
  }
  if (spec.activeDeadlineSeconds !== undefined)
    text.field(0, 'Active Deadline Seconds', `${spec.activeDeadlineSeconds}s`)
  const ready = status?.ready === undefined ? '' : ` (${status.ready} Ready)`
  text.field(
    0,
    'Pods Statuses',
    `${status?.active ?? 0} Active${ready} / ${status?.succeeded ?? 0} Succeeded / ${status?.failed ?? 0} Failed`,
  )
  if (spec.completionMode === 'Indexed') text.field(0, 'Completed Indexes', shortened(status?.completedIndexes ?? ''))
  describePodTemplate(text, spec.template)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** From this length on indexes are left out, whole ones. */
const indexesLengthMax = 50

function shortened(indexes: string): string {
  if (indexes === '') return '<none>'
  const comma = indexes.indexOf(',', indexesLengthMax)
  return comma < 0 ? indexes : `${indexes.slice(0, comma + 1)}...`
}

/** A CronJob in detail (kubectl's describeCronJob). */
export function describeCronJob(cronJob: CronJob, events: readonly Event[] | undefined, nowMs: number): string {
  const { metadata, spec, status } = cronJob
  const job = spec.jobTemplate.spec
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'Schedule', spec.schedule)
  text.field(0, 'Concurrency Policy', spec.concurrencyPolicy ?? '')
  text.field(0, 'Suspend', spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False')
  text.field(0, 'Time Zone', spec.timeZone ?? '<unset>')
  text.field(0, 'Successful Job History Limit', spec.successfulJobsHistoryLimit ?? '<unset>')
  text.field(0, 'Failed Job History Limit', spec.failedJobsHistoryLimit ?? '<unset>')
  const deadline = spec.startingDeadlineSeconds
  text.field(0, 'Starting Deadline Seconds', deadline === undefined ? '<unset>' : `${deadline}s`)
  text.field(0, 'Selector', job?.selector === undefined ? '<unset>' : labelSelectorText(job.selector, ''))
  text.field(0, 'Parallelism', job?.parallelism ?? '<unset>').field(0, 'Completions', job?.completions ?? '<unset>')
  if (job?.activeDeadlineSeconds !== undefined)
    text.field(0, 'Active Deadline Seconds', `${job.activeDeadlineSeconds}s`)
  describePodTemplate(text, job?.template ?? {})
  const last = status?.lastScheduleTime
  text.field(0, 'Last Schedule Time', last === undefined ? '<unset>' : formatLocalTime(last))
  const active = (status?.active ?? []).map(({ name = '' }) => name)
  text.field(0, 'Active Jobs', active.length === 0 ? '<none>' : active.join(', '))
  describeEvents(text, events, nowMs)
  return text.toString()
}

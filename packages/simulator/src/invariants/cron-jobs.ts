import { type CronJob, hasJobCondition, isJobFinished, type Job } from '@coracle/api'
import { type Change, controllerOf, type Invariant, isNew, labelOf, type View } from '../view.ts'

/** What CronJobs promise. Made for each run: it remembers which times have had their Job. */
export function cronJobInvariants(): readonly Invariant[] {
  const times = new Map<string, string>()
  return [
    { name: 'a CronJob that forbids it runs one Job at a time', check: jobsAtOnce },
    { name: 'a CronJob runs each time once', check: (change, view) => twice(change, view, times) },
    { name: 'in the end a CronJob keeps as many Jobs as it is to', finally: tooManyKept },
  ]
}

/** One whose creation nobody was told of does not count: the controller may not have seen it before the next time came. */
function jobsAtOnce(change: Change, view: View): string | undefined {
  const { object } = change
  if (object?.kind !== 'Job' || !isNew(change)) return undefined
  const owner = controllerOf(object)
  const versions = owner?.kind === 'CronJob' ? view.recent<CronJob>(owner.uid) : []
  if (versions.length === 0 || versions.some(({ spec }) => (spec.concurrencyPolicy ?? 'Allow') === 'Allow'))
    return undefined
  const others = view
    .list<Job>('Job')
    .filter((job) => job.metadata.uid !== object.metadata.uid && controllerOf(job)?.uid === owner?.uid)
    .filter((job) => !isJobFinished(job) && job.metadata.deletionTimestamp === undefined)
    .filter((job) => !view.isCreationUnanswered(job))
  return others.length > 0
    ? `${labelOf(object)} is made beside ${others.map(({ metadata }) => metadata.name).join(', ')}`
    : undefined
}

/** The name of a Job says of which time it is. One that is gone may be made again only by who was not told of it. */
function twice(change: Change, view: View, times: Map<string, string>): string | undefined {
  const { object } = change
  const owner = object?.kind === 'Job' && isNew(change) ? controllerOf(object) : undefined
  if (object === undefined || owner?.kind !== 'CronJob') return undefined
  const time = `${owner.uid} ${object.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']}`
  const before = times.get(time)
  times.set(time, object.metadata.name ?? '')
  return before !== undefined && view.isCalm ? `${labelOf(object)} is made again for the time of ${before}` : undefined
}

function tooManyKept(view: View): readonly string[] {
  return view.list<CronJob>('CronJob').flatMap((cronJob) => {
    const own = view.list<Job>('Job').filter((job) => controllerOf(job)?.uid === cronJob.metadata.uid)
    const { successfulJobsHistoryLimit: good = 3, failedJobsHistoryLimit: bad = 1 } = cronJob.spec
    const complete = own.filter(({ status }) => hasJobCondition(status, 'Complete')).length
    const failed = own.filter(({ status }) => hasJobCondition(status, 'Failed')).length
    return complete <= good && failed <= bad
      ? []
      : [`${labelOf(cronJob)} keeps ${complete} complete Jobs of ${good} and ${failed} failed ones of ${bad}`]
  })
}

import {
  type CronJob,
  type CronJobStatus,
  compareText,
  formatTime,
  hasJobCondition,
  isJobFinished,
  type Job,
  jobs as jobResource,
  type ObjectReference,
} from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'
import { isOfSchedule, jobOf } from './new-job.ts'
import { dueTime, missedTimesMax, scheduleOf } from './schedule.ts'

export interface ObservedCronJob {
  readonly cronJob: CronJob
  /** The Jobs that it controls. */
  readonly jobs: readonly Job[]
  /** Whether its schedule has just been changed: the first time that counts is the next, not one that the old one did not have. */
  readonly isRescheduled?: boolean
}

export interface CronJobPlan extends Plan<CronJobStatus> {
  readonly status: CronJobStatus
  /** The name of the Job that is made: it is active from then on. */
  readonly starts?: string
  /** What is to be said where that Job cannot be made. */
  readonly statusWithoutStart: CronJobStatus
  /** Whether all that is told is told once: with the status that is written there is nothing more to tell, or to do. */
  readonly isSaid: boolean
}

/** What to do about a CronJob (pkg/controller/cronjob). The status only holds once the actions have succeeded. Pure. */
export function planCronJob(observed: ObservedCronJob, nowMs: Time): CronJobPlan {
  const { cronJob, jobs } = observed
  const { spec, metadata } = cronJob
  const excess = excessJobs(cronJob, jobs)
  const seen = observe(observed, excess)
  const cleanup = excess.map((job) =>
    deleteJob(job, 'more Jobs that are over than are to be kept', job.metadata.uid ?? ''),
  )
  const look: CronJobPlan = {
    actions: [...seen.events, ...cleanup],
    status: seen.status,
    statusWithoutStart: seen.status,
    isSaid: !seen.events.some(isWarning),
  }
  if (metadata.deletionTimestamp !== undefined) return look
  const schedule = scheduleOf(cronJob)
  const isZoneUnknown = 'reason' in schedule && schedule.reason === 'UnknownTimeZone'
  if (spec.suspend === true && !isZoneUnknown) return look
  if ('reason' in schedule)
    return { ...look, isSaid: false, actions: [...look.actions, warning(schedule.reason, schedule.message)] }
  const nextMs = schedule.next(nowMs)
  if (nextMs === undefined) {
    // Such as that of the 31st of February.
    const error = 'time difference between two schedules is less than 1 second'
    return {
      ...look,
      isSaid: false,
      actions: [...look.actions, warning('InvalidSchedule', `invalid schedule: ${spec.schedule} : ${error}`)],
    }
  }
  const plan = { ...look, requeueAfterMs: nextMs - nowMs }
  const due = observed.isRescheduled === true ? undefined : dueTime(cronJob, schedule, nowMs)
  if (due === undefined) return plan
  const start = startAt(observed, due.ms, nowMs)
  const tooMany =
    due.missed > missedTimesMax
      ? [
          warning(
            'TooManyMissedTimes',
            'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
          ),
        ]
      : []
  return {
    ...plan,
    actions: [...plan.actions, ...tooMany, ...start.actions],
    ...(start.isDone
      ? { status: { ...start.status(plan.status), lastScheduleTime: formatTime(due.ms) } }
      : { isSaid: false }),
    ...(start.name === undefined ? {} : { starts: start.name }),
  }
}

/** What has become of the Jobs that were active, and which are now. Nothing is told of the end of those that go at once. */
function observe(
  { cronJob, jobs }: ObservedCronJob,
  excess: readonly Job[],
): { status: CronJobStatus; events: readonly Action[] } {
  const { status = {} } = cronJob
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const going = new Set(excess)
  const events: Action[] = (status.active ?? []).flatMap(({ uid, name }): readonly Action[] => {
    const job = byUid.get(uid)
    if (job === undefined) return [normal('MissingJob', `Active job went missing: ${name}`)]
    if (!isJobFinished(job) || going.has(job)) return []
    const condition = hasJobCondition(job.status, 'Complete') ? 'Complete' : 'Failed'
    return [normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${condition}`)]
  })
  const unfinished = jobs.filter((job) => !isJobFinished(job))
  const known = new Set((status.active ?? []).map(({ uid }) => uid))
  for (const { metadata } of unfinished) {
    if (known.has(metadata.uid)) continue
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`
    events.push(warning('UnexpectedJob', message))
  }
  const named = new Map((status.active ?? []).map((reference) => [reference.uid, reference]))
  const active = activeJobs(cronJob, jobs).map((job) => named.get(job.metadata.uid) ?? referenceTo(job))
  const successes = jobs.map(({ status: of }) => timeOf(of?.completionTime)).filter((ms) => ms !== undefined)
  const lastSuccess = Math.max(timeOf(status.lastSuccessfulTime) ?? Number.NEGATIVE_INFINITY, ...successes)
  const { active: _active, ...others } = status
  return {
    events,
    status: {
      ...others,
      ...(active.length === 0 ? {} : { active }),
      ...(Number.isFinite(lastSuccess) ? { lastSuccessfulTime: formatTime(lastSuccess) } : {}),
    },
  }
}

/**
 * The unfinished Jobs that the status names, or that were made for a time of the schedule and nobody got to say so. One that
 * somebody else made for the CronJob, as `kubectl create job --from` does, runs beside them.
 */
function activeJobs(cronJob: CronJob, jobs: readonly Job[]): readonly Job[] {
  const known = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid))
  return jobs.filter((job) => !isJobFinished(job) && (known.has(job.metadata.uid) || isOfSchedule(cronJob, job)))
}

/** A Job as the status names it: as it was when it got there. */
export const referenceTo = ({ metadata }: Job): ObjectReference => ({
  kind: 'Job',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  apiVersion: 'batch/v1',
  resourceVersion: metadata.resourceVersion,
})

interface Start {
  /** Whether the time is dealt with. */
  readonly isDone: boolean
  readonly actions: readonly Action[]
  readonly name?: string
  /** The status without the Jobs that give way. */
  status(status: CronJobStatus): CronJobStatus
}

/** Makes the Job of a time that has come, or not. */
function startAt({ cronJob, jobs }: ObservedCronJob, dueMs: Time, nowMs: Time): Start {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec
  const left = (isDone: boolean, ...actions: readonly Action[]): Start => ({ isDone, actions, status: (each) => each })
  if (startingDeadlineSeconds !== undefined && dueMs + Number(startingDeadlineSeconds) * 1000 < nowMs) {
    return left(false, warning('MissSchedule', `Missed scheduled time to start a job: ${formatTime(dueMs)}`))
  }
  const job = jobOf(cronJob, dueMs)
  const { name = '' } = job.metadata
  // It was made, and nobody got to say so.
  if (jobs.some(({ metadata }) => metadata.name === name)) return left(true)
  const active = activeJobs(cronJob, jobs)
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    return left(false, normal('JobAlreadyActive', message))
  }
  const create = createJob(job, `the time of ${formatTime(dueMs)} has come`)
  if (concurrencyPolicy !== 'Replace') return { ...left(true, create), name }
  const replaced = active.map((each) => deleteJob(each, 'a new Job takes its place', startChain))
  return { ...left(true, ...replaced, create), name, status: ({ active: _active, ...others }) => others }
}

/** A Job comes only when those are gone whose place it takes, but whichever others cannot be deleted. */
const startChain = 'start'

function createJob(job: Job, because: string): Action {
  return {
    type: 'create',
    chain: startChain,
    resource: jobResource,
    object: job,
    because,
    events: {
      succeeded: { reason: 'SuccessfulCreate', message: 'Created job {name}' },
      failed: { reason: 'FailedCreate', message: 'Error creating job: {error}', unless: 'AlreadyExists' },
    },
  }
}

function deleteJob({ metadata }: Job, because: string, chain: string): Action {
  const { namespace, name = '', uid } = metadata
  return {
    type: 'delete',
    chain,
    resource: jobResource,
    key: namespace === undefined ? { name } : { namespace, name },
    ...(uid === undefined ? {} : { uid }),
    propagationPolicy: 'Background',
    because,
    events: {
      succeeded: { reason: 'SuccessfulDelete', message: 'Deleted job {name}' },
      failed: { reason: 'FailedDelete', message: 'Deleted job: {error}' },
    },
  }
}

/** The oldest Jobs that are over, beyond those that are kept. */
function excessJobs({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const over = jobs.filter((job) => isJobFinished(job) && job.metadata.deletionTimestamp === undefined)
  const succeeded = over.filter(({ status }) => hasJobCondition(status, 'Complete'))
  const failed = over.filter(({ status }) => !hasJobCondition(status, 'Complete'))
  return [...oldest(succeeded, spec.successfulJobsHistoryLimit), ...oldest(failed, spec.failedJobsHistoryLimit)]
}

function oldest(jobs: readonly Job[], kept: number | undefined): readonly Job[] {
  if (kept === undefined || jobs.length <= kept) return []
  const startOf = ({ status }: Job) => timeOf(status?.startTime) ?? Number.POSITIVE_INFINITY
  const inOrder = jobs.toSorted(
    (a, b) => startOf(a) - startOf(b) || compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  )
  return inOrder.slice(0, jobs.length - kept)
}

const normal = (reason: string, message: string): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason,
  message,
  because: message,
})

const isWarning = (action: Action): boolean => action.type === 'event' && action.eventType === 'Warning'

const warning = (reason: string, message: string): Action => ({
  type: 'event',
  eventType: 'Warning',
  reason,
  message,
  because: message,
})

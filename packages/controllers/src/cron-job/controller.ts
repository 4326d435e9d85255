import {
  type CronJob,
  type CronJobStatus,
  cronJobs,
  deepEqual,
  hasReason,
  isJobFinished,
  type Job,
  jobs,
  resourceQuotas,
} from '@coracle/api'
import {
  type Controller,
  controller,
  isControlledBy,
  type Predicate,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import { failureOf } from '../failure-of.ts'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { type CronJobPlan, planCronJob, referenceTo } from './plan.ts'

/** Makes Jobs at the times of CronJobs, and deletes the oldest that are over. */
export function createCronJobController(): Controller {
  /** The schedules that were seen last, by the keys of their CronJobs. After a restart none has changed. */
  const schedules = new Map<string, string>()
  return controller('cronjob-controller', { component: 'cronjob-controller' })
    .for(cronJobs)
    .owns(jobs, { predicates: [changesHistory] })
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
    .reconcile(async ({ key, object: cronJob }, context) => {
      if (cronJob === undefined) {
        schedules.delete(key)
        return undefined
      }
      const schedule = scheduleText(cronJob)
      const isRescheduled = (schedules.get(key) ?? schedule) !== schedule
      const plan = planCronJob({ cronJob, jobs: context.owned<Job>(jobs), isRescheduled }, context.clock.now())
      const { actions, isSaid, requeueAfterMs } = plan
      // The next time comes also where the Job of the last cannot be made.
      const wait = requeueAfterMs === undefined ? {} : { requeueAfterMs }
      const failure = await failureOf(performPlan(context, cronJob, { actions, ...wait }))
      const isTaken = hasReason(failure?.error, 'AlreadyExists')
      await performPlan(context, cronJob, { actions: [], status: await statusOf(context, cronJob, plan) })
      if (failure !== undefined && !isTaken) throw failure.error
      schedules.set(key, schedule)
      const isSettled = isSaid && !isTaken && !isRescheduled
      return { ...wait, isSettled }
    })
}

const scheduleText = ({ spec, metadata }: CronJob): string =>
  JSON.stringify([metadata.uid, spec.timeZone, spec.schedule])

/** What is so once the plan is carried out as far as it could be: that a time is dealt with is only said once it is. */
async function statusOf(
  { client }: ReconcileContext<CronJob>,
  cronJob: CronJob,
  { status, starts, statusWithoutStart }: CronJobPlan,
): Promise<CronJobStatus> {
  if (starts === undefined) return status
  const { namespace = '' } = cronJob.metadata
  const find = (name: string) => found(client.get(jobs, { namespace, name }))
  const made = await find(starts)
  if (made !== undefined && isControlledBy(made, cronJob)) {
    return { ...status, active: [...(status.active ?? []), referenceTo(made)] }
  }
  // Where a Job of somebody else has the name, the time is theirs: nothing is said of it.
  const { active = [], ...others } = statusWithoutStart
  if (cronJob.spec.concurrencyPolicy !== 'Replace') return statusWithoutStart
  // Jobs that were to give way may have done so all the same.
  const present = await Promise.all(active.map(async ({ uid, name = '' }) => (await find(name))?.metadata.uid === uid))
  const left = active.filter((_, index) => present[index])
  return left.length === 0 ? others : { ...others, active: left }
}

/** The object that is read; undefined where there is none. */
async function found(read: Promise<Job>): Promise<Job | undefined> {
  try {
    return await read
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** How far a Job is matters to nobody here until it is over, goes, or has another owner. */
const changesHistory: Predicate<Job> = (change) => {
  if (change.type !== 'update' || isJobFinished(change.object)) return true
  const [before, after] = [change.old.metadata, change.object.metadata]
  return (
    before.deletionTimestamp !== after.deletionTimestamp || !deepEqual(before.ownerReferences, after.ownerReferences)
  )
}

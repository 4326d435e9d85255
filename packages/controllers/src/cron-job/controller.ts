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
import { type Controller, controller, isControlledBy, type Predicate, performPlan } from '@coracle/controller-runtime'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { planCronJob, referenceTo } from './plan.ts'

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
      const { actions, status, starts, isSaid, requeueAfterMs } = planCronJob(
        { cronJob, jobs: context.owned<Job>(jobs), isRescheduled },
        context.clock.now(),
      )
      let isTaken = false
      try {
        // The next time comes also where the Job of the last cannot be made.
        await performPlan(context, cronJob, { actions, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) })
      } catch (error) {
        if (!hasReason(error, 'AlreadyExists')) throw error
        isTaken = true
      }
      // That a time is dealt with is only said once it is.
      if (status !== undefined) {
        const { namespace = '' } = cronJob.metadata
        const made = starts === undefined ? undefined : await context.client.get(jobs, { namespace, name: starts })
        // Where a Job of somebody else has the name, the time is theirs: nothing is said of it.
        const isTheirs = isTaken && made !== undefined && !isControlledBy(made, cronJob)
        await performPlan(context, cronJob, { actions: [], status: statusWith(cronJob, status, made, isTheirs) })
      }
      schedules.set(key, schedule)
      const isSettled = isSaid && !isTaken && !isRescheduled
      return requeueAfterMs === undefined ? { isSettled } : { requeueAfterMs, isSettled }
    })
}

const scheduleText = ({ spec, metadata }: CronJob): string =>
  JSON.stringify([metadata.uid, spec.timeZone, spec.schedule])

function statusWith({ status: before }: CronJob, status: CronJobStatus, made: Job | undefined, isTheirs: boolean) {
  if (made === undefined) return status
  if (!isTheirs) return { ...status, active: [...(status.active ?? []), referenceTo(made)] }
  const { lastScheduleTime: _said, ...others } = status
  return before?.lastScheduleTime === undefined ? others : { ...others, lastScheduleTime: before.lastScheduleTime }
}

/** How far a Job is matters to nobody here until it is over, goes, or has another owner. */
const changesHistory: Predicate<Job> = (change) => {
  if (change.type !== 'update' || isJobFinished(change.object)) return true
  const [before, after] = [change.old.metadata, change.object.metadata]
  return (
    before.deletionTimestamp !== after.deletionTimestamp || !deepEqual(before.ownerReferences, after.ownerReferences)
  )
}

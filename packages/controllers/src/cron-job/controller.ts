import { cronJobs, deepEqual, hasReason, isJobFinished, type Job, jobs, resourceQuotas } from '@coracle/api'
import { type Controller, controller, type Predicate, performPlan } from '@coracle/controller-runtime'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { planCronJob, referenceTo } from './plan.ts'

/** Makes Jobs at the times of CronJobs, and deletes the oldest that are over. */
export function createCronJobController(): Controller {
  return controller('cronjob-controller', { component: 'cronjob-controller' })
    .for(cronJobs)
    .owns(jobs, { predicates: [changesHistory] })
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
    .reconcile(async ({ object: cronJob }, context) => {
      if (cronJob === undefined) return undefined
      const { actions, status, starts, requeueAfterMs } = planCronJob(
        { cronJob, jobs: context.owned<Job>(jobs) },
        context.clock.now(),
      )
      try {
        // The next time comes also where the Job of the last cannot be made.
        await performPlan(context, cronJob, { actions, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) })
      } catch (error) {
        // Somebody else has made a Job of that name: the time is dealt with.
        if (!hasReason(error, 'AlreadyExists')) throw error
      }
      // That a time is dealt with is only said once it is.
      if (status !== undefined) {
        const { namespace = '' } = cronJob.metadata
        const made =
          starts === undefined ? [] : [referenceTo(await context.client.get(jobs, { namespace, name: starts }))]
        const active = [...(status.active ?? []), ...made]
        const shown = active.length === 0 ? status : { ...status, active }
        await performPlan(context, cronJob, { actions: [], status: shown })
      }
      return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
    })
}

/** How far a Job is matters to nobody here until it is over, goes, or has another owner. */
const changesHistory: Predicate<Job> = (change) => {
  if (change.type !== 'update' || isJobFinished(change.object)) return true
  const [before, after] = [change.old.metadata, change.object.metadata]
  return (
    before.deletionTimestamp !== after.deletionTimestamp || !deepEqual(before.ownerReferences, after.ownerReferences)
  )
}

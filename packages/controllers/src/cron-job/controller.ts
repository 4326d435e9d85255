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
      await performPlan(context, cronJob, {
        actions: [],
        status: await statusOf(context, cronJob, plan, failure !== undefined),
      })
      if (failure !== undefined && !isTaken) throw failure.error
      schedules.set(key, schedule)
      const isSettled = isSaid && !isTaken && !isRescheduled
      return { ...wait, isSettled }
    })
}

const scheduleText = ({ spec, metadata }: CronJob): string =>
  JSON.stringify([metadata.uid, spec.timeZone, spec.schedule])

async function statusOf(
  { client, clock }: ReconcileContext<CronJob>,
  cronJob: CronJob,
  plan: CronJobPlan,
  hasFailed: boolean,
): Promise<CronJobStatus> {
  if (hasFailed) {
    const { statusAfterFailure } = await clock.hold(import('./status-after-failure.ts'))
    return statusAfterFailure(client, cronJob, plan)
  }
  const { status, starts } = plan
  if (starts === undefined) return status
  const made = await client.get(jobs, { namespace: cronJob.metadata.namespace ?? '', name: starts })
  return { ...status, active: [...(status.active ?? []), referenceTo(made)] }
}

/** How far a Job is matters to nobody here until it is over, goes, or has another owner. */
const changesHistory: Predicate<Job> = (change) => {
  if (change.type !== 'update' || isJobFinished(change.object)) return true
  const [before, after] = [change.old.metadata, change.object.metadata]
  return (
    before.deletionTimestamp !== after.deletionTimestamp || !deepEqual(before.ownerReferences, after.ownerReferences)
  )
}

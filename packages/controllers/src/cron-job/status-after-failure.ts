import { type CronJob, type CronJobStatus, hasReason, type Job, jobs } from '@coracle/api'
import type { Client } from '@coracle/client'
import { isControlledBy } from '@coracle/controller-runtime'
import { type CronJobPlan, referenceTo } from './plan.ts'

/** What is so where a plan could not be carried out, or not to its end: that a time is dealt with is only said once it is. */
export async function statusAfterFailure(
  client: Client,
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

import { isJobFinished, type Job, type JobStatus, jobs } from '@coracle/api'
import { getCondition, type Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

/** Deletes a Job, with its pods, so long after its end as it says. Pure. */
export function planFinishedJob(job: Job, nowMs: Time): Plan<JobStatus> {
  const { metadata, spec } = job
  const { ttlSecondsAfterFinished } = spec
  if (ttlSecondsAfterFinished === undefined || metadata.deletionTimestamp !== undefined || !isJobFinished(job)) {
    return { actions: [] }
  }
  const finishedMs = finishTime(job)
  if (finishedMs === undefined) return { actions: [] }
  const expiresMs = finishedMs + ttlSecondsAfterFinished * 1000
  if (expiresMs > nowMs) return { actions: [], requeueAfterMs: expiresMs - nowMs }
  const { namespace, name = '', uid } = metadata
  return {
    actions: [
      {
        type: 'delete',
        resource: jobs,
        key: namespace === undefined ? { name } : { namespace, name },
        ...(uid === undefined ? {} : { uid }),
        // Its pods go first.
        propagationPolicy: 'Foreground',
        because: `it ended more than ${ttlSecondsAfterFinished} s ago`,
      },
    ],
  }
}

function finishTime({ status }: Job): Time | undefined {
  const conditions = status?.conditions
  const over = [getCondition(conditions, 'Complete'), getCondition(conditions, 'Failed')]
  return timeOf(over.find((each) => each?.status === 'True')?.lastTransitionTime)
}

import { dependenciesOf, hasJobCondition, type Job } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'

/** Whether a Job may start, as far as the Jobs go that it names. */
export type Dependencies =
  | { readonly state: 'met' }
  /** `message` says for which Jobs, and how they are. */
  | { readonly state: 'waiting'; readonly message: string }
  /** `message` says which Job failed, and why. */
  | { readonly state: 'failed'; readonly message: string }

/** `find` gives a Job of the same namespace. */
export function judgeDependencies(job: Job, find: (name: string) => Job | undefined): Dependencies {
  const waiting: string[] = []
  for (const name of dependenciesOf(job)) {
    const other = find(name)
    if (hasJobCondition(other?.status, 'Failed')) {
      const { reason = '', message = '' } = getCondition(other?.status?.conditions, 'Failed') ?? {}
      return { state: 'failed', message: `Job ${name} failed: ${[reason, message].filter(Boolean).join(': ')}` }
    }
    if (!hasJobCondition(other?.status, 'Complete')) waiting.push(`${name} (${stateOf(other)})`)
  }
  if (waiting.length === 0) return { state: 'met' }
  return { state: 'waiting', message: `Waiting for Jobs to complete: ${waiting.join(', ')}` }
}

function stateOf(job: Job | undefined): string {
  if (job === undefined) return 'does not exist'
  if (job.metadata.deletionTimestamp !== undefined) return 'is being deleted'
  if (job.spec.suspend === true) return 'suspended'
  return job.status?.startTime === undefined ? 'not started' : 'running'
}

import type { Job, JobStatus } from './job-schema.ts'

/** Whether a condition of that type holds. */
export function hasJobCondition(status: JobStatus | undefined, type: string): boolean {
  // A loop: it is asked a hundred times in the life of a Job with one pod.
  for (const each of status?.conditions ?? []) if (each.type === type && each.status === 'True') return true
  return false
}

/** Whether a Job is over: nothing of it will run again. */
export function isJobFinished({ status }: Pick<Job, 'status'>): boolean {
  return hasJobCondition(status, 'Complete') || hasJobCondition(status, 'Failed')
}

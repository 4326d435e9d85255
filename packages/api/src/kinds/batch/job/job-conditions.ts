import type { Job, JobStatus } from './job-schema.ts'

/** Whether a condition of that type holds. */
export function hasJobCondition(status: JobStatus | undefined, type: string): boolean {
  return (status?.conditions ?? []).some((each) => each.type === type && each.status === 'True')
}

/** Whether a Job is over: nothing of it will run again. */
export function isJobFinished({ status }: Pick<Job, 'status'>): boolean {
  return hasJobCondition(status, 'Complete') || hasJobCondition(status, 'Failed')
}

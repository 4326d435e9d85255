/** The checks of the batch group, to be loaded with its first object: `batch-checks.ts`. */
export { validateCronJob, validateCronJobUpdate, validateNewCronJob } from './cron-job/cron-job-validation.ts'
export { validateJobStatusUpdate } from './job/job-status-validation.ts'
export { validateJob, validateJobUpdate } from './job/job-validation.ts'

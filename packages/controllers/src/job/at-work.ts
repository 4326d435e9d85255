import { isJobFinished, type Job } from '@coracle/api'

/** Who runs a Job that does not say who does. */
const ownName = 'kubernetes.io/job-controller'

/** Whether somebody else runs the pods of a Job. */
export const isManagedElsewhere = ({ spec }: Job): boolean => spec.managedBy !== undefined && spec.managedBy !== ownName

/** Whether a Job still makes, adopts and lets go of pods. */
export const isAtWork = (job: Job): boolean =>
  !isManagedElsewhere(job) && job.metadata.deletionTimestamp === undefined && !isJobFinished(job)

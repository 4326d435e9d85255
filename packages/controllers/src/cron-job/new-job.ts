import { type CronJob, formatTime, type Job } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** The time for which a Job was made. */
export const scheduledTimestampAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

/** The Job for a time of the schedule. Its name says which, so that it is made once. */
export function jobOf(cronJob: CronJob, scheduledMs: Time): Job {
  const { metadata, spec } = cronJob
  const { labels, annotations } = spec.jobTemplate.metadata ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${metadata.name}-${Math.floor(scheduledMs / 60_000)}`,
      namespace: metadata.namespace,
      labels,
      annotations: { ...annotations, [scheduledTimestampAnnotation]: formatTime(scheduledMs) },
      ownerReferences: [controllerRef(cronJob)],
    },
    spec: spec.jobTemplate.spec,
  }
}

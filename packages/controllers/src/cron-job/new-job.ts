import { type CronJob, formatTime, type Job } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

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
      name: nameOf(cronJob, scheduledMs),
      namespace: metadata.namespace,
      labels,
      annotations: { ...annotations, [scheduledTimestampAnnotation]: formatTime(scheduledMs) },
      ownerReferences: [controllerRef(cronJob)],
    },
    spec: spec.jobTemplate.spec,
  }
}

/** Whether a Job was made for a time of the schedule: it says for which, and is called after it. */
export function isOfSchedule(cronJob: CronJob, { metadata }: Job): boolean {
  const scheduledMs = timeOf(metadata.annotations?.[scheduledTimestampAnnotation])
  return scheduledMs !== undefined && metadata.name === nameOf(cronJob, scheduledMs)
}

const nameOf = ({ metadata }: CronJob, scheduledMs: Time): string =>
  `${metadata.name}-${Math.floor(scheduledMs / 60_000)}`

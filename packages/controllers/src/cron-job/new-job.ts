import { type CronJob, formatTime, type Job, parseTime, timeZone } from '@coracle/api'
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
      annotations: { ...annotations, [scheduledTimestampAnnotation]: localTimeText(scheduledMs, spec.timeZone) },
      ownerReferences: [controllerRef(cronJob)],
    },
    spec: spec.jobTemplate.spec,
  }
}

/** A time as the clocks of the schedule's zone show it: `2026-01-01T09:00:00+01:00`. Where they show UTC, it is as any other. */
function localTimeText(ms: Time, zoneName: string | undefined): string {
  const local = zoneName === undefined ? undefined : timeZone(zoneName)?.localTime(ms)
  if (local === undefined) return formatTime(ms)
  const { year, month, day, hour, minute } = local
  const shown = `${year}-${twoDigits(month)}-${twoDigits(day)}T${twoDigits(hour)}:${twoDigits(minute)}:00`
  const offset = Math.round((parseTime(`${shown}Z`) - ms) / 60_000)
  if (offset === 0) return formatTime(ms)
  const size = Math.abs(offset)
  return `${shown}${offset < 0 ? '-' : '+'}${twoDigits(Math.trunc(size / 60))}:${twoDigits(size % 60)}`
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** Whether a Job was made for a time of the schedule: it says for which, and is called after it. */
export function isOfSchedule(cronJob: CronJob, { metadata }: Job): boolean {
  const scheduledMs = timeOf(metadata.annotations?.[scheduledTimestampAnnotation])
  return scheduledMs !== undefined && metadata.name === nameOf(cronJob, scheduledMs)
}

const nameOf = ({ metadata }: CronJob, scheduledMs: Time): string =>
  `${metadata.name}-${Math.floor(scheduledMs / 60_000)}`

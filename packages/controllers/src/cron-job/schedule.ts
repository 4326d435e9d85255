import { CronError, type CronJob, type CronSchedule, parseCron, timeZone, utc } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

/** More missed times than these are told about: somebody's clock may be wrong. */
export const missedTimesMax = 100

/** Why there is no schedule, as an event says it. */
export interface ScheduleProblem {
  readonly reason: 'UnknownTimeZone' | 'UnparseableSchedule'
  readonly message: string
}

/** Schedules by the spec they stand in, which stays the same object as long as nobody changes it. */
const schedules = new WeakMap<CronJob['spec'], CronSchedule | ScheduleProblem>()

/** The schedule of a CronJob in its zone, which is UTC unless it says otherwise. */
export function scheduleOf({ spec }: CronJob): CronSchedule | ScheduleProblem {
  const before = schedules.get(spec)
  if (before !== undefined) return before
  const schedule = readSchedule(spec)
  schedules.set(spec, schedule)
  return schedule
}

function readSchedule(spec: CronJob['spec']): CronSchedule | ScheduleProblem {
  const zone = spec.timeZone === undefined ? utc : timeZone(spec.timeZone)
  if (zone === undefined) {
    const shown = JSON.stringify(spec.timeZone)
    return { reason: 'UnknownTimeZone', message: `invalid timeZone: ${shown}: unknown time zone ${spec.timeZone}` }
  }
  try {
    return parseCron(spec.schedule, zone)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const message = `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${error.message}`
    return { reason: 'UnparseableSchedule', message }
  }
}

/** The last time that has come since a Job was last made, and how many have. Undefined where none has. */
export interface DueTime {
  readonly ms: Time
  readonly missed: number
}

/**
 * What is due of a schedule. What is too late by `startingDeadlineSeconds` does not count as missed. Where several times were missed
 * that are no even distance apart, as those of working hours, and none was near the last multiple of the first distance, nothing is
 * due: all are taken to be too long ago (upstream's mostRecentScheduleTime).
 */
export function dueTime(cronJob: CronJob, schedule: CronSchedule, nowMs: Time): DueTime | undefined {
  const { metadata, spec, status } = cronJob
  const sinceMs = timeOf(status?.lastScheduleTime) ?? timeOf(metadata.creationTimestamp) ?? nowMs
  const deadlineMs = Number(spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000
  const first = schedule.next(Math.max(sinceMs, nowMs - deadlineMs))
  if (first === undefined || first > nowMs) return undefined
  const second = schedule.next(first)
  if (second === undefined || second > nowMs) return { ms: first, missed: 1 }
  // After a long time without a look, those in between need not be gone through one by one.
  const interval = second - first
  const missed = Math.floor((nowMs - first) / interval) + 1
  let last: Time | undefined
  for (
    let ms = schedule.next(first + (missed - 2) * interval);
    ms !== undefined && ms <= nowMs;
    ms = schedule.next(ms)
  ) {
    last = ms
  }
  return last === undefined ? undefined : { ms: last, missed }
}

import { type CronJob, type CronSchedule, formatTime, parseTime } from '@coracle/api'
import { expect, it } from 'vitest'
import { dueTime, scheduleOf } from './schedule.ts'

const workingHours = '30 6-16/4 * * 1-5'
const lateMorning = '30 10,11,12 * * 1-5'

/** The time that is due, and how many were missed. The CronJob was made on a Thursday at 10:00. */
function due(schedule: string, last: string | undefined, now: string, startingDeadlineSeconds?: number): unknown {
  const cronJob = {
    metadata: { creationTimestamp: '2016-05-19T10:00:00Z' },
    spec: { schedule, ...(startingDeadlineSeconds === undefined ? {} : { startingDeadlineSeconds }) },
    status: last === undefined ? {} : { lastScheduleTime: last },
  } as CronJob
  const found = dueTime(cronJob, scheduleOf(cronJob) as CronSchedule, parseTime(now))
  return found && [formatTime(found.ms).slice(0, 16), found.missed]
}

it.each<[string, string, string | undefined, string, readonly [string, number] | undefined]>([
  ['none before the first', '0 * * * *', undefined, '2016-05-19T10:00:30Z', undefined],
  ['the first', '0 * * * *', undefined, '2016-05-19T11:01:00Z', ['2016-05-19T11:00', 1]],
  ['none before the next', '0 * * * *', '2016-05-19T11:00:00Z', '2016-05-19T11:59:59Z', undefined],
  ['the next', '0 * * * *', '2016-05-19T11:00:00Z', '2016-05-19T12:00:00Z', ['2016-05-19T12:00', 1]],
  ['the last of several', '0 * * * *', '2016-05-19T10:00:10Z', '2016-05-19T15:00:00Z', ['2016-05-19T15:00', 5]],
  ['the last since a creation', workingHours, undefined, '2016-05-20T10:31:00Z', ['2016-05-20T10:30', 7]],
  ['the last of a day later', workingHours, '2016-05-19T10:30:00Z', '2016-05-20T10:31:00Z', ['2016-05-20T10:30', 2]],
  ['the last after a weekend', workingHours, '2016-05-19T10:30:00Z', '2016-05-23T10:31:00Z', ['2016-05-23T10:30', 6]],
  ['none long after the last of a day', lateMorning, '2016-05-19T10:30:00Z', '2016-05-20T16:30:00Z', undefined],
  ['none before the first of a week', lateMorning, '2016-05-20T10:30:00Z', '2016-05-23T09:00:00Z', undefined],
  ['the first of a week', lateMorning, '2016-05-20T10:30:00Z', '2016-05-23T10:30:00Z', ['2016-05-23T10:30', 72]],
  ['none of a day that never comes', '59 23 31 2 *', undefined, '2016-05-23T10:30:00Z', undefined],
])('of a schedule %s is due', (_, schedule, last, now, wanted) => {
  expect(due(schedule, last, now)).toEqual(wanted)
})

it.each<[number, string, readonly [string, number] | undefined]>([
  [3600, '2016-05-19T16:30:00Z', ['2016-05-19T16:00', 1]],
  [7200, '2016-05-19T16:30:00Z', ['2016-05-19T16:00', 2]],
  [60, '2016-05-19T16:30:00Z', undefined],
])('counts what was missed no more than %i s ago', (deadline, now, wanted) => {
  expect(due('0 * * * *', '2016-05-19T11:00:00Z', now, deadline)).toEqual(wanted)
})

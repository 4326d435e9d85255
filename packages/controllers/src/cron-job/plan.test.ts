import { type CronJob, type CronJobSpec, type CronJobStatus, formatTime, type Job, parseTime } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { type CronJobPlan, type ObservedCronJob, planCronJob, referenceTo } from './plan.ts'
import { scheduleOf } from './schedule.ts'

const created = '2026-01-01T00:00:30Z'

function cronJob(spec: Partial<CronJobSpec> = {}, status: CronJobStatus = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'tick', namespace: 'default', uid: 'c1', creationTimestamp: created },
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: { metadata: { labels: { app: 'a' } }, spec: { parallelism: 2 } },
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      concurrencyPolicy: 'Allow',
      ...spec,
    } as CronJobSpec,
    status,
  }
}

const nameAt = (time: string) => `tick-${parseTime(time) / 60_000}`

function job(startTime: string, end?: 'Complete' | 'Failed', completionTime?: string): Job {
  const conditions = end === undefined ? [] : [{ type: end, status: 'True' }]
  const name = nameAt(startTime)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': startTime },
    },
    spec: {},
    status: { startTime, conditions, ...(completionTime === undefined ? {} : { completionTime }) },
  } as unknown as Job
}

function summary(action: Action): string {
  if (action.type === 'create') return `create ${action.object.metadata.name}`
  if (action.type === 'delete') return `delete ${action.key.name}`
  return action.type === 'event' ? `${action.eventType} ${action.reason}` : action.type
}

function planAt(now: string, of: CronJob, jobs: readonly Job[] = []) {
  const plan = planCronJob({ cronJob: of, jobs }, parseTime(now))
  if (plan.isSaid) {
    // Looked at again with what it has come to, there is nothing more to do or to tell.
    const { actions, requeueAfterMs } = planCronJob(carriedOut(of, jobs, plan), parseTime(now))
    expect({ actions, requeueAfterMs }).toEqual({ actions: [], requeueAfterMs: plan.requeueAfterMs })
  }
  return plan
}

/** What there is once a plan is carried out. */
function carriedOut(of: CronJob, jobs: readonly Job[], { actions, status }: CronJobPlan): ObservedCronJob {
  const made = actions.flatMap((action) => (action.type === 'create' ? [action.object as Job] : []))
  const created = made.map((each) => ({ ...each, metadata: { ...each.metadata, uid: each.metadata.name } }))
  const deleted = new Set(actions.flatMap((action) => (action.type === 'delete' ? [action.key.name] : [])))
  const left = jobs.filter(({ metadata }) => !deleted.has(metadata.name ?? ''))
  const active = [...(status?.active ?? []), ...created.map(referenceTo)]
  return {
    cronJob: { ...of, status: { ...status, ...(active.length === 0 ? {} : { active }) } },
    jobs: [...left, ...created],
  }
}

const actionsAt = (now: string, of: CronJob, jobs: readonly Job[] = []) => planAt(now, of, jobs).actions.map(summary)

const five = '2026-01-01T00:05:00Z'
const ten = '2026-01-01T00:10:00Z'

describe('the times of a cron job', () => {
  it('are waited for', () => {
    const plan = planAt('2026-01-01T00:04:00Z', cronJob())
    expect([plan.actions, plan.requeueAfterMs]).toEqual([[], 60_000])
  })

  it('bring a job that is called after them', () => {
    const plan = planAt(five, cronJob())
    expect(plan.actions.map(summary)).toEqual([`create ${nameAt(five)}`])
    expect(plan.starts).toBe(nameAt(five))
    expect(plan.status?.lastScheduleTime).toBe(five)
    expect(plan.requeueAfterMs).toBe(300_000)
    const [action] = plan.actions
    expect(action?.type === 'create' ? action.object : undefined).toMatchObject({
      metadata: {
        labels: { app: 'a' },
        annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': five },
        ownerReferences: [{ kind: 'CronJob', name: 'tick', uid: 'c1', controller: true }],
      },
      spec: { parallelism: 2 },
    })
  })

  it.each([
    ['Europe/Berlin', '2026-01-01T01:05:00+01:00'],
    ['America/St_Johns', '2025-12-31T20:35:00-03:30'],
    ['Europe/London', five],
  ])('are noted on it as clocks in %s show them', (timeZone, shown) => {
    const [action] = planAt(five, cronJob({ timeZone })).actions
    const made = action?.type === 'create' ? action.object.metadata : undefined
    expect(made?.annotations).toEqual({ 'batch.kubernetes.io/cronjob-scheduled-timestamp': shown })
    expect(made?.name).toBe(nameAt(five))
  })

  it('bring it once', () => {
    expect(actionsAt('2026-01-01T00:05:10Z', cronJob({}, { lastScheduleTime: five }))).toEqual([])
    // The job was made, and nobody got to say so.
    const plan = planAt('2026-01-01T00:05:10Z', cronJob(), [job(five)])
    expect([plan.actions.map(summary), plan.status?.lastScheduleTime]).toEqual([['Warning UnexpectedJob'], five])
  })

  it('are made up for by the last of them', () => {
    expect(actionsAt('2026-01-01T01:02:00Z', cronJob())).toEqual([`create ${nameAt('2026-01-01T01:00:00Z')}`])
  })

  it('are told about when too many were missed', () => {
    const lastScheduleTime = '2026-01-01T00:00:00Z'
    expect(actionsAt('2026-01-02T00:00:00Z', cronJob({}, { lastScheduleTime }))).toEqual([
      'Warning TooManyMissedTimes',
      `create ${nameAt('2026-01-02T00:00:00Z')}`,
    ])
    expect(planAt('2026-01-02T00:00:00Z', cronJob({}, { lastScheduleTime })).actions[0]).toMatchObject({
      message: 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    })
    const [hundredth, next] = ['2026-01-01T08:20:00Z', '2026-01-01T08:25:00Z']
    expect(actionsAt(hundredth, cronJob({}, { lastScheduleTime }))).toEqual([`create ${nameAt(hundredth)}`])
    expect(actionsAt(next, cronJob({}, { lastScheduleTime }))).toEqual([
      'Warning TooManyMissedTimes',
      `create ${nameAt(next)}`,
    ])
  })

  it('are given up after the deadline', () => {
    const strict = cronJob({ startingDeadlineSeconds: 60 })
    expect(actionsAt('2026-01-01T00:05:59Z', strict)).toEqual([`create ${nameAt(five)}`])
    expect(actionsAt('2026-01-01T00:07:00Z', strict)).toEqual([])
  })

  it.each<readonly [string, CronJob]>([
    ['is suspended', cronJob({ suspend: true })],
    ['is being deleted', { ...cronJob(), metadata: { ...cronJob().metadata, deletionTimestamp: five } }],
  ])('pass while it %s', (_, of) => {
    const plan = planAt(ten, of)
    expect([plan.actions, plan.requeueAfterMs]).toEqual([[], undefined])
  })

  it.each<readonly [Partial<CronJobSpec>, string, string]>([
    [
      { timeZone: 'Mars/Olympus' },
      'UnknownTimeZone',
      'invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus',
    ],
    [
      { schedule: 'never' },
      'UnparseableSchedule',
      'unparseable schedule: "never" : expected exactly 5 fields, found 1: [never]',
    ],
    [
      { schedule: '0 0 31 2 *' },
      'InvalidSchedule',
      'invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ],
  ])('are none of %j', (spec, reason, message) => {
    expect(planAt(ten, cronJob(spec)).actions).toMatchObject([{ type: 'event', eventType: 'Warning', reason, message }])
  })

  it('are of an unknown zone while it is suspended too', () => {
    const of = cronJob({ suspend: true, timeZone: 'Mars/Olympus' })
    expect(actionsAt(ten, of)).toEqual(['Warning UnknownTimeZone'])
    expect(actionsAt(ten, cronJob({ suspend: true, schedule: 'never' }))).toEqual([])
  })

  it('are read from a schedule once, as long as nobody changes it', () => {
    const cronJob = { spec: { schedule: '*/5 * * * *' } } as CronJob
    expect(scheduleOf({ ...cronJob, status: {} })).toBe(scheduleOf(cronJob))
    expect(scheduleOf({ ...cronJob, spec: { ...cronJob.spec } })).not.toBe(scheduleOf(cronJob))
  })

  it('are those that come when the schedule has just been changed, none that are past', () => {
    const { actions, requeueAfterMs, status } = planCronJob(
      { cronJob: cronJob(), jobs: [], isRescheduled: true },
      parseTime('2026-01-01T00:06:00Z'),
    )
    expect([actions, requeueAfterMs, status]).toEqual([[], 240_000, {}])
  })

  it('are those of its zone', () => {
    const daily = cronJob({ schedule: '0 9 * * *', timeZone: 'Europe/Berlin' })
    expect(planAt('2026-01-01T07:59:00Z', daily).requeueAfterMs).toBe(60_000)
  })
})

describe('a job that still runs', () => {
  it.each<readonly [CronJobSpec['concurrencyPolicy'], readonly string[], string | undefined]>([
    ['Allow', [`create ${nameAt(ten)}`], ten],
    ['Forbid', ['Normal JobAlreadyActive'], five],
    ['Replace', [`delete ${nameAt(five)}`, `create ${nameAt(ten)}`], ten],
  ])('meets its successor with %s', (concurrencyPolicy, expected, last) => {
    const active = [referenceTo(job(five))]
    const plan = planAt(ten, cronJob({ concurrencyPolicy }, { lastScheduleTime: five, active }), [job(five)])
    expect(plan.actions.map(summary)).toEqual(expected)
    expect(plan.status?.lastScheduleTime).toBe(last)
    expect(plan.status?.active).toEqual(concurrencyPolicy === 'Replace' ? undefined : active)
  })

  it.each<readonly [CronJobSpec['concurrencyPolicy'], readonly string[]]>([
    ['Allow', [`create ${nameAt(ten)}`]],
    ['Forbid', [`create ${nameAt(ten)}`]],
    ['Replace', [`create ${nameAt(ten)}`]],
  ])('is not in the way with %s, nor in the status, where somebody made it by hand', (concurrencyPolicy, expected) => {
    const annotations = { 'cronjob.kubernetes.io/instantiate': 'manual' }
    const manual = { ...job(five), metadata: { name: 'by-hand', namespace: 'default', uid: 'by-hand', annotations } }
    const plan = planAt(ten, cronJob({ concurrencyPolicy }, { lastScheduleTime: five }), [manual])
    expect(plan.actions.map(summary)).toEqual(['Warning UnexpectedJob', ...expected])
    expect(plan.status?.active).toBeUndefined()
  })

  it('is in the way, though it is not of the schedule, where the status names it', () => {
    const manual = { ...job(five), metadata: { name: 'by-hand', namespace: 'default', uid: 'by-hand' } }
    const status = { lastScheduleTime: five, active: [referenceTo(manual)] }
    const plan = planAt(ten, cronJob({ concurrencyPolicy: 'Forbid' }, status), [manual])
    expect(plan.actions.map(summary)).toEqual(['Normal JobAlreadyActive'])
    expect(plan.status?.active).toEqual(status.active)
  })

  it('is deleted with its pods, and no other of its name, when another takes its place', () => {
    const plan = planAt(ten, cronJob({ concurrencyPolicy: 'Replace' }), [job(five)])
    expect(plan.actions.find(({ type }) => type === 'delete')).toMatchObject({
      key: { namespace: 'default', name: nameAt(five) },
      uid: nameAt(five),
      propagationPolicy: 'Background',
    })
  })

  it('is in the status until it is over, or gone', () => {
    const now = '2026-01-01T00:06:00Z'
    const first = planAt(now, cronJob({}, { lastScheduleTime: five }), [job(five)])
    const running = first.status
    expect(first.actions).toMatchObject([
      {
        eventType: 'Warning',
        reason: 'UnexpectedJob',
        message: `Saw a job that the controller did not create or forgot: ${nameAt(five)}`,
      },
    ])
    expect(running?.active).toMatchObject([{ kind: 'Job', name: nameAt(five), uid: nameAt(five) }])
    const of = cronJob({}, { ...running, active: running?.active })
    const over = planAt(now, of, [job(five, 'Complete', now)])
    expect(over.actions).toMatchObject([
      { reason: 'SawCompletedJob', message: `Saw completed job: ${nameAt(five)}, condition: Complete` },
    ])
    expect(over.status).toEqual({ lastScheduleTime: five, lastSuccessfulTime: now })
    const failed = planAt(now, of, [job(five, 'Failed')])
    expect(failed.actions).toMatchObject([
      { reason: 'SawCompletedJob', message: `Saw completed job: ${nameAt(five)}, condition: Failed` },
    ])
    expect(failed.status).toEqual({ lastScheduleTime: five })
    expect(planAt(now, of).actions).toMatchObject([
      { eventType: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${nameAt(five)}` },
    ])
  })
})

it('names a job that runs as it was when that was first said', () => {
  const versioned = (resourceVersion: string) => ({
    ...job(five),
    metadata: { ...job(five).metadata, resourceVersion },
  })
  const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: nameAt(five), uid: nameAt(five) }
  const first = planAt('2026-01-01T00:06:00Z', cronJob({}, { lastScheduleTime: five }), [versioned('7')])
  expect(first.status?.active).toEqual([{ ...reference, resourceVersion: '7' }])
  const later = planAt('2026-01-01T00:07:00Z', cronJob({}, first.status), [versioned('9')])
  expect(later.status?.active).toEqual([{ ...reference, resourceVersion: '7' }])
})

it('notes the latest success of any of its jobs, and never goes back', () => {
  const jobs = [job(five, 'Complete', ten), job(ten), job('2026-01-01T00:00:00Z', 'Failed')]
  const successOf = (status: CronJobStatus, of = jobs) =>
    planAt('2026-01-01T00:11:00Z', cronJob({}, { lastScheduleTime: ten, ...status }), of).status?.lastSuccessfulTime
  expect(successOf({})).toBe(ten)
  expect(successOf({ lastSuccessfulTime: five })).toBe(ten)
  expect(successOf({ lastSuccessfulTime: '2026-01-01T00:10:30Z' })).toBe('2026-01-01T00:10:30Z')
  expect(successOf({}, [job(ten)])).toBeUndefined()
})

it('begins without a status', () => {
  const { status: _, ...created } = cronJob()
  expect(actionsAt(five, created, [job('2026-01-01T00:01:00Z')])).toEqual([
    'Warning UnexpectedJob',
    `create ${nameAt(five)}`,
  ])
})

it('keeps as many jobs that are over as it says, the latest', () => {
  const times = Array.from({ length: 5 }, (_, index) => formatTime(parseTime(five) + index * 60_000))
  const over = [
    ...times.map((time) => job(time, 'Complete', time)),
    ...times.slice(0, 2).map((time) => ({ ...job(time, 'Failed'), metadata: { name: `failed-${time}` } })),
  ]
  const of = cronJob({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }, { lastScheduleTime: ten })
  expect(actionsAt('2026-01-01T00:11:00Z', of, over)).toEqual([
    ...times.slice(0, 3).map((time) => `delete ${nameAt(time)}`),
    `delete failed-${times[0]}`,
  ])
})

it('says nothing of the end of a job that it does not keep, but of its success, also on its way out', () => {
  const status = { lastScheduleTime: five, active: [referenceTo(job(five))] }
  const of = cronJob({ successfulJobsHistoryLimit: 0 }, status)
  const leaving = { ...of, metadata: { ...of.metadata, deletionTimestamp: ten } }
  for (const each of [of, leaving]) {
    const plan = planAt('2026-01-01T00:06:00Z', each, [job(five, 'Complete', five)])
    expect(plan.actions.map(summary)).toEqual([`delete ${nameAt(five)}`])
    expect(plan.status).toEqual({ lastScheduleTime: five, lastSuccessfulTime: five })
  }
})

it('takes jobs that never started for the latest, by their names', () => {
  const unstarted = ['c', 'a', 'b'].map((name) => {
    const { startTime: _, ...status } = job(five, 'Failed').status ?? {}
    return { ...job(five, 'Failed'), metadata: { name }, status }
  })
  const of = cronJob({ failedJobsHistoryLimit: 2 }, { lastScheduleTime: ten })
  const jobs = [...unstarted, { ...job(ten, 'Failed'), metadata: { name: 'started' } }]
  expect(actionsAt('2026-01-01T00:11:00Z', of, jobs)).toEqual(['delete started', 'delete a'])
})

describe('an hourly job, by upstream’s cases', () => {
  const at = (time: string) => `2026-01-01T${time}:00Z`
  const nextWeek = '2026-01-08T10:00:00Z'
  const [seconds, hours, days] = [10, 2 * 3600, 1_000_000]
  const make = `create ${nameAt(at('10:00'))}`
  const makeNextWeek = `create ${nameAt(nextWeek)}`
  const missed = 'Warning TooManyMissedTimes'
  const before = job(at('09:00'), 'Complete', at('09:01'))
  const running = job(at('09:00'))
  const plan = (spec: Partial<CronJobSpec>, now: string, last?: Job) => {
    const isRunning = last === running
    const history = last === undefined ? {} : { lastScheduleTime: at('09:01') }
    const of = cronJob(
      { schedule: '0 * * * *', ...spec },
      { ...history, ...(isRunning ? { active: [referenceTo(running)] } : {}) },
    )
    const creationTimestamp = last === undefined ? at('09:59') : at('08:59')
    const metadata = { ...of.metadata, creationTimestamp }
    const { actions } = planAt(now, { ...of, metadata }, last === undefined ? [] : [last])
    // What became of the job before is another matter.
    return actions.map(summary).filter((each) => each !== 'Normal SawCompletedJob')
  }

  it.each<readonly [string, Partial<CronJobSpec>, string, Job | undefined, readonly string[]]>([
    ['never ran, and it is not time', {}, at('09:59'), undefined, []],
    ['never ran, and it is time', {}, at('10:01'), undefined, [make]],
    ['never ran, and is suspended', { suspend: true }, at('10:01'), undefined, []],
    ['never ran, and the deadline is over', { startingDeadlineSeconds: seconds }, at('10:01'), undefined, []],
    ['never ran, and the deadline is not over', { startingDeadlineSeconds: days }, at('10:01'), undefined, [make]],
    ['ran before, and it is not time', {}, at('09:59'), before, []],
    ['ran before, and it is time', {}, at('10:01'), before, [make]],
    ['ran before, and is suspended', { suspend: true }, at('10:01'), before, []],
    ['ran before, and the deadline is over', { startingDeadlineSeconds: seconds }, at('10:01'), before, []],
    ['ran before, and the deadline is not over', { startingDeadlineSeconds: days }, at('10:01'), before, [make]],
    ['still runs, and it is not time', {}, at('09:59'), running, []],
    ['still runs, and is suspended', { suspend: true }, at('10:01'), running, []],
    ['still runs, and the deadline is over', { startingDeadlineSeconds: seconds }, at('10:01'), running, []],
    ['still runs, and the deadline is not over', { startingDeadlineSeconds: days }, at('10:01'), running, [make]],
    ['has missed a week', {}, nextWeek, before, [missed, makeNextWeek]],
    [
      'has missed a week of a longer deadline',
      { startingDeadlineSeconds: days },
      nextWeek,
      before,
      [missed, makeNextWeek],
    ],
    [
      'has missed a week, most of it beyond the deadline',
      { startingDeadlineSeconds: hours },
      nextWeek,
      before,
      [makeNextWeek],
    ],
    [
      'has missed a week, all of it beyond the deadline',
      { startingDeadlineSeconds: seconds },
      nextWeek,
      before,
      [makeNextWeek],
    ],
  ])('%s', (_, spec, now, last, wanted) => {
    for (const concurrencyPolicy of ['Allow', 'Forbid', 'Replace'] as const) {
      const isInTheWay = last === running && wanted.length > 0
      const met = {
        Allow: wanted,
        Forbid: ['Normal JobAlreadyActive'],
        Replace: [`delete ${nameAt(at('09:00'))}`, ...wanted],
      }
      expect(plan({ ...spec, concurrencyPolicy }, now, last)).toEqual(isInTheWay ? met[concurrencyPolicy] : wanted)
    }
  })
})

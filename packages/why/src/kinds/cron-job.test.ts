import { jobs, type Resource } from '@coracle/api'
import { expect, it } from 'vitest'
import { findingsOf } from '../explanation.ts'
import { condition, examined, object } from '../testing/examined.ts'

const cronJob = object('batch/v1', 'CronJob', {
  metadata: { uid: 'c' },
  spec: { schedule: '* * * * *', concurrencyPolicy: 'Forbid', jobTemplate: {} },
  status: { active: [{ kind: 'Job', name: 'web-1', uid: 'j' }], lastScheduleTime: '2026-01-01T00:00:00Z' },
})
const events = [{ reason: 'JobAlreadyActive', type: 'Normal', message: '', lastTimestamp: '2026-01-01T00:00:50Z' }]
const job = (conditions: readonly object[]) =>
  object('batch/v1', 'Job', {
    metadata: {
      name: 'web-1',
      uid: 'j',
      ownerReferences: [{ kind: 'CronJob', name: 'web', uid: 'c', controller: true }],
    },
    status: { conditions },
  })

it.each([
  ['runs', [], true],
  ['is over, which its status does not have yet', [condition('Complete', 'True')], false],
  ['has failed, which its status does not have yet', [condition('Failed', 'True')], false],
])('a CronJob starts none beside a Job that %s', (_, conditions, isHeldUp) => {
  const known = new Map([[jobs as Resource, [job(conditions)]]])
  const reasons = findingsOf(examined(cronJob, { known, events })).map(({ reason }) => reason)
  expect(reasons.includes('JobAlreadyActive')).toBe(isHeldUp)
})

it.each([
  ['0 0 31 2 *', ['NeverDue']],
  ['0 0 29 2 *', ['NotDueYet']],
  ['0 0 31 2', []],
])('a CronJob is explained whose schedule is %s', (schedule, reasons) => {
  const due = object('batch/v1', 'CronJob', { spec: { schedule, jobTemplate: {} }, status: {} })
  expect(findingsOf(examined(due)).map(({ reason }) => reason)).toEqual(reasons)
})

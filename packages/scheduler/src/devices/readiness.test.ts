import { parseTime, type ResourceClaim } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { isPastHope, type Readiness, readinessOf } from './readiness.ts'

const allocationTimestamp = '2026-01-01T00:00:00Z'
const allocatedMs = parseTime(allocationTimestamp)
const name = { driver: 'd', pool: 'p', device: 'gpu' }
const waiting = {
  ...name,
  request: 'r',
  bindingConditions: ['Attached', 'Formatted'],
  bindingFailureConditions: ['Broken', 'Lost'],
}

/** What a driver says of a device: types that are true, and with `!` those that are false. */
const told = (conditions: string, of: object = name) => ({
  ...of,
  conditions: conditions.split(' ').map((each) => ({
    type: each.replace('!', ''),
    status: each.startsWith('!') ? 'False' : 'True',
    reason: 'Told',
    message: 'so "it" is',
  })),
})

const claim = (status?: object): ResourceClaim =>
  ({ metadata: { name: 'c', namespace: 'default' }, spec: {}, status }) as unknown as ResourceClaim
const allocated = (results: readonly object[], devices: readonly object[] = []) =>
  claim({ allocation: { allocationTimestamp, devices: { results } }, devices })
const failed = (reason = 'Told') => ({
  failure: `device binding failed: claim=c, reason=${reason}, message="so \\"it\\" is"`,
})

describe('the devices of a claim', () => {
  it.each<[string, ResourceClaim, Readiness]>([
    ['are yet to be found', claim(), 'pending'],
    ['have been taken back', claim({ devices: [told('Attached Formatted')] }), 'pending'],
    ['are none', allocated([]), 'ready'],
    ['are none that anybody lists', claim({ allocation: {} }), 'ready'],
    ['wait for nothing', allocated([{ ...name, request: 'r' }]), 'ready'],
    [
      'wait for nothing, so that nothing can fail',
      allocated([{ ...waiting, bindingConditions: [] }], [told('Broken')]),
      'ready',
    ],
    ['are such that nobody has told of them', allocated([waiting]), 'pending'],
    ['are such that nothing is told of them', allocated([waiting], [name]), 'pending'],
    ['are half ready', allocated([waiting], [told('Attached !Formatted')]), 'pending'],
    ['are ready', allocated([waiting], [told('Other Formatted Attached !Broken')]), 'ready'],
    [
      'are ready where nothing can fail',
      allocated([{ ...waiting, bindingFailureConditions: undefined }], [told('Attached Formatted')]),
      'ready',
    ],
    ['have failed in one way', allocated([waiting], [told('Broken')]), failed()],
    ['have failed in another', allocated([waiting], [told('Attached Formatted !Broken Lost')]), failed()],
    [
      'are told of as those of another driver',
      allocated([waiting], [told('Attached Formatted', { ...name, driver: 'e' })]),
      'pending',
    ],
    [
      'are told of as those of another pool',
      allocated([waiting], [told('Attached Formatted', { ...name, pool: 'q' })]),
      'pending',
    ],
    [
      'are told of as others',
      allocated([waiting], [told('Attached Formatted', { ...name, device: 'nic' })]),
      'pending',
    ],
    [
      'are ready but for one',
      allocated(
        [waiting, { ...waiting, device: 'nic' }],
        [told('Attached Formatted'), told('Attached', { ...name, device: 'nic' })],
      ),
      'pending',
    ],
    [
      'are ready, each of them',
      allocated(
        [{ ...name, request: 's', device: 'plain' }, waiting, { ...waiting, device: 'nic' }],
        [told('Attached Formatted'), told('Attached Formatted', { ...name, device: 'nic' })],
      ),
      'ready',
    ],
  ])('%s', (_what, of, readiness) => {
    expect(readinessOf(of)).toEqual(readiness)
  })
})

describe('waiting for the devices of a claim', () => {
  const minutes = (count: number) => allocatedMs + count * 60_000

  it.each<[string, ResourceClaim, number, boolean]>([
    ['has sense for ten minutes', allocated([waiting]), minutes(10), false],
    ['has none after that', allocated([waiting]), minutes(10) + 1, true],
    ['has none where one has failed', allocated([waiting], [told('Broken')]), minutes(0), true],
    ['is over where they are ready', allocated([waiting], [told('Attached Formatted')]), minutes(20), false],
    ['has sense where they are yet to be found', claim(), minutes(20), false],
    [
      'has sense where nobody knows since when',
      claim({ allocation: { devices: { results: [waiting] } } }),
      minutes(20),
      false,
    ],
  ])('%s', (_what, of, nowMs, isInVain) => {
    expect(isPastHope(of, nowMs)).toBe(isInVain)
  })
})

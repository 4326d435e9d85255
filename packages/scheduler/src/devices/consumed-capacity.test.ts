import type { CapacityRequestPolicy, Device } from '@coracle/api'
import { expect, it } from 'vitest'
import { consumedCapacity } from './consumed-capacity.ts'

/** A device with 100 of `memory`. */
const deviceWith = (requestPolicy?: CapacityRequestPolicy): Device => ({
  name: 'a',
  capacity: { memory: { value: '100', ...(requestPolicy === undefined ? {} : { requestPolicy }) } },
})

/** How much of the memory a request takes; undefined where it cannot be had. */
function takenOf(policy: CapacityRequestPolicy | undefined, memory: string | undefined): bigint | undefined {
  const asked = memory === undefined ? undefined : { requests: { memory } }
  const nanos = consumedCapacity(deviceWith(policy), asked)?.get('memory')
  return nanos === undefined ? undefined : nanos / 1_000_000_000n
}

const values = { default: '20', validValues: ['20', '50', '80'] }
const stepped = { default: '10', validRange: { min: '10', max: '60', step: '20' } }
const ranged = { default: '10', validRange: { min: '10', max: '60' } }
const open = { default: '10', validRange: { min: '10', step: '25' } }
const least = { default: '10', validRange: { min: '10' } }

it.each<[string, CapacityRequestPolicy | undefined, string | undefined, bigint | undefined]>([
  ['all of it where nothing is said', undefined, undefined, 100n],
  ['what is asked for', undefined, '30', 30n],
  ['all of it where that is asked for', undefined, '100', 100n],
  ['no more than there is', undefined, '101', undefined],
  ['the default where nothing is asked for', values, undefined, 20n],
  ['what is asked for where only a default is said', { default: '20' }, '7', 7n],
  ['a valid value', values, '50', 50n],
  ['the next larger of the valid values', values, '51', 80n],
  ['the least of the valid values', values, '1', 20n],
  ['no more than the largest of the valid values', values, '81', undefined],
  ['the least of a range', stepped, '3', 10n],
  ['exactly the least', stepped, '10', 10n],
  ['the next step above the least', stepped, '11', 30n],
  ['exactly a step', stepped, '30', 30n],
  ['the step after that', stepped, '31', 50n],
  ['no more than the most of a range, rounded up', stepped, '51', undefined],
  ['the least of a range without steps', ranged, '3', 10n],
  ['anything in a range without steps', ranged, '31', 31n],
  ['the most of a range', ranged, '60', 60n],
  ['no more than the most of a range', ranged, '61', undefined],
  ['all that the steps of a range without an end leave', open, '75', 85n],
  ['no step beyond what the device has', open, '86', undefined],
  ['all of the device in a range without an end', least, '100', 100n],
])('a share is %s', (_what, policy, asked, taken) => {
  expect(takenOf(policy, asked)).toBe(taken)
})

it('is taken of every capacity, whether it is asked for or not', () => {
  const capacity = { memory: { value: '100' }, cores: { value: '8', requestPolicy: { default: '1' } } }
  expect(consumedCapacity({ name: 'a', capacity }, { requests: { memory: '5' } })).toEqual(
    new Map([
      ['memory', 5_000_000_000n],
      ['cores', 1_000_000_000n],
    ]),
  )
})

it('is not to be had of a capacity that the device does not have', () => {
  expect(consumedCapacity(deviceWith(), { requests: { memory: '5', cores: '1' } })).toBeUndefined()
  expect(consumedCapacity({ name: 'bare' }, { requests: { cores: '1' } })).toBeUndefined()
  expect(consumedCapacity({ name: 'bare' }, undefined)).toEqual(new Map())
  expect(consumedCapacity(deviceWith(), { requests: { constructor: '1' } })).toBeUndefined()
})

it('is taken of one that is called as what every object inherits', () => {
  const capacity = { constructor: { value: '8' } }
  expect(consumedCapacity({ name: 'a', capacity }, {})).toEqual(new Map([['constructor', 8_000_000_000n]]))
})

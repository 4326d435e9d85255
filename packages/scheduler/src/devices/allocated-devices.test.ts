import type { AllocationResult, DeviceRequestAllocationResult } from '@coracle/api'
import { beforeEach, expect, it } from 'vitest'
import { AllocatedDevices, deviceKey } from './allocated-devices.ts'

type Result = Partial<DeviceRequestAllocationResult>

/** What a claim has been given, of a device `gpu` unless said otherwise. */
const allocation = (...results: readonly Result[]): AllocationResult => ({
  devices: { results: results.map((each) => ({ request: 'r', driver: 'd', pool: 'p', device: 'gpu', ...each })) },
})
const share = (memory: string): Result => ({ consumedCapacity: { memory } })
const gpu = deviceKey('d', 'p', 'gpu')
const billions = (amount: number): bigint => BigInt(amount) * 1_000_000_000n

let devices: AllocatedDevices
beforeEach(() => {
  devices = new AllocatedDevices()
})
const memoryTaken = () => devices.consumed(gpu, 'memory')

it('a device is taken until the last claim that has it gives it back', () => {
  expect(devices.isTaken(gpu)).toBe(false)
  devices.set('one', allocation({}))
  devices.set('two', allocation({}))
  expect(devices.isTaken(gpu)).toBe(true)
  devices.set('one', undefined)
  expect(devices.isTaken(gpu)).toBe(true)
  devices.set('two', undefined)
  expect(devices.isTaken(gpu)).toBe(false)
})

it('a device is another in another pool or of another driver', () => {
  devices.set('one', allocation({ pool: 'other' }, { driver: 'other' }))
  expect(devices.isTaken(gpu)).toBe(false)
  expect(devices.isTaken(deviceKey('d', 'other', 'gpu'))).toBe(true)
  expect(devices.isTaken(deviceKey('other', 'p', 'gpu'))).toBe(true)
})

it('shares add up over claims and within one, and go with them', () => {
  expect(memoryTaken()).toBe(0n)
  devices.set('one', allocation(share('5'), share('2')))
  devices.set('two', allocation(share('10')))
  expect(memoryTaken()).toBe(billions(17))
  expect(devices.consumed(gpu, 'cores')).toBe(0n)
  devices.set('one', undefined)
  expect(memoryTaken()).toBe(billions(10))
  devices.set('two', undefined)
  expect(memoryTaken()).toBe(0n)
})

it('a claim has what it was given last, and that once however often it is told', () => {
  const first = allocation(share('5'))
  devices.set('one', first)
  devices.set('one', first)
  expect(memoryTaken()).toBe(billions(5))
  devices.set('one', allocation(share('3')))
  expect(memoryTaken()).toBe(billions(3))
  devices.set('one', allocation({ device: 'nic' }))
  expect([devices.isTaken(gpu), devices.isTaken(deviceKey('d', 'p', 'nic'))]).toEqual([false, true])
})

it('whoever only looks after a device takes nothing of it', () => {
  devices.set('admin', allocation({ adminAccess: true, ...share('5') }))
  expect([devices.isTaken(gpu), memoryTaken()]).toEqual([false, 0n])
})

it('a claim that was given nothing has nothing', () => {
  devices.set('empty', {})
  devices.set('never', undefined)
  expect(devices.isTaken(gpu)).toBe(false)
})

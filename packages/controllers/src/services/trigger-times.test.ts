import type { Pod, Service } from '@coracle/api'
import { expect, it } from 'vitest'
import { TriggerTimes } from './trigger-times.ts'

const at = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`

const service = { metadata: { name: 'web', creationTimestamp: at(5) } } as Service

const pod = (name: string, seconds?: number): Pod =>
  ({
    metadata: { name },
    status: {
      conditions: seconds === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: at(seconds) }],
    },
  }) as unknown as Pod

it('is the creation of a service that is new', () => {
  expect(new TriggerTimes().next('web', service, [pod('a', 1)])).toBe(at(5))
})

it('is the earliest change of a pod since the last look', () => {
  const times = new TriggerTimes()
  times.next('web', service, [pod('a', 1), pod('b', 2)])
  expect(times.next('web', service, [pod('a', 9), pod('b', 8), pod('c', 10), pod('d')])).toBe(at(8))
  expect(times.next('web', service, [pod('a', 9), pod('b', 8)])).toBeUndefined()
})

it('is known for each service apart, until it is forgotten', () => {
  const times = new TriggerTimes()
  times.next('web', service, [])
  expect(times.next('api', service, [])).toBe(at(5))
  expect(times.next('web', service, [])).toBeUndefined()
  times.forget('web')
  expect(times.next('web', service, [])).toBe(at(5))
})

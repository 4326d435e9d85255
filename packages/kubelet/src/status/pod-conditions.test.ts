import type { ContainerStatus, Pod } from '@coracle/api'
import { expect, it } from 'vitest'
import { podConditions } from './pod-conditions.ts'

it.each([3, 16, 17, 2000])('looks at each of %i containers a few times, however many there are', (count) => {
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  let looks = 0
  const status = (name: string, index: number): ContainerStatus =>
    ({
      get name() {
        looks += 1
        return name
      },
      ready: index !== count - 1,
      started: false,
    }) as unknown as ContainerStatus
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: names.map((name) => ({ name, image: 'i' })) },
  }
  const conditions = podConditions({
    pod,
    // All but the first have a status, and the last is not ready.
    statuses: names.map(status).slice(1),
    phase: 'Running',
    sandboxReady: true,
    resize: { inProgress: false, pending: undefined } as never,
    restartingAll: false,
    nowMs: 0,
  })
  const message = `containers with unknown status: [c0], containers with unready status: [c${count - 1}]`
  expect(conditions.find(({ type }) => type === 'ContainersReady')).toMatchObject({ status: 'False', message })
  expect(looks).toBeLessThanOrEqual(count * 3 * 16)
})

it.each([3, 2000])('looks at each of %i conditions a few times, however many gates ask for them', (count) => {
  let looks = 0
  const conditionOf = (_: unknown, index: number) => ({
    get type() {
      looks += 1
      return `example.com/gate-${index}`
    },
    status: index === 1 ? 'False' : 'True',
  })
  const conditions = Array.from({ length: count }, conditionOf)
  const readinessGates = conditions.map((_, index) => ({ conditionType: `example.com/gate-${index}` }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }], readinessGates },
    status: { conditions },
  } as unknown as Pod
  const found = podConditions({
    pod,
    statuses: [{ name: 'c', ready: true, started: true } as ContainerStatus],
    phase: 'Running',
    sandboxReady: true,
    resize: { inProgress: false, pending: undefined } as never,
    restartingAll: false,
    nowMs: 0,
  })
  const message = 'the status of pod readiness gate "example.com/gate-1" is not "True", but False'
  expect(found.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'ReadinessGatesNotReady', message })
  expect(looks).toBeLessThanOrEqual(count * 16)
})

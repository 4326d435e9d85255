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

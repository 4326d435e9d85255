import { type Job, jobs } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { createMetricsRegistry, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { reconcileCount } from '../testing/reconcile-count.ts'
import { createTtlAfterFinishedController } from './controller.ts'

const over = (name: string, ttlSecondsAfterFinished?: number) =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { ttlSecondsAfterFinished },
    status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  }) as unknown as Job

it('looks at no Job but those that say how long they stay', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const metrics = createMetricsRegistry()
  const manager = createManager({ client, environment, metrics })
  manager.add(createTtlAfterFinishedController())
  await manager.start()
  await client.create(jobs, over('stays'))
  await environment.clock.settle()
  expect(reconcileCount(metrics)).toBe(0)
  await client.create(jobs, over('goes', 30))
  await environment.clock.advance('31s')
  expect(client.stored(jobs).map(({ metadata }) => metadata.name)).toEqual(['stays'])
  await manager.stop()
})

it('leaves a Job that is to stay longer by now, though its cache does not know of it yet', async () => {
  const { environment, client } = await atWork(() => [createTtlAfterFinishedController()])
  await client.create(jobs, over('stays', 30))
  await environment.clock.settle()
  const get = client.get.bind(client)
  client.get = (async (...parts: Parameters<typeof get>) => ({
    ...(await get(...parts)),
    spec: { ttlSecondsAfterFinished: 60 },
  })) as typeof client.get
  await environment.clock.advance('59s')
  expect(client.stored(jobs)).toHaveLength(1)
  await environment.clock.advance('2s')
  expect(client.stored(jobs)).toEqual([])
})

import { type CronJob, cronJobs, type Job, jobs } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { createMetricsRegistry, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { reconcileCount } from '../testing/reconcile-count.ts'
import { createCronJobController } from './controller.ts'

const tick = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick', namespace: 'default' },
  spec: { schedule: '*/1 * * * *', jobTemplate: { spec: {} } },
} as unknown as CronJob

it('looks at a CronJob when a Job of it is over, and not at each step on the way', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const metrics = createMetricsRegistry()
  const manager = createManager({ client, environment, metrics })
  manager.add(createCronJobController())
  await manager.start()
  await client.create(cronJobs, tick)
  await clock.advance('61s')
  const looks = () => reconcileCount(metrics)
  const become = async (status: Job['status']) => {
    const [job] = client.stored(jobs)
    if (job === undefined) throw new Error('there is no Job')
    await client.update(jobs, { ...job, status } as Job, { subresource: 'status' })
    await clock.settle()
  }
  const before = looks()
  expect(before).toBeGreaterThan(0)
  await become({ active: 1 })
  await become({ active: 1, ready: 1 })
  expect(looks()).toBe(before)
  await become({ succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] })
  expect(looks()).toBeGreaterThan(before)
  expect(client.stored(cronJobs)[0]?.status?.active).toBeUndefined()
  await manager.stop()
})

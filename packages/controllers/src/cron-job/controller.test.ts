import { ApiError, type CronJob, cronJobs, events, formatTime, type Job, jobs } from '@coracle/api'
import { createFakeClient, type FakeCall } from '@coracle/client/testing'
import { controllerRef, createManager } from '@coracle/controller-runtime'
import { createMetricsRegistry, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { reconcileCount } from '../testing/reconcile-count.ts'
import { createCronJobController } from './controller.ts'

const tick = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick', namespace: 'default' },
  spec: { schedule: '*/1 * * * *', jobTemplate: { spec: {} } },
} as unknown as CronJob

it('does not make up for times of a new schedule that are past', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const manager = createManager({ client, environment })
  manager.add(createCronJobController())
  await manager.start()
  const made = await client.create(cronJobs, { ...tick, spec: { ...tick.spec, schedule: '0 0 1 1 *' } })
  await environment.clock.advance('150s')
  await client.update(cronJobs, { ...made, spec: tick.spec })
  await environment.clock.settle()
  expect(client.stored(jobs)).toEqual([])
  await environment.clock.advance('40s')
  expect(client.stored(jobs)).toHaveLength(1)
  await manager.stop()
})

it.each([
  ['its own', true],
  ['somebody else’s', false],
])('finds a Job of the name that it would give one: %s', async (_, isOwn) => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const made = await client.create(cronJobs, tick)
  const manager = createManager({ client, environment })
  manager.add(createCronJobController())
  await manager.start()
  const minute = Math.floor(environment.clock.now() / 60_000) + 1
  const name = `tick-${minute}`
  const annotations = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': formatTime(minute * 60_000) }
  const metadata = {
    name,
    namespace: 'default',
    ...(isOwn ? { annotations, ownerReferences: [controllerRef(made)] } : {}),
  }
  await client.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: {} } as unknown as Job)
  await environment.clock.advance('61s')
  const { active, lastScheduleTime } = client.stored(cronJobs)[0]?.status ?? {}
  expect([active?.map((each) => each.name), lastScheduleTime !== undefined]).toEqual(
    isOwn ? [[name], true] : [undefined, false],
  )
  await manager.stop()
})

describe('a CronJob of which something is refused', () => {
  const minutely = { ...tick, spec: { ...tick.spec, successfulJobsHistoryLimit: 0 } }

  async function started(refuses: (call: FakeCall) => boolean, concurrencyPolicy: 'Allow' | 'Replace' = 'Allow') {
    const { environment, client } = await atWork(() => [createCronJobController()])
    await client.create(cronJobs, { ...minutely, spec: { ...minutely.spec, concurrencyPolicy } })
    await environment.clock.advance('61s')
    client.intercept((call) => {
      if (call.plural === 'jobs' && refuses(call)) throw new ApiError(403, 'Forbidden', 'the webhook is away')
    })
    const [first] = client.stored(jobs)
    if (first === undefined) throw new Error('there is no Job')
    const complete = () => {
      const conditions = [{ type: 'Complete', status: 'True' }]
      const completionTime = formatTime(environment.clock.now())
      return client.update(jobs, { ...first, status: { conditions, completionTime } } as Job, { subresource: 'status' })
    }
    return { clock: environment.clock, client, complete, status: () => client.stored(cronJobs)[0]?.status }
  }

  it('says what has become of its Jobs, though no other can be made', async () => {
    const { clock, complete, status } = await started(({ verb }) => verb === 'create')
    await clock.advance('60s')
    const before = status()
    expect(before?.active).toHaveLength(1)
    await complete()
    await clock.settle()
    expect(status()).toEqual({
      lastScheduleTime: before?.lastScheduleTime,
      lastSuccessfulTime: formatTime(clock.now()),
    })
  })

  it('makes the next Job and says so, though one that is over cannot be deleted', async () => {
    const { clock, client, complete, status } = await started(({ verb }) => verb === 'delete')
    await complete()
    await clock.advance('60s')
    const [, second] = client.stored(jobs)
    expect(status()?.active?.map(({ uid }) => uid)).toEqual([second?.metadata.uid])
    expect(status()?.lastScheduleTime).toBe(formatTime(Math.floor(clock.now() / 60_000) * 60_000))
    await clock.advance('60s')
    expect(client.stored(jobs)).toHaveLength(3)
  })

  it.each([
    ['create', 'none: the one before has given way'],
    ['delete', 'the one before'],
  ] as const)(
    'says which Job is active where the next is to replace it and the %s is refused: %s',
    async (refused, _) => {
      const { clock, client, status } = await started(({ verb }) => verb === refused, 'Replace')
      const [before, present] = [status(), client.stored(jobs).map(({ metadata }) => metadata.uid)]
      expect(before?.active?.map(({ uid }) => uid)).toEqual(present)
      await clock.advance('60s')
      expect(client.stored(jobs).map(({ metadata }) => metadata.uid)).toEqual(refused === 'create' ? [] : present)
      expect(status()?.active?.map(({ uid }) => uid)).toEqual(refused === 'create' ? undefined : present)
      expect(status()?.lastScheduleTime).toBe(before?.lastScheduleTime)
      // A Job that has given way is not one that went missing.
      expect(client.stored(events).filter(({ reason }) => reason === 'MissingJob')).toEqual([])
    },
  )
})

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

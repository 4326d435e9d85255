import {
  type CronJob,
  configMaps,
  cronJobs,
  events,
  type Job,
  jobs,
  pods,
  type ReplicaSet,
  type ReplicationController,
  type ResourceQuota,
  replicaSets,
  replicationControllers,
  resourceQuotas,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'

let environment: VirtualEnvironment
let cluster: Cluster

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 7 })
  cluster = await startCluster({ environment, nodes: 2 })
})

afterEach(() => cluster.stop())

const settled = async () => {
  await environment.clock.settle()
  await environment.clock.advance('40s')
}

const createQuota = async (hard: Readonly<Record<string, string>>) => {
  await cluster.client.create<ResourceQuota>(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace },
    spec: { hard },
  })
  await settled()
}

const used = async () => (await cluster.client.get(resourceQuotas, { namespace, name: 'q' })).status?.used

it('a controller gets as many pods as its quota allows, and more when the quota grows', async () => {
  await createQuota({ pods: '3' })
  await cluster.client.create(replicationControllers, {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 5,
      selector: { app: 'web' },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'example/main' }] },
      },
    },
  } as unknown as ReplicationController)
  await settled()
  const count = async () => (await cluster.client.list(pods, { namespace })).items.length
  expect(await count()).toBe(3)
  expect(await used()).toEqual({ pods: '3' })
  const body = { spec: { hard: { pods: '10' } } }
  await cluster.client.patch(resourceQuotas, { namespace, name: 'q' }, { type: 'merge', body })
  await environment.clock.advance('10m')
  expect(await count()).toBe(5)
  expect(await used()).toEqual({ pods: '5' })
  const key = { namespace, name: 'web' }
  await cluster.client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 1 } } })
  await settled()
  expect(await used()).toEqual({ pods: '1' })
})

it('a quota counts what was there before it, and what is given back', async () => {
  for (const name of ['a', 'b']) {
    await cluster.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
  }
  await createQuota({ configmaps: '5', 'count/configmaps': '5', 'count/widgets.example.com': '1' })
  // kube-root-ca.crt is only there where the API is served over TLS.
  // Of a kind that there is not nothing is said.
  expect(await used()).toEqual({ configmaps: '2', 'count/configmaps': '2' })
  await cluster.client.delete(configMaps, { namespace, name: 'a' })
  await settled()
  expect(await used()).toMatchObject({ configmaps: '1', 'count/configmaps': '1' })
})

describe('where a quota refuses pods', () => {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'example/main' }] },
  }
  /** Long enough for the next try to be minutes away. */
  const refusedFor = '5m'

  beforeEach(() => createQuota({ pods: '1' }))

  it('a Job ends at its deadline', async () => {
    await cluster.client.create<Job>(jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'sum', namespace },
      spec: {
        parallelism: 2,
        activeDeadlineSeconds: 330,
        template: { spec: { ...template.spec, restartPolicy: 'Never' } },
      },
    } as Job)
    await environment.clock.advance(refusedFor)
    const reasons = async () => {
      const { status } = await cluster.client.get(jobs, { namespace, name: 'sum' })
      return (status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`)
    }
    expect(await reasons()).toEqual([])
    await environment.clock.advance('31s')
    expect(await reasons()).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded'])
  })

  it('those that are there become available in time', async () => {
    const key = { namespace, name: 'web' }
    await cluster.client.create<ReplicaSet>(replicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: key,
      spec: { replicas: 2, minReadySeconds: 330, selector: { matchLabels: { app: 'web' } }, template },
    } as ReplicaSet)
    await environment.clock.advance(refusedFor)
    const available = async () => (await cluster.client.get(replicaSets, key)).status?.availableReplicas ?? 0
    expect(await available()).toBe(0)
    await environment.clock.advance('31s')
    expect(await available()).toBe(1)
  })
})

it('the next Job of a CronJob is tried at its time, where a quota refuses that of the last', async () => {
  await createQuota({ 'count/jobs.batch': '0' })
  await cluster.client.create<CronJob>(cronJobs, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'report', namespace },
    spec: {
      schedule: '*/10 * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example/main' }] } } },
      },
    },
  } as CronJob)
  await environment.clock.advance('20m')
  const { items } = await cluster.client.list(events, { namespace })
  const refusal = items.find(({ message = '' }) => message.includes('"report-29453780" is forbidden'))
  expect(refusal?.firstTimestamp).toBe('2026-01-01T00:20:00Z')
})

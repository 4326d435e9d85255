import {
  controllerRevisions,
  type Pod,
  persistentVolumeClaims,
  pods,
  resourceQuotas,
  type StatefulSet,
  type StatefulSetSpec,
  statefulSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const key = { namespace, name: 'db' }

/** A stateful set `db` of three pods, each of which becomes ready a moment after it started. */
function database(spec: Partial<StatefulSetSpec> = {}): StatefulSet {
  const labels = { app: 'db' }
  const containers = [{ name: 'main', image: 'example/db:1' }]
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      replicas: 3,
      serviceName: 'db',
      minReadySeconds: 10,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
      ...spec,
    },
  } as StatefulSet
}

describe('a stateful set in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 42 })
    cluster = await startCluster({ environment, nodes: 3 })
  })

  afterEach(() => cluster.stop())

  const advance = (time: string) => environment.clock.advance(time)
  const create = async (spec: Partial<StatefulSetSpec> = {}) => {
    await cluster.client.create(statefulSets, database(spec))
    await environment.clock.settle()
  }
  const patch = (body: unknown) => cluster.client.patch(statefulSets, key, { type: 'strategic', body })
  const setImage = (image: string) => patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })
  const status = async () => (await cluster.client.get(statefulSets, key)).status
  const listPods = async (): Promise<readonly Pod[]> => (await cluster.client.list(pods, { namespace })).items
  const names = async () => (await listPods()).map(({ metadata }) => metadata.name)
  const images = async () => (await listPods()).map(({ spec }) => spec.containers[0]?.image?.split(':')[1])

  /** What `look` shows, second by second, where it changed. */
  const changesOf = async (look: () => Promise<readonly unknown[]>, seconds: number): Promise<readonly string[]> => {
    const seen: string[] = []
    for (let second = 0; second < seconds; second++) {
      await advance('1s')
      const now = (await look()).join(' ')
      if (now !== seen.at(-1)) seen.push(now)
    }
    return seen
  }

  it('makes in parallel all pods but the one whose claim is refused', async () => {
    const hard = { persistentvolumeclaims: '2' }
    await cluster.client.create(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { namespace, name: 'quota' },
      spec: { hard },
    })
    await environment.clock.settle()
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await create({
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    } as unknown as Partial<StatefulSetSpec>)
    await advance('1m')
    expect((await names()).length).toBe(2)
    const widened = { spec: { hard: { persistentvolumeclaims: '3' } } }
    await cluster.client.patch(resourceQuotas, { namespace, name: 'quota' }, { type: 'merge', body: widened })
    await advance('20m')
    expect(await names()).toEqual(['db-0', 'db-1', 'db-2'])
  })

  it('makes its pods one after the other, and removes them the other way round', async () => {
    await create()
    expect(await changesOf(names, 60)).toEqual(['db-0', 'db-0 db-1', 'db-0 db-1 db-2'])
    expect(await status()).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 })
    await patch({ spec: { replicas: 1 } })
    await advance('2m')
    expect(await names()).toEqual(['db-0'])
  })

  it('makes all at once, if they need no order', async () => {
    await create({ podManagementPolicy: 'Parallel' })
    expect(await names()).toEqual(['db-0', 'db-1', 'db-2'])
  })

  it('gives a pod that comes back its name and its claim', async () => {
    const metadata = { name: 'data' }
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await create({
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [{ metadata, spec }] as unknown as StatefulSetSpec['volumeClaimTemplates'],
    })
    const claimsNow = async () => (await cluster.client.list(persistentVolumeClaims, { namespace })).items
    const before = await claimsNow()
    expect(before.map((claim) => claim.metadata.name)).toEqual(['data-db-0', 'data-db-1', 'data-db-2'])
    const uid = (await listPods())[1]?.metadata.uid
    await cluster.client.delete(pods, { namespace, name: 'db-1' })
    await advance('2m')
    const [, again] = await listPods()
    expect(again?.metadata.name).toBe('db-1')
    expect(again?.metadata.uid).not.toBe(uid)
    expect(again?.spec.volumes?.[0]).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } })
    expect((await claimsNow()).map((claim) => claim.metadata.uid)).toEqual(before.map((claim) => claim.metadata.uid))
  })

  it('makes a pod once its name is free, however long another pod had it', async () => {
    await cluster.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db-1', namespace, labels: { app: 'other' } },
      spec: { containers: [{ name: 'main', image: 'example/other' }] },
    } as Pod)
    await create()
    // By now it tries again once in minutes.
    await advance('20m')
    const { spec } = await cluster.client.get(pods, { namespace, name: 'db-1' })
    expect(spec.containers[0]?.image).toBe('example/other')
    await cluster.client.delete(pods, { namespace, name: 'db-1' }, { gracePeriodSeconds: 0 })
    await advance('1s')
    expect(await images()).toEqual(['1', '1'])
  })

  it('replaces its pods from the last to the first', async () => {
    await create()
    await advance('2m')
    await setImage('example/db:2')
    expect(await changesOf(images, 120)).toEqual(['1 1 2', '1 2 2', '2 2 2'])
    const { currentRevision, updateRevision } = (await status()) ?? {}
    expect(currentRevision).toBe(updateRevision)
    expect((await cluster.client.list(controllerRevisions, { namespace })).items).toHaveLength(2)
  })

  it('replaces those from the partition on, until that is lowered', async () => {
    await create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
    await advance('2m')
    await setImage('example/db:2')
    await advance('2m')
    expect(await images()).toEqual(['1', '1', '2'])
    await cluster.client.delete(pods, { namespace, name: 'db-0' })
    await advance('2m')
    expect(await images()).toEqual(['1', '1', '2'])
    await patch({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
    await advance('3m')
    expect(await images()).toEqual(['2', '2', '2'])
  })

  it('leaves nothing but its claims behind when it is deleted', async () => {
    await create()
    await advance('2m')
    await cluster.client.delete(statefulSets, key)
    await advance('2m')
    expect(await names()).toEqual([])
    expect((await cluster.client.list(controllerRevisions, { namespace })).items).toEqual([])
  })
})

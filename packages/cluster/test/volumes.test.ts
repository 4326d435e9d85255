import {
  configMaps,
  events,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
  type StatefulSet,
  statefulSets,
  storageClasses,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Cluster, type ClusterOptions, startCluster } from '../src/index.ts'

let environment: VirtualEnvironment

beforeEach(() => {
  environment = virtualEnvironment({ seed: 7 })
})

async function start(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await startCluster({ environment, ...options })
  onTestFinished(() => cluster.stop())
  await environment.clock.settle()
  return cluster
}

describe('the default storage class', () => {
  const names = async ({ client }: Cluster) =>
    (await client.list(storageClasses)).items.map(({ metadata }) => metadata.name)
  const key = { name: 'local-path' }

  it('is there in a new cluster, and is its users’ from then on', async () => {
    const store = createMemoryStore()
    const first = await start({ store })
    expect(await first.client.get(storageClasses, key)).toMatchObject({
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'coracle.dev/local-path',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await first.client.delete(storageClasses, key)
    await first.stop()
    const second = await start({ store })
    expect(await names(second)).toEqual([])
    await second.client.delete(configMaps, { namespace: 'kube-system', name: 'local-path-provisioner' })
    await second.stop()
    expect(await names(await start({ store }))).toEqual(['local-path'])
  })

  it('stays as its users have changed it', async () => {
    const store = createMemoryStore()
    const first = await start({ store })
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'false' }
    await first.client.patch(storageClasses, key, { type: 'merge', body: { metadata: { annotations } } })
    await first.stop()
    const second = await start({ store })
    expect((await second.client.get(storageClasses, key)).metadata.annotations).toEqual(annotations)
  })
})

const namespace = 'default'
const oneGi = { resources: { requests: { storage: '1Gi' } } }

function claim(name: string, spec: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: { accessModes: ['ReadWriteOnce'], ...oneGi, ...spec },
  }
}

function pod(name: string, claims: readonly string[], spec: Partial<PodSpec> = {}): Pod {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers: [{ name: 'main', image: 'web' }], volumes, terminationGracePeriodSeconds: 0, ...spec },
  }
}

describe('a pod with a claim', () => {
  const podNow = ({ client }: Cluster, name: string) => client.get(pods, { namespace, name })
  const claimNow = ({ client }: Cluster, name: string) => client.get(persistentVolumeClaims, { namespace, name })
  const volumesNow = async ({ client }: Cluster) => (await client.list(persistentVolumes)).items
  const reasons = async ({ client }: Cluster, name: string) =>
    (await client.list(events, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason }) => reason)
      .toSorted()
  const scheduled = async (cluster: Cluster, name: string) =>
    (await podNow(cluster, name)).status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message

  it('gets a directory of the node it comes to, and a later one comes there, too', async () => {
    const cluster = await start({ nodes: 5 })
    await cluster.client.create(persistentVolumeClaims, claim('data'))
    await environment.clock.advance('10s')
    expect(await claimNow(cluster, 'data')).toMatchObject({
      spec: { storageClassName: 'local-path' },
      status: { phase: 'Pending' },
    })
    await cluster.client.create(pods, pod('first', ['data']))
    await environment.clock.advance('10s')
    const { spec } = await podNow(cluster, 'first')
    expect(await claimNow(cluster, 'data')).toMatchObject({
      metadata: { annotations: { 'volume.kubernetes.io/selected-node': spec.nodeName } },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    })
    const [volume] = await volumesNow(cluster)
    expect(volume).toMatchObject({ status: { phase: 'Bound' }, spec: { claimRef: { name: 'data' } } })
    expect(JSON.stringify(volume?.spec?.nodeAffinity)).toContain(`"${spec.nodeName}"`)
    expect(await reasons(cluster, 'data')).toEqual([
      'ExternalProvisioning',
      'Provisioning',
      'ProvisioningSucceeded',
      'WaitForFirstConsumer',
      'WaitForPodScheduled',
    ])
    for (const name of ['second', 'third', 'fourth']) await cluster.client.create(pods, pod(name, ['data']))
    await environment.clock.advance('10s')
    for (const name of ['second', 'third', 'fourth']) {
      expect(await podNow(cluster, name)).toMatchObject({
        spec: { nodeName: spec.nodeName },
        status: { phase: 'Running' },
      })
    }
  })

  it('holds it until it is gone, and then the volume goes with the claim', async () => {
    const cluster = await start()
    await cluster.client.create(persistentVolumeClaims, claim('data'))
    await cluster.client.create(pods, pod('web', ['data']))
    await environment.clock.advance('10s')
    await cluster.client.delete(persistentVolumeClaims, { namespace, name: 'data' })
    await environment.clock.advance('10s')
    expect(await volumesNow(cluster)).toMatchObject([{ status: { phase: 'Bound' } }])
    await cluster.client.delete(pods, { namespace, name: 'web' })
    await environment.clock.advance('10s')
    expect(await volumesNow(cluster)).toEqual([])
    expect((await cluster.client.list(persistentVolumeClaims)).items).toEqual([])
  })

  it('waits for the claim, and says so', async () => {
    const cluster = await start()
    await cluster.client.create(pods, pod('web', ['data']))
    await environment.clock.advance('1s')
    expect(await scheduled(cluster, 'web')).toBe(
      '0/1 nodes are available: persistentvolumeclaim "data" not found. not found',
    )
    await cluster.client.create(persistentVolumeClaims, claim('data', { storageClassName: '' }))
    await environment.clock.advance('10s')
    expect(await scheduled(cluster, 'web')).toContain('pod has unbound immediate PersistentVolumeClaims')
    await cluster.client.create(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'shelf' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/srv/shelf' } },
    })
    await environment.clock.advance('15s')
    expect((await podNow(cluster, 'web')).status?.phase).toBe('Running')
    expect((await claimNow(cluster, 'data')).spec?.volumeName).toBe('shelf')
  })

  it('waits where its class gives nothing to nodes like these', async () => {
    const cluster = await start({ nodes: 2 })
    await cluster.client.create(storageClasses, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'shelves' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await cluster.client.create(persistentVolumeClaims, claim('data', { storageClassName: 'shelves' }))
    await cluster.client.create(pods, pod('web', ['data']))
    await environment.clock.advance('1s')
    expect(await scheduled(cluster, 'web')).toContain(
      "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
    )
    const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] } as const
    await cluster.client.create(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'shelf' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'shelves',
        local: { path: '/srv/shelf' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
      },
    })
    await environment.clock.advance('15s')
    expect(await podNow(cluster, 'web')).toMatchObject({ spec: { nodeName: 'node-1' }, status: { phase: 'Running' } })
    expect((await claimNow(cluster, 'data')).spec?.volumeName).toBe('shelf')
  })

  it('that is for one pod alone has it leave for a more important one', async () => {
    const cluster = await start({ nodes: 2 })
    await cluster.client.create(priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 1000,
    })
    await cluster.client.create(persistentVolumeClaims, claim('data', { accessModes: ['ReadWriteOncePod'] }))
    await cluster.client.create(pods, pod('web', ['data']))
    await environment.clock.advance('10s')
    await cluster.client.create(pods, pod('equal', ['data']))
    await environment.clock.advance('10s')
    expect(await scheduled(cluster, 'equal')).toContain(
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    )
    await cluster.client.create(pods, pod('higher', ['data'], { priorityClassName: 'high' }))
    await environment.clock.advance('1m')
    expect((await podNow(cluster, 'higher')).status?.phase).toBe('Running')
    expect((await cluster.client.list(pods, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual([
      'equal',
      'higher',
    ])
  })

  it('of its own gets and loses it with its life', async () => {
    const cluster = await start()
    const template = { spec: { accessModes: ['ReadWriteOnce'], ...oneGi } } as const
    const volumes = [{ name: 'tmp', ephemeral: { volumeClaimTemplate: template } }]
    await cluster.client.create(persistentVolumeClaims, claim('web-tmp'))
    await cluster.client.create(pods, pod('web', [], { volumes }))
    await environment.clock.advance('10s')
    expect(await scheduled(cluster, 'web')).toContain(
      'PVC default/web-tmp was not created for pod default/web (pod is not owner)',
    )
    await cluster.client.delete(persistentVolumeClaims, { namespace, name: 'web-tmp' })
    await environment.clock.advance('15s')
    expect((await podNow(cluster, 'web')).status?.phase).toBe('Running')
    expect((await claimNow(cluster, 'web-tmp')).status?.phase).toBe('Bound')
    await cluster.client.delete(pods, { namespace, name: 'web' })
    await environment.clock.advance('10s')
    expect((await cluster.client.list(persistentVolumeClaims)).items).toEqual([])
    expect(await volumesNow(cluster)).toEqual([])
  })

  it('of a stateful set finds its own again, and it goes or stays as the set says', async () => {
    const cluster = await start({ nodes: 3 })
    const labels = { app: 'db' }
    const set: StatefulSet = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace },
      spec: {
        replicas: 3,
        serviceName: 'db',
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/db:1' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], ...oneGi } }],
      },
    } as unknown as StatefulSet
    await cluster.client.create(statefulSets, set)
    await environment.clock.advance('1m')
    const volumes = async () =>
      (await volumesNow(cluster)).map(({ metadata, spec }) => `${spec?.claimRef?.name} ${metadata.uid}`).toSorted()
    const before = await volumes()
    expect(before).toHaveLength(3)
    const { spec } = await podNow(cluster, 'db-1')
    await cluster.client.delete(pods, { namespace, name: 'db-1' })
    await environment.clock.advance('1m')
    expect(await podNow(cluster, 'db-1')).toMatchObject({
      spec: { nodeName: spec.nodeName },
      status: { phase: 'Running' },
    })
    expect(await volumes()).toEqual(before)
    await cluster.client.patch(
      statefulSets,
      { namespace, name: 'db' },
      { type: 'merge', body: { spec: { replicas: 1 } } },
    )
    await environment.clock.advance('1m')
    expect(await volumes()).toEqual(before.slice(0, 1))
    await cluster.client.delete(statefulSets, { namespace, name: 'db' })
    await environment.clock.advance('1m')
    expect(await volumes()).toEqual(before.slice(0, 1))
  })
})

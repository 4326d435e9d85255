import {
  type Cause,
  chainOf,
  configMaps,
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  type KubernetesObject,
  type LabelSelector,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  priorityClasses,
  type Resource,
  replicationControllers,
  resourceQuotas,
  services,
  statefulSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const labels = { app: 'web' }
const selector: LabelSelector = { matchLabels: labels }
const container = { name: 'main', image: 'example/web:1' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const jobTemplate = { spec: { containers: [container], restartPolicy: 'Never' } }

describe('why things are as they are, in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster
  let unexplained: string[]

  beforeEach(async () => {
    unexplained = []
    environment = virtualEnvironment({ seed: 42 })
    const onUnexplained = (user: string, what: string) => unexplained.push(`${user}: ${what}`)
    cluster = await startCluster({ environment, nodes: 2, onUnexplained })
  })
  afterEach(() => cluster.stop())

  const create = (resource: Resource, apiVersion: string, name: string, spec: object, more: object = {}) =>
    cluster.client.create(resource, {
      apiVersion,
      kind: resource.kind,
      metadata: { name, ...(resource.namespaced ? { namespace } : {}) },
      spec,
      ...more,
    } as KubernetesObject)

  /** All causes, by revision. */
  const record = async (): Promise<ReadonlyMap<number, Cause>> => {
    const causes = new Map<number, Cause>()
    let before: number | undefined
    do {
      const page = await cluster.causes({ limit: 500, ...(before === undefined ? {} : { before }) })
      for (const cause of page.causes) causes.set(cause.revision, cause)
      before = page.before
    } while (before !== undefined)
    return causes
  }

  /** The chain of a revision, newest first: who did what, and why. */
  const told = async (revision: number): Promise<readonly string[]> => {
    const causes = await record()
    return chainOf((each) => causes.get(each), revision).map(({ cause, end = '' }) => {
      const [{ operation = '', kind = '' } = {}] = cause.changes
      const who = cause.reconcile?.controller ?? cause.user
      return `${who}: ${operation} ${kind}${cause.because === undefined ? '' : `, ${cause.because}`}${end && ` [${end}]`}`
    })
  }

  it('leads from a pod to the Deployment that somebody made', async () => {
    await create(deployments, 'apps/v1', 'web', { replicas: 1, selector, template })
    await environment.clock.advance('30s')
    const { causes } = await cluster.causes({ resource: 'pods' })
    const made = causes.find(({ changes }) => changes[0]?.operation === 'create')
    expect(await told(made?.revision ?? 0)).toEqual([
      'replicaset-controller: create Pod, 0 of 1 replicas exist',
      expect.stringMatching(/^deployment-controller: create ReplicaSet, /),
      'kubernetes-admin: create Deployment [request]',
    ])
  })

  it('leads from the replacement of a pod to whoever deleted the one before', async () => {
    await create(replicationControllers, 'v1', 'web', { replicas: 1, selector: labels, template })
    await environment.clock.advance('30s')
    const [pod] = (await cluster.client.list(pods)).items
    await cluster.client.delete(pods, { namespace, name: pod?.metadata.name ?? '' })
    await environment.clock.advance('60s')
    const { causes } = await cluster.causes({ resource: 'pods' })
    const made = causes.find(({ changes }) => changes[0]?.operation === 'create')
    const lines = await told(made?.revision ?? 0)
    expect(lines[0]).toMatch(/^replication-controller: create Pod, /)
    expect(lines).toContainEqual('kubernetes-admin: update Pod [request]')
  })

  it('is said by every component of everything it does', async () => {
    await create(namespaces, 'v1', 'other', {})
    await create(services, 'v1', 'web', { selector: labels, ports: [{ port: 80 }] })
    await create(deployments, 'apps/v1', 'web', { replicas: 3, selector, template })
    await create(replicationControllers, 'v1', 'old', {
      replicas: 2,
      selector: { app: 'old' },
      template: { ...template, metadata: { labels: { app: 'old' } } },
    })
    await create(daemonSets, 'apps/v1', 'agent', {
      selector: { matchLabels: { app: 'agent' } },
      template: { ...template, metadata: { labels: { app: 'agent' } } },
    })
    await create(statefulSets, 'apps/v1', 'db', {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: { ...template, metadata: { labels: { app: 'db' } } },
    })
    await create(jobs, 'batch/v1', 'once', { template: jobTemplate, ttlSecondsAfterFinished: 10 })
    await create(cronJobs, 'batch/v1', 'often', {
      schedule: '*/1 * * * *',
      jobTemplate: { spec: { template: jobTemplate } },
    })
    await create(resourceQuotas, 'v1', 'quota', { hard: { pods: '100', configmaps: '10' } })
    await create(persistentVolumeClaims, 'v1', 'claim', {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    })
    await create(priorityClasses, 'scheduling.k8s.io/v1', 'high', {}, { value: 1000, spec: undefined })
    await environment.clock.advance('2m')
    await cluster.client.patch(
      deployments,
      { namespace, name: 'web' },
      {
        type: 'strategic',
        body: { spec: { template: { spec: { containers: [{ name: 'main', image: 'example/web:2' }] } } } },
      },
    )
    await create(configMaps, 'v1', 'settings', {}, { spec: undefined })
    await environment.clock.advance('2m')
    // More than the nodes have room for, and more important than what runs there.
    await create(deployments, 'apps/v1', 'important', {
      replicas: 300,
      selector: { matchLabels: { app: 'important' } },
      template: {
        metadata: { labels: { app: 'important' } },
        spec: { containers: [container], priorityClassName: 'high' },
      },
    })
    await environment.clock.advance('1m')
    await cluster.components.nodes.crash()
    await environment.clock.advance('10m')
    await cluster.components.nodes.start()
    await environment.clock.advance('5m')
    await cluster.client.delete(deployments, { namespace, name: 'web' }, { propagationPolicy: 'Foreground' })
    await cluster.client.delete(replicationControllers, { namespace, name: 'old' }, { propagationPolicy: 'Orphan' })
    await cluster.client.delete(statefulSets, { namespace, name: 'db' }, { propagationPolicy: 'Background' })
    await cluster.client.delete(namespaces, { name: 'other' })
    await cluster.client.delete(services, { namespace, name: 'web' })
    await cluster.client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('10m')
    expect([...new Set(unexplained.map((line) => line.replace(/-[a-z0-9]+$/, '-…')))]).toEqual([])
    expect((await record()).size).toBeGreaterThan(500)
  })
})

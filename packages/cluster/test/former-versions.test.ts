import {
  clusterRoleBindings,
  clusterRoles,
  cronJobs,
  type EndpointSlice,
  endpointSlices,
  type KubernetesObject,
  podDisruptionBudgets,
  type Resource,
  roleBindings,
  roles,
  withFormerVersions,
} from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const formerOf = ({ group, kind, plural, namespaced }: Resource): Resource => ({
  group,
  version: 'v1beta1',
  kind,
  plural,
  namespaced,
})
const formerBudgets = formerOf(podDisruptionBudgets)
const formerCronJobs = formerOf(cronJobs)
const formerSlices = formerOf(endpointSlices)
const emptyKey = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

let cluster: Cluster
afterEach(() => cluster.stop())

async function serving(...formerVersions: readonly string[]) {
  cluster = await startCluster({ environment: virtualEnvironment({ seed: 1 }), nodes: 0, formerVersions })
  return cluster.client
}

const budget = (version: string, name: string, spec: object) =>
  ({
    apiVersion: `policy/${version}`,
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec,
  }) as KubernetesObject

describe('versions that Kubernetes has ceased to serve', () => {
  it('are those of roles and bindings too, whose answers warn of what takes their place', async () => {
    const client = await serving('rbac.authorization.k8s.io/v1beta1')
    for (const kind of [roles, roleBindings, clusterRoles, clusterRoleBindings]) {
      expect(await client.list(formerOf(kind))).toMatchObject({ apiVersion: 'rbac.authorization.k8s.io/v1beta1' })
    }
    const [former] = withFormerVersions([roles], ['rbac.authorization.k8s.io/v1beta1']).flatMap(
      ({ versions }) => versions,
    )
    expect(former?.deprecated).toBe(
      'rbac.authorization.k8s.io/v1beta1 Role is deprecated in v1.17+, unavailable in v1.22+; use rbac.authorization.k8s.io/v1 Role',
    )
  })

  it('are not served unless they are asked for', async () => {
    const client = await serving('batch/v1beta1')
    await expect(client.list(formerBudgets, { namespace })).rejects.toMatchObject({ code: 404 })
    expect(await client.list(formerCronJobs, { namespace })).toMatchObject({ apiVersion: 'batch/v1beta1' })
  })

  it('show the objects of the version that took their place, and write them', async () => {
    const client = await serving('batch/v1beta1')
    const spec = {
      schedule: '* * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } } },
      },
    }
    const made = { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'old', namespace }, spec }
    expect(await client.create(formerCronJobs, made as KubernetesObject)).toMatchObject({
      apiVersion: 'batch/v1beta1',
      spec: { concurrencyPolicy: 'Allow', suspend: false },
    })
    const key = { namespace, name: 'old' }
    expect(await client.get(cronJobs, key)).toMatchObject({ apiVersion: 'batch/v1', spec: { schedule: '* * * * *' } })
    const body = { spec: { schedule: '*/5 * * * *' } }
    await client.patch(cronJobs, key, { type: 'merge', body })
    expect(await client.get(formerCronJobs, key)).toMatchObject({ apiVersion: 'batch/v1beta1', ...body })
  })

  it('say where endpoints are by labels, where that was so', async () => {
    const client = await serving('discovery.k8s.io/v1beta1')
    const slice = (version: string, name: string, endpoint: object) =>
      ({
        apiVersion: `discovery.k8s.io/${version}`,
        kind: 'EndpointSlice',
        metadata: { name, namespace },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
        ports: [],
      }) as KubernetesObject
    const topology = { 'kubernetes.io/hostname': 'n1', 'topology.kubernetes.io/zone': 'z1', rack: 'r1' }
    await client.create(formerSlices, slice('v1beta1', 'old', { topology }))
    await client.create(endpointSlices, slice('v1', 'new', { nodeName: 'n2', zone: 'z2' }) as EndpointSlice)
    const endpointIn = async (resource: Resource, name: string) =>
      ((await client.get(resource, { namespace, name })) as { endpoints?: readonly object[] }).endpoints?.[0]
    const [addresses, conditions] = [['10.0.0.1'], {}]
    const old = { addresses, conditions, nodeName: 'n1', zone: 'z1' }
    expect(await endpointIn(endpointSlices, 'old')).toEqual(old)
    const shown = { 'topology.kubernetes.io/zone': 'z1' }
    expect(await endpointIn(formerSlices, 'old')).toEqual({ addresses, conditions, nodeName: 'n1', topology: shown })
    const zone = { 'topology.kubernetes.io/zone': 'z2' }
    expect(await endpointIn(formerSlices, 'new')).toEqual({ addresses, conditions, nodeName: 'n2', topology: zone })
    await client.patch(
      formerSlices,
      { namespace, name: 'new' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    )
    expect(await endpointIn(endpointSlices, 'new')).toEqual({ addresses, conditions, nodeName: 'n2', zone: 'z2' })
  })

  it('keep what an empty selector of a budget meant in each of them', async () => {
    const client = await serving('policy/v1beta1')
    await client.create(formerBudgets, budget('v1beta1', 'none', { minAvailable: 1, selector: {} }))
    await client.create(podDisruptionBudgets, budget('v1', 'all', { minAvailable: 1, selector: {} }))
    const selectorIn = async (resource: Resource, name: string) =>
      ((await client.get(resource, { namespace, name })) as { spec?: { selector?: object } }).spec?.selector
    expect(await selectorIn(formerBudgets, 'none')).toEqual({})
    expect(await selectorIn(podDisruptionBudgets, 'none')).toEqual({
      matchExpressions: [{ key: emptyKey, operator: 'Exists' }],
    })
    expect(await selectorIn(podDisruptionBudgets, 'all')).toEqual({})
    expect(await selectorIn(formerBudgets, 'all')).toEqual({
      matchExpressions: [{ key: emptyKey, operator: 'DoesNotExist' }],
    })
    await client.patch(
      formerBudgets,
      { namespace, name: 'all' },
      { type: 'merge', body: { spec: { minAvailable: 2 } } },
    )
    expect(await selectorIn(podDisruptionBudgets, 'all')).toEqual({})
  })
})

import {
  clusterRoleBindings,
  clusterRoles,
  cronJobs,
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

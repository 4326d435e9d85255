import { type ClusterRole, clusterRoles } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createClusterRoleAggregationController } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient
let manager: Manager

beforeEach(async () => {
  ;({ environment, client, manager } = await atWork(() => [createClusterRoleAggregationController()]))
})

const mayRead = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })

const create = (name: string, labels: Readonly<Record<string, string>>, more: object = {}) =>
  client.create<ClusterRole>(clusterRoles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    ...more,
  } as ClusterRole)

const aggregationRule = {
  clusterRoleSelectors: [{ matchLabels: { view: 'true' } }, { matchLabels: { edit: 'true' } }],
}

async function resourcesOf(name: string) {
  await environment.clock.settle()
  const { rules = [] } = await client.get(clusterRoles, { name })
  return rules.map(({ resources }) => resources?.join())
}

it('puts a role together from those it selects, each rule once, and follows them', async () => {
  await create('all', {}, { aggregationRule })
  expect(await resourcesOf('all')).toEqual([])
  await create('b', { view: 'true' }, { rules: [mayRead('pods'), mayRead('nodes')] })
  await create('a', { view: 'true' }, { rules: [mayRead('services')] })
  await create('c', { edit: 'true' }, { rules: [mayRead('pods'), mayRead('configmaps')] })
  await create('other', { x: 'y' }, { rules: [mayRead('events')] })
  expect(await resourcesOf('all')).toEqual(['services', 'pods', 'nodes', 'configmaps'])
  await client.delete(clusterRoles, { name: 'a' })
  expect(await resourcesOf('all')).toEqual(['pods', 'nodes', 'configmaps'])
  await client.patch(clusterRoles, { name: 'b' }, { type: 'merge', body: { metadata: { labels: null } } })
  expect(await resourcesOf('all')).toEqual(['pods', 'configmaps'])
})

it('leaves a role the rules it came with until there are some to put together, and owns those', async () => {
  await create('all', {}, { aggregationRule, rules: [mayRead('secrets')] })
  expect(await resourcesOf('all')).toEqual(['secrets'])
  await create('a', { view: 'true' }, { rules: [mayRead('pods')] })
  expect(await resourcesOf('all')).toEqual(['pods'])
  const { metadata } = await client.get(clusterRoles, { name: 'all' })
  expect(metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'clusterrole-aggregation-controller',
      operation: 'Apply',
      fieldsV1: { 'f:rules': {} },
    }),
  )
  await client.delete(clusterRoles, { name: 'a' })
  expect(await resourcesOf('all')).toEqual([])
})

it('takes nothing from the role itself, and back what was added by hand', async () => {
  await create('all', { view: 'true' }, { aggregationRule, rules: [mayRead('secrets')] })
  await create('a', { view: 'true' }, { rules: [mayRead('pods')] })
  expect(await resourcesOf('all')).toEqual(['pods'])
  const body = { rules: [mayRead('pods'), mayRead('secrets')] }
  await client.patch(clusterRoles, { name: 'all' }, { type: 'merge', body })
  expect(await resourcesOf('all')).toEqual(['pods'])
})

it('passes on what other roles are put together from', async () => {
  await create('wide', {}, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { narrow: 'true' } }] } })
  await create('narrow', { narrow: 'true' }, { aggregationRule })
  await create('a', { view: 'true' }, { rules: [mayRead('pods')] })
  expect(await resourcesOf('wide')).toEqual(['pods'])
})

it('leaves other roles alone', async () => {
  await create('plain', { view: 'true' }, { rules: [mayRead('pods')] })
  expect(await resourcesOf('plain')).toEqual(['pods'])
})

it('looks at roles only that are put together from others', async () => {
  for (const name of ['a', 'b', 'c']) await create(name, { view: 'true' }, { rules: [mayRead('pods')] })
  await create('all', {}, { aggregationRule })
  await environment.clock.settle()
  const looks = 'controller_runtime_reconcile_time_seconds_count{controller="clusterrole-aggregation-controller"}'
  const lines = manager.metrics.text().split('\n')
  // Its own rules are what it looks at once more.
  expect(lines.find((line) => line.startsWith(looks))).toBe(`${looks} 2`)
})

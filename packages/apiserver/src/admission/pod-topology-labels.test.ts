import { type Node, nodes, pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { pod, startTestCore } from '../testing/test-core.ts'

const where = { 'topology.kubernetes.io/region': 'north', 'topology.kubernetes.io/zone': 'north-1' }
const key = { namespace: 'default', name: 'a' }

async function withNode(labels: Readonly<Record<string, string>> = where) {
  const { client } = await startTestCore()
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } } as Node)
  const bind = (metadata: object = {}) =>
    client.createSubresource(pods, key, 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'a', ...metadata },
      target: { kind: 'Node', name: 'n1' },
    })
  const labelsOf = async () => (await client.get(pods, key)).metadata.labels
  return { client, bind, labelsOf }
}

it('a pod that is bound has the labels of its node that say where it is', async () => {
  const { client, bind, labelsOf } = await withNode({ ...where, 'kubernetes.io/hostname': 'n1' })
  await client.create(pods, pod('a', { labels: { app: 'web', 'topology.kubernetes.io/zone': 'wrong' } }))
  await bind()
  expect(await labelsOf()).toEqual({ app: 'web', ...where })
})

it('a pod that names its node has them from the start', async () => {
  const { client, labelsOf } = await withNode()
  await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
  expect(await labelsOf()).toEqual(where)
})

it('a pod stays as it is where its node does not say where it is', async () => {
  const { client, bind, labelsOf } = await withNode({ x: 'y' })
  await client.create(pods, pod('a'))
  await bind()
  expect(await labelsOf()).toBeUndefined()
})

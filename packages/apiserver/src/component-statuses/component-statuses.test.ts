import { componentStatuses } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import { createMemoryStore } from '@coracle/store/memory'
import { expect, it } from 'vitest'
import { refusal, startTestCore } from '../testing/test-core.ts'

const components = () => [
  { name: 'scheduler', check: () => 'it does not run' },
  { name: 'controller-manager', check: async () => undefined },
]

it('the parts of a cluster say how they are when somebody asks', async () => {
  const store = createMemoryStore()
  const { client } = await startTestCore({ store, components })
  const shown = async () =>
    (await client.list(componentStatuses)).items.map(({ metadata, conditions = [] }) => [
      metadata.name,
      ...conditions.map(({ status, message }) => `${status} ${message}`),
    ])
  expect(await shown()).toEqual([
    ['controller-manager', 'True ok'],
    ['etcd-0', 'True ok'],
    ['scheduler', 'False it does not run'],
  ])
  expect((await client.get(componentStatuses, { name: 'scheduler' })).conditions).toHaveLength(1)
  expect(await refusal(client.get(componentStatuses, { name: 'x' }))).toMatchObject({
    code: 404,
    message: 'componentstatuses "x" not found',
  })
  expect(await refusal(client.delete(componentStatuses, { name: 'scheduler' }))).toMatchObject({ code: 405 })
})

it('of which those are listed that selectors select, by name or by labels that they do not have', async () => {
  const { client } = await startTestCore({ store: createMemoryStore(), components })
  const listed = async (options: ListOptions) =>
    (await client.list(componentStatuses, options)).items.map(({ metadata }) => metadata.name)
  expect(await listed({ fieldSelector: 'metadata.name=scheduler' })).toEqual(['scheduler'])
  expect(await listed({ fieldSelector: 'metadata.name!=scheduler' })).toEqual(['controller-manager', 'etcd-0'])
  expect(await listed({ labelSelector: 'a=b' })).toEqual([])
  expect(await listed({ labelSelector: '!a' })).toHaveLength(3)
  expect(await refusal(client.list(componentStatuses, { fieldSelector: 'status=x' }))).toMatchObject({ code: 400 })
})

import { componentStatuses } from '@coracle/api'
import { createMemoryStore } from '@coracle/store'
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

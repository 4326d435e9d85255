import { type Binding, bindings, pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'

const binding = (name: string, node = 'n1'): Binding => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { namespace: 'default', name },
  target: { kind: 'Node', name: node },
})

it('a binding that is posted puts the pod it names on a node', async () => {
  const { client } = await startTestCore()
  await client.create(pods, pod('a'))
  expect(await client.create(bindings, binding('a'))).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
  expect((await client.get(pods, { namespace: 'default', name: 'a' })).spec.nodeName).toBe('n1')
  expect(await refusal(client.create(bindings, binding('a', 'n2')))).toMatchObject({ code: 409 })
  expect(await refusal(client.create(bindings, binding('x')))).toMatchObject({ code: 404 })
})

it('nothing else can be done with bindings', async () => {
  const { client } = await startTestCore()
  expect(await refusal(client.list(bindings))).toMatchObject({ code: 405 })
  expect(await refusal(client.get(bindings, { namespace: 'default', name: 'a' }))).toMatchObject({ code: 405 })
})

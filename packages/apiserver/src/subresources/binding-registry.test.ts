import { ApiError, type Binding, bindings, pods, resourceQuotas } from '@coracle/api'
import { expect, it } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { admissionRequest } from '../admission/matching/admission-request.ts'
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

/** A core in which a plugin changes and judges everything, and what it has seen of bindings. */
async function watched() {
  const seen: unknown[] = []
  const admission: AdmissionPlugin[] = [
    {
      name: 'Watcher',
      mutate(attributes, object) {
        const { operation, subresource, name, definition, requested } = attributes
        if (object?.kind !== 'Binding') return object
        const { kind, resource, subResource, requestKind, requestResource } = admissionRequest(attributes, requested)
        seen.push({ operation, definition: definition.plural, subresource, name, kind, resource, subResource })
        expect([requestKind, requestResource]).toEqual([kind, resource])
        return { ...object, metadata: { ...object.metadata, annotations: { seen: 'yes' } } }
      },
      validate({ definition }) {
        if (definition.plural === 'bindings' && seen.length > 1)
          throw new ApiError(403, 'Forbidden', 'there has been one')
      },
    },
  ]
  return { ...(await startTestCore({ admission })), seen }
}

it('a binding is admitted as what it is posted to', async () => {
  const { client, seen } = await watched()
  await client.create(pods, pod('a'))
  await client.create(pods, pod('b'))
  await client.create(pods, pod('c'))
  await client.create(bindings, binding('a'))
  expect((await client.get(pods, { namespace: 'default', name: 'a' })).metadata.annotations).toEqual({ seen: 'yes' })
  await client.createSubresource(pods, { namespace: 'default', name: 'b' }, 'binding', binding('b'))
  expect(await refusal(client.create(bindings, binding('c')))).toMatchObject({ code: 403 })
  const operation = 'CREATE'
  const kind = { group: '', version: 'v1', kind: 'Binding' }
  const core = { group: '', version: 'v1' }
  expect(seen.slice(0, 2)).toEqual([
    {
      operation,
      definition: 'bindings',
      subresource: '',
      name: 'a',
      kind,
      resource: { ...core, resource: 'bindings' },
      subResource: undefined,
    },
    {
      operation,
      definition: 'pods',
      subresource: 'binding',
      name: 'b',
      kind,
      resource: { ...core, resource: 'pods' },
      subResource: 'binding',
    },
  ])
})

it('a binding takes nothing of a quota', async () => {
  const { client } = await startTestCore()
  const metadata = { namespace: 'default', name: 'all' }
  const hard = { 'count/bindings': '0' }
  await client.create(resourceQuotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } })
  await client.patch(
    resourceQuotas,
    metadata,
    { type: 'merge', body: { status: { hard, used: hard } } },
    { subresource: 'status' },
  )
  await client.create(pods, pod('a'))
  expect(await client.create(bindings, binding('a'))).toMatchObject({ code: 201 })
})

it('nothing else can be done with bindings', async () => {
  const { client } = await startTestCore()
  expect(await refusal(client.list(bindings))).toMatchObject({ code: 405 })
  expect(await refusal(client.get(bindings, { namespace: 'default', name: 'a' }))).toMatchObject({ code: 405 })
})

/** Answers to writes of custom resources, as the apiextensions server 1.36.4 gives them. */
import type { Client } from '@coracle/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { TestServer } from '../http/testing/test-server.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'

const crates = '/apis/example.com/v1/namespaces/default/crates'
const text = { type: 'string' }
const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        label: text,
        count: { type: 'integer' },
        inner: { type: 'object', properties: { a: text } },
        kept: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: text } },
      },
    },
    status: { type: 'object', properties: { count: { type: 'integer' }, parts: { type: 'array', items: text } } },
  },
}
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' },
}

let server: TestServer
let client: Client

beforeEach(async () => {
  server = await TestServer.start()
  client = server.core.client(apiServerUser)
  await establish(
    client,
    crateDefinition([crateVersion('v1', { storage: true, schema: { openAPIV3Schema }, subresources })]),
  )
})

afterEach(() => server.close())

const create = (spec: object, more: object = {}, query = '') =>
  server.call(`${crates}${query}`, { method: 'POST', body: { metadata: { name: 'a' }, spec, ...more } })

const patch = (type: 'merge' | 'apply', body: object, path = '/a', query = '') =>
  server.call(`${crates}${path}${query}`, {
    method: 'PATCH',
    headers: { 'content-type': type === 'merge' ? 'application/merge-patch+json' : 'application/apply-patch+yaml' },
    body,
  })

const apply = (spec: object, query: string) =>
  patch('apply', { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a' }, spec }, '/a', query)

it('who is refused is warned of unknown fields, too', async () => {
  const refused = await create({ label: 1, z: 1, inner: { b: 1 } })
  expect(refused.code).toBe(422)
  expect(refused.headers.warning).toBe('299 - "unknown field \\"spec.inner.b\\"", 299 - "unknown field \\"spec.z\\""')
})

it.each<[object, string]>([
  [{ apiVersion: 'v1', kind: 5 }, 'spec.template.kind: Invalid value: 5: must be a string'],
  [
    { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 } } },
    'spec.template.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  ],
  [
    { apiVersion: 'v1', kind: 'Pod', metadata: 'x' },
    'spec.template.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
  ],
])('an object in another that cannot be read, such as %j, is refused', async (template, problem) => {
  const { code, json } = await create({ template })
  expect([code, json.message]).toEqual([400, `Crate in version "v1" cannot be handled as a Crate: ${problem}`])
})

it('counts are checked where the scale finds them', async () => {
  const { json } = await create({ count: -1 })
  expect(json.message).toBe(
    'Crate.example.com "a" is invalid: .spec.count: Invalid value: -1: should be a non-negative integer',
  )
})

describe('a status', () => {
  it('is written alone: metadata stays, and nobody owns it', async () => {
    await create({})
    const { json } = await patch('merge', { metadata: { labels: { a: 'b' } }, status: { count: 1 } }, '/a/status')
    expect(json.metadata.labels).toBeUndefined()
    expect(json.metadata.managedFields.at(-1)).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:status': { '.': {}, 'f:count': {} } },
    })
    expect(json.metadata.managedFields.at(-1).fieldsV1['f:metadata']).toBeUndefined()
  })

  it('is named by itself in what is wrong with it', async () => {
    await create({})
    const { json } = await patch('merge', { status: { parts: [1], count: 'x' } }, '/a/status')
    expect(
      json.details.causes.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`),
    ).toEqual([
      'status.count: Invalid value: "string": count in body must be of type integer: "string"',
      'status.parts[0]: Invalid value: "integer": parts[0] in body must be of type string: "integer"',
      '.status.count: Invalid value: 0: .status.count accessor error: x is of the type string, expected int64',
    ])
  })
})

describe('an apply', () => {
  it('is refused for what the schema does not have, unless it is kept', async () => {
    const { code, json } = await apply({ z: 1, inner: { c: 1 }, kept: { any: { thing: 1 } } }, '?fieldManager=m')
    expect([code, json.message]).toEqual([
      500,
      'failed to create typed patch object (/a; example.com/v1, Kind=Crate): errors:\n' +
        '  .spec.inner.c: field not declared in schema\n  .spec.z: field not declared in schema',
    ])
  })

  it('says nulls, which may not be there, and others do not own', async () => {
    const { json } = await apply({ label: null }, '?fieldManager=m')
    expect(json.message).toBe(
      'Crate.example.com "a" is invalid: spec.label: Invalid value: "null": spec.label in body must be of type string: "null"',
    )
    await create({ label: 'x' })
    expect((await apply({ label: null }, '?fieldManager=m')).code).toBe(409)
  })

  it('takes no time where it changes nothing but owners', async () => {
    await create({ label: 'x' })
    const { json } = await apply({ label: 'x' }, '?fieldManager=m')
    const own = json.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'm')
    expect(own).toMatchObject({ operation: 'Apply' })
    expect(own.time).toBeUndefined()
  })
})

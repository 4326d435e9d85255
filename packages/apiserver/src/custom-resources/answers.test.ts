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

it.each<[object, number, string]>([
  [
    { metadata: { name: 1 } },
    400,
    'Crate in version "v1" cannot be handled as a Crate: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  ],
  [
    { metadata: { name: 'a', labels: { b: 1 } } },
    400,
    'Crate in version "v1" cannot be handled as a Crate: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  ],
  [
    { apiVersion: 'example.com/v1', kind: 'Other' },
    422,
    'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Crate',
  ],
])('%j is refused', async (more, code, message) => {
  const { json } = await create({}, more)
  expect([json.code, json.message]).toEqual([code, message])
})

it('finalizers without a domain are warned of', async () => {
  const finalizers = ['x.example.com/y', 'with.dot', 'bare', 'kubernetes', 'orphan']
  const { headers } = await create({}, { metadata: { name: 'a', finalizers } })
  const [prefer, avoid] = [
    'prefer a domain-qualified finalizer name',
    'to avoid accidental conflicts with other finalizer writers',
  ]
  expect(headers.warning).toBe(
    `299 - "metadata.finalizers: \\"bare\\": ${prefer} ${avoid}", ` +
      `299 - "metadata.finalizers: \\"with.dot\\": ${prefer} including a path (/) ${avoid}"`,
  )
})

it('a subresource that there is not is an object that is not found', async () => {
  await create({})
  const { code, json } = await server.call(`${crates}/a/nothing`)
  expect([code, json.message]).toEqual([404, 'crates.example.com "a" not found'])
})

it('counts are checked where the scale finds them', async () => {
  const { json } = await create({ count: -1 })
  expect(json.message).toBe(
    'Crate.example.com "a" is invalid: .spec.count: Invalid value: -1: should be a non-negative integer',
  )
  await create({ count: 1 })
  const { json: scale } = await server.call(`${crates}/a/scale`)
  expect(scale.status).toEqual({ replicas: 0 })
  const scaled = await patch('merge', { spec: { replicas: -1 } }, '/a/scale')
  expect(scaled.json.message).toBe(json.message)
})

it('a deprecated version is warned of with the one to use instead', async () => {
  const definition = crateDefinition(
    [
      crateVersion('v1alpha1', { deprecated: true }),
      crateVersion('v1', { storage: true }),
      crateVersion('v1beta1'),
      crateVersion('v2', { deprecated: true }),
    ],
    { group: 'old.example.com' },
  )
  await establish(client, { ...definition, metadata: { name: 'crates.old.example.com' } })
  const warningOf = async (version: string) =>
    (await server.call(`/apis/old.example.com/${version}/namespaces/default/crates`)).headers.warning
  expect(await warningOf('v1alpha1')).toBe(
    '299 - "old.example.com/v1alpha1 Crate is deprecated; use old.example.com/v1 Crate"',
  )
  expect(await warningOf('v2')).toBe('299 - "old.example.com/v2 Crate is deprecated"')
})

it('tables show the first of what is found, and no column from one on that cannot be read', async () => {
  const columns = ['.spec.list[*]', '.spec.count', '.spec.[', '.spec.label'].map((jsonPath, index) => ({
    name: `C${index}`,
    type: 'string',
    jsonPath,
  }))
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const version = crateVersion('v1', { storage: true, schema, additionalPrinterColumns: columns })
  const definition = crateDefinition([version, crateVersion('v2')], { group: 'table.example.com' })
  await establish(client, { ...definition, metadata: { name: 'crates.table.example.com' } })
  const path = (name: string) => `/apis/table.example.com/${name}/namespaces/default/crates`
  await server.call(path('v1'), { method: 'POST', body: { metadata: { name: 'a' }, spec: { list: [1, 2], count: 3 } } })
  const tableOf = async (name: string) =>
    (await server.call(path(name), { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })).json
  const table = await tableOf('v1')
  expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'C0', 'C1'])
  expect(table.rows[0].cells).toEqual(['a', '1', '3'])
  expect((await tableOf('v2')).columnDefinitions[1]).toMatchObject({ name: 'Age', type: 'date' })
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

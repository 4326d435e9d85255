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

const type = { apiVersion: 'example.com/v1', kind: 'Crate' }

const create = (spec: object, more: object = {}, query = '') =>
  server.call(`${crates}${query}`, { method: 'POST', body: { ...type, metadata: { name: 'a' }, spec, ...more } })

const patch = (type: 'merge' | 'apply', body: object, path = '/a', query = '') =>
  server.call(`${crates}${path}${query}`, {
    method: 'PATCH',
    headers: { 'content-type': type === 'merge' ? 'application/merge-patch+json' : 'application/apply-patch+yaml' },
    body,
  })

const apply = (spec: object, query: string) =>
  patch('apply', { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a' }, spec }, '/a', query)

describe('metadata of a wrong type', () => {
  const field = (path: string, type: string) =>
    `json: cannot unmarshal number into Go struct field ${path} of type ${type}`

  it.each<[unknown, string]>([
    [5, 'json: cannot unmarshal number into Go value of type v1.ObjectMeta'],
    [{ uid: 5 }, field('ObjectMeta.uid', 'types.UID')],
    [{ creationTimestamp: 5 }, field('ObjectMeta.creationTimestamp', 'string')],
    [{ labels: { a: 5 } }, field('ObjectMeta.labels', 'string')],
    [{ ownerReferences: [{ uid: 5 }] }, field('OwnerReference.ownerReferences.uid', 'types.UID')],
    [
      { managedFields: [{ operation: 5 }] },
      field('ManagedFieldsEntry.managedFields.operation', 'v1.ManagedFieldsOperationType'),
    ],
    [{ managedFields: [{ time: 5 }] }, field('ManagedFieldsEntry.managedFields.time', 'string')],
  ])('is told of without what is around it: %j', async (metadata, problem) => {
    const { code, json } = await server.call(crates, { method: 'POST', body: { ...type, metadata } })
    expect([code, json.message]).toEqual([400, `Crate in version "v1" cannot be handled as a Crate: ${problem}`])
  })
})

describe('an object that does not say what it is', () => {
  const name = 'the object provided is unrecognized (must be of type Crate): '
  const version = (given: string) =>
    `the API version in the data (${given}) does not match the expected API version (example.com/v1)`
  const post = (body: unknown) => server.call(crates, { method: 'POST', body })

  it.each<[unknown, string]>([
    [{}, `${name}Object 'Kind' is missing in '{}' ({})`],
    [{ kind: '' }, `${name}Object 'Kind' is missing in '{"kind":""}' ({"kind":""})`],
    [
      { kind: null, apiVersion: 'v1' },
      `${name}Object 'Kind' is missing in '{"kind":null,"apiVersion":"v1"}' ({"kind":null,"apiVersion":"v1" ...)`,
    ],
    ['true', expect.stringContaining('json: cannot unmarshal bool into Go value of type struct {')],
    ['null', `${name}Object 'Kind' is missing in 'null' (6e756c6c)`],
    [
      { kind: 5 },
      `${name}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`,
    ],
    [
      { kind: 'Crate', apiVersion: 'a/b/c' },
      `${name}unexpected GroupVersion string: a/b/c ({"kind":"Crate","apiVersion":" ...)`,
    ],
    [{ kind: 'Crate' }, version('')],
    [{ kind: 'Crate', apiVersion: '/' }, version('')],
    [{ kind: 'Crate', apiVersion: '/v1' }, version('v1')],
    [{ kind: 'Crate', apiVersion: 'example.com/v2' }, version('example.com/v2')],
    [{ kind: 'Pod', apiVersion: 'v1' }, version('v1')],
  ])('is refused, such as %j', async (body, problem) => {
    const headers = { 'content-type': 'application/json' }
    const { code, json } = await server.call(crates, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    expect([code, json.message]).toEqual([400, problem])
  })

  it('is refused in YAML, with its text', async () => {
    const headers = { 'content-type': 'application/yaml' }
    const { json } = await server.call(crates, { method: 'POST', headers, body: 'metadata:\n  name: a\n' })
    expect(json.message).toContain("Object 'Kind' is missing in 'metadata:\n  name: a\n'")
  })

  it('is unknown where an object of a built-in kind is expected', async () => {
    const body = { ...type, metadata: { name: 'a' } }
    const { json } = await server.call('/api/v1/namespaces/default/configmaps', { method: 'POST', body })
    expect(json.message).toBe(
      'Crate in version "v1" cannot be handled as a ConfigMap: no kind "Crate" is registered for version "example.com/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    )
    expect((await post(body)).code).toBe(201)
  })
})

describe('an update that names another object', () => {
  const put = (metadata: object, more: object = {}) =>
    server.call(`${crates}/a`, { method: 'PUT', body: { ...type, metadata, ...more } })

  it('is refused by its namespace first, and warned of unknown fields, too', async () => {
    const { json } = await put({ name: 'b', namespace: 'other' })
    expect(json.message).toBe('the namespace of the provided object does not match the namespace sent on the request')
    const { headers } = await put({ name: 'b' }, { z: 1 })
    expect(headers.warning).toBe('299 - "unknown field \\"z\\""')
  })

  it('is warned of fields that occur twice', async () => {
    const body = '{"apiVersion":"example.com/v1","kind":"Crate","metadata":{"name":"b"},"metadata":{"name":"c"}}'
    const { headers } = await server.call(`${crates}/a`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(headers.warning).toBe('299 - "duplicate field \\"metadata\\""')
  })
})

it('a patch of what is not there is not found, whatever is wrong with the patch; a scale is not found as the object is not', async () => {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patched = await server.call(`${crates}/a`, { method: 'PATCH', headers, body: 'x' })
  expect([patched.code, patched.json.message]).toEqual([404, 'crates.example.com "a" not found'])
  expect((await server.call(`${crates}/a/scale`)).json.message).toBe('crates.example.com "a" not found')
  await create({})
  expect((await server.call(`${crates}/a`, { method: 'PATCH', headers, body: 'x' })).code).toBe(400)
})

it('has no type that could be named where metadata are asked of a list as of an object', async () => {
  const headers = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
  expect((await server.call(crates, { headers })).json.message).toBe(
    'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
  )
})

describe('methods of custom objects', () => {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const object = { ...type, metadata: { name: 'a' } }
  const refusal = (verb: string) => `${verb} is not supported on resources of kind "crates.example.com"`

  it.each<[string, string, number, string]>([
    ['OPTIONS', '', 405, refusal('')],
    ['TRACE', '/a', 405, refusal('')],
    ['POST', '/a/status', 405, refusal('create')],
    ['DELETE', '/a/status', 405, refusal('delete')],
    ['PUT', '', 400, 'name must be provided'],
    ['PATCH', '', 400, 'name must be provided'],
  ])('%s %s is refused as one handler for all of them does', async (method, path, code, message) => {
    const { json } = await server.call(`${crates}${path}`, { method, headers, body: {} })
    expect([json.code, json.message]).toEqual([code, message])
  })

  it('include HEAD, and POST to a path with a name, which says nothing', async () => {
    expect((await server.call(`${crates}/b`, { method: 'POST', body: object })).json.metadata.name).toBe('a')
    const { code, text } = await server.call(`${crates}/a`, { method: 'HEAD' })
    expect([code, text]).toEqual([200, ''])
    expect((await server.call(crates, { method: 'HEAD' })).code).toBe(200)
  })
})

it('an object that is created owns nothing of a deletion that it claims', async () => {
  const metadata = { name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }
  const { json } = await create({ label: 'x' }, { metadata })
  expect(json.metadata.managedFields[0].fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:label': {} } })
})

it('an update of another object names the key that upstream stores it under', async () => {
  await create({})
  const put = (path: string, body: object) => server.call(path, { method: 'PUT', body })
  const { json } = await put(`${crates}/a`, { ...type, metadata: { name: 'a', uid: 'x' } })
  expect(json.message).toContain('Key: /registry/example.com/crates/default/a,')
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.example.com'
  const found = (await server.call(definitions)).json
  const answer = await put(definitions, { ...found, metadata: { ...found.metadata, uid: 'x' } })
  expect(answer.json.message).toContain(
    'Key: /registry/apiextensions.k8s.io/customresourcedefinitions/crates.example.com,',
  )
})

it('a definition may have finalizers without a domain, as a custom object may', async () => {
  const answer = await server.call('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.example.com', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { finalizers: ['hold'] } },
  })
  expect(answer.code).toBe(200)
})

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

it('a count that is not there cannot be read, and can be written', async () => {
  await create({})
  const read = await server.call(`${crates}/a/scale`)
  expect([read.code, read.json.message]).toEqual([
    500,
    'Internal error occurred: the spec replicas field ".spec.count" does not exist',
  ])
  const empty = 'the spec replicas field ".spec.count" cannot be empty'
  for (const type of ['merge', 'apply'] as const) {
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' } }
    const answer = await patch(type, body, '/a/scale', '?fieldManager=m')
    expect([answer.code, answer.json.message]).toEqual([400, empty])
  }
  const patched = await patch('merge', { spec: { replicas: 2 } }, '/a/scale')
  expect([patched.code, patched.json.spec]).toEqual([200, { replicas: 2 }])
  await create({}, { metadata: { name: 'b' } })
  const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'b' }, spec: { replicas: 3 } }
  const put = await server.call(`${crates}/b/scale`, { method: 'PUT', body })
  expect([put.code, put.json.spec]).toEqual([200, { replicas: 3 }])
})

it('a patch of a scale may tell another uid, as that of an object may not', async () => {
  await create({ count: 1 })
  const body = { metadata: { uid: 'other' }, spec: { replicas: 2 } }
  expect((await patch('merge', body, '/a/scale')).json.spec).toEqual({ replicas: 2 })
  const replaced = { apiVersion: 'autoscaling/v1', kind: 'Scale', ...body, metadata: { name: 'a', uid: 'other' } }
  const { code, json } = await server.call(`${crates}/a/scale`, { method: 'PUT', body: replaced })
  expect([code, json.message]).toEqual([409, expect.stringMatching(/Precondition failed: UID in precondition: other/)])
})

it('a scale that names no version is for whichever there is', async () => {
  await create({ count: 1 })
  const { json: scale } = await server.call(`${crates}/a/scale`)
  const { resourceVersion, ...metadata } = scale.metadata
  const put = (metadata: object, replicas: number) =>
    server.call(`${crates}/a/scale`, { method: 'PUT', body: { ...scale, metadata, spec: { replicas } } })
  expect((await put(metadata, 3)).json.spec).toEqual({ replicas: 3 })
  expect((await put({ ...metadata, resourceVersion }, 4)).code).toBe(409)
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
  const body = {
    apiVersion: 'table.example.com/v1',
    kind: 'Crate',
    metadata: { name: 'a' },
    spec: { list: [1, 2], count: 3 },
  }
  await server.call(path('v1'), { method: 'POST', body })
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

describe('whole numbers that no JavaScript number holds', () => {
  const bigNumber = '9223372036854775807'

  it('stay as they are written, in what is created, patched, applied and read', async () => {
    const body = (name: string, label: string) =>
      `{"apiVersion":"example.com/v1","kind":"Crate","metadata":{"name":"${name}"},"spec":{${label}}}`
    const json = { 'content-type': 'application/json' }
    const created = await server.call(crates, {
      method: 'POST',
      headers: json,
      body: body('big', `"kept":{"count":${bigNumber}}`),
    })
    expect(created.text).toMatch(/"count": ?9223372036854775807/)
    const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
    const patched = await server.call(`${crates}/big`, { ...patch, body: '{"metadata":{"labels":{"a":"b"}}}' })
    expect(patched.text).toMatch(/"count": ?9223372036854775807/)
    const changed = await server.call(`${crates}/big`, {
      ...patch,
      body: '{"spec":{"kept":{"count":9007199254740993}}}',
    })
    expect(changed.text).toMatch(/"count": ?9007199254740993/)
    const yaml = await server.call(`${crates}/big`, { headers: { accept: 'application/yaml' } })
    expect(yaml.text).toContain('count: 9007199254740993\n')
    const applied = await server.call(`${crates}/big?fieldManager=m&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: body('big', `"kept":{"count":${bigNumber}}`),
    })
    expect(applied.text).toMatch(/"count": ?9223372036854775807/)
  })
})

it('what needs a namespace is not found without one', async () => {
  const [all] = crates.split('/namespaces')
  expect((await server.call(`${all}/crates`)).code).toBe(200)
  for (const method of ['POST', 'DELETE']) expect((await server.call(`${all}/crates`, { method })).code).toBe(404)
})

it('a number that no float64 holds is refused, rather than kept as a null', async () => {
  const body = '{"apiVersion":"example.com/v1","kind":"Crate","metadata":{"name":"a"},"spec":{"kept":{"count":1e400}}}'
  const { code, json } = await server.call(crates, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect([code, json.message]).toEqual([
    400,
    'Crate in version "v1" cannot be handled as a Crate: json: cannot unmarshal number 1e400 into Go value of type float64',
  ])
})

it('a default is given with the digits that its definition has', async () => {
  const count = { type: 'integer', default: 1 }
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { count } } } }
  const version = crateVersion('v1', { storage: true, schema: { openAPIV3Schema: schema } })
  const definition = crateDefinition([version], { group: 'exact.example.com' })
  await establish(client, { ...definition, metadata: { name: 'crates.exact.example.com' } })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.exact.example.com'
  const value =
    '{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/count/default",'
  const changed = await server.call(path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json-patch+json' },
    body: `[${value}"value":9007199254740993}]`,
  })
  expect(changed.text).toContain('"default":9007199254740993')
  const headers = { 'content-type': 'application/json' }
  const replaced = await server.call(path, { method: 'PUT', headers, body: changed.text })
  expect(replaced.text).toContain('"default":9007199254740993')
  await server.core.kindsSettled()
  const { text } = await server.call('/apis/exact.example.com/v1/namespaces/default/crates', {
    method: 'POST',
    body: { apiVersion: 'exact.example.com/v1', kind: 'Crate', metadata: { name: 'a' }, spec: {} },
  })
  expect(text).toContain('"spec":{"count":9007199254740993}')
})

describe('a status with a default', () => {
  const condition = { type: 'Accepted', status: 'Unknown' }
  const defaulted = {
    type: 'object',
    properties: {
      status: {
        type: 'object',
        default: { conditions: [condition] },
        properties: {
          conditions: { type: 'array', items: { type: 'object', properties: { type: text, status: text } } },
        },
      },
    },
  }

  it('is there from the start, whatever a creation says of it', async () => {
    const version = crateVersion('v1', { storage: true, schema: { openAPIV3Schema: defaulted }, subresources })
    await establish(client, {
      ...crateDefinition([version], { group: 'waiting.example.com' }),
      metadata: { name: 'crates.waiting.example.com' },
    })
    const { json } = await server.call('/apis/waiting.example.com/v1/namespaces/default/crates', {
      method: 'POST',
      body: {
        apiVersion: 'waiting.example.com/v1',
        kind: 'Crate',
        metadata: { name: 'a' },
        status: { conditions: [] },
      },
    })
    expect(json.status).toEqual({ conditions: [condition] })
  })
})

it('is not asked its rules where its name is missing', async () => {
  const ruled = { ...openAPIV3Schema, 'x-kubernetes-validations': [{ rule: 'false' }] }
  const version = crateVersion('v1', { storage: true, schema: { openAPIV3Schema: ruled } })
  await establish(client, {
    ...crateDefinition([version], { group: 'ruled.example.com' }),
    metadata: { name: 'crates.ruled.example.com' },
  })
  const { json } = await server.call('/apis/ruled.example.com/v1/namespaces/default/crates', {
    method: 'POST',
    body: { apiVersion: 'ruled.example.com/v1', kind: 'Crate' },
  })
  expect(json.message).toBe(
    'Crate.ruled.example.com "" is invalid: [metadata.name: Required value: name or generateName is required, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  )
})

import { type CustomResourceDefinition, customResourceDefinitions, scaleSchema } from '@coracle/api'
import type { Client } from '@coracle/client'
import { StoreUnavailableError } from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { decodeProtobuf, openProtobuf } from '../http/protobuf-decode.ts'
import { encodeProtobuf } from '../http/protobuf-encode.ts'
import { enveloped } from '../http/testing/encode-protobuf.ts'
import { TestServer } from '../http/testing/test-server.ts'
import { crateDefinition, crateVersion, crateVersionOfItsOwn, establish } from '../testing/custom-resources.ts'
import { startTestCore } from '../testing/test-core.ts'
import { firstRetryMs } from './custom-kinds.ts'

const path = (version: string, rest = '') => `/apis/example.com/${version}/namespaces/default/crates${rest}`
const post = (body: unknown) => ({ method: 'POST', body })
const put = (body: unknown) => ({ method: 'PUT', body })
const mergePatch = (body: unknown) => ({
  method: 'PATCH',
  body,
  headers: { 'Content-Type': 'application/merge-patch+json' },
})
const crate = (name: string, spec: object, version = 'v1') => ({
  apiVersion: `example.com/${version}`,
  kind: 'Crate',
  metadata: { name },
  spec,
})

let server: TestServer
let client: Client

beforeEach(async () => {
  server = await TestServer.start()
  client = server.core.client(apiServerUser)
})

afterEach(() => server.close())

const redefine = async (versions: readonly object[]) => {
  const old = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
  const spec = { ...old.spec, versions } as CustomResourceDefinition['spec']
  return client.update(customResourceDefinitions, { ...old, spec })
}

describe('a kind of a definition', () => {
  it('is not there before its names are accepted, and gone with its definition', async () => {
    await client.create(customResourceDefinitions, crateDefinition())
    expect((await server.call(path('v1'))).code).toBe(404)
    await client.delete(customResourceDefinitions, { name: 'crates.example.com' })
    await client.patch(
      customResourceDefinitions,
      { name: 'crates.example.com' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    await establish(client, crateDefinition())
    expect((await server.call(path('v1'))).json.kind).toBe('CrateList')
    const watch = await server.lines(`${path('v1')}?watch=1`)
    await client.delete(customResourceDefinitions, { name: 'crates.example.com' })
    const body = { metadata: { finalizers: null } }
    await client.patch(customResourceDefinitions, { name: 'crates.example.com' }, { type: 'merge', body })
    expect((await server.call(path('v1'))).code).toBe(404)
    expect((await server.call('/apis/example.com')).code).toBe(404)
    expect(await watch.next()).toBeUndefined()
  })

  it('keeps what its schema knows, without defaults or rules that no schema states', async () => {
    await establish(client, crateDefinition())
    const made = await server.call(path('v1'), post({ ...crate('a', { label: '', extra: 1 }), status: { state: 'x' } }))
    expect(made.code).toBe(201)
    expect(made.json).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Crate', spec: { label: '' } })
    expect(made.json.spec.extra).toBeUndefined()
    // Without a status subresource the status is a field as any other, and counts as a change.
    expect(made.json.status).toEqual({ state: 'x' })
    const changed = await server.call(path('v1', '/a'), put({ ...made.json, status: { state: 'y' } }))
    expect(changed.json.metadata.generation).toBe(2)
    const { resourceVersion: _, ...metadata } = changed.json.metadata
    expect((await server.call(path('v1', '/a'), put({ ...changed.json, metadata }))).text).toContain(
      'metadata.resourceVersion: Invalid value',
    )
    expect((await server.call(path('v1', '/a/status'))).code).toBe(404)
  })

  it('stands with each of its objects in lists, too', async () => {
    await establish(client, crateDefinition())
    await server.call(path('v1'), post(crate('a', {})))
    for (const query of ['', '?pretty=true']) {
      const { json } = await server.call(path('v1', query))
      expect(json.items).toMatchObject([{ apiVersion: 'example.com/v1', kind: 'Crate' }])
    }
  })

  it.each(['v1', 'v9'])('is not served in a group that is built in, in whatever version: %s', async (version) => {
    const group = 'coordination.k8s.io'
    for (const [plural, kind] of [
      ['leases', 'Lease'],
      ['crates', 'Crate'],
    ] as const) {
      const definition = crateDefinition([crateVersion(version, { storage: true })], { group, names: { plural, kind } })
      const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' }
      const named = { ...definition, metadata: { name: `${plural}.${group}`, annotations } }
      if (kind === 'Crate' || version === 'v1') await establish(client, named)
    }
    const { json } = await server.call(`/apis/${group}/v1`)
    expect(json.resources.map(({ name }: { name: string }) => name)).toEqual(['leases'])
    expect((await server.call(`/apis/${group}/v1/leases`)).json.kind).toBe('LeaseList')
    expect(await server.failure(`/apis/${group}/${version}/crates`)).toMatchObject({
      code: 404,
      message: 'the server could not find the requested resource',
    })
    const { json: groups } = await server.call(`/apis/${group}`)
    expect(groups.versions.map((each: { version: string }) => each.version)).toEqual(['v1'])
  })

  it('warns of finalizers without a domain', async () => {
    await establish(client, crateDefinition())
    const { headers } = await server.call(
      path('v1'),
      post({ ...crate('a', {}), metadata: { name: 'a', finalizers: ['hold'] } }),
    )
    expect(headers.warning).toContain('prefer a domain-qualified finalizer name')
  })
})

describe('several versions', () => {
  const both = [crateVersion('v1', { storage: true }), crateVersion('v2')]

  it('differ in nothing but their name', async () => {
    await establish(client, crateDefinition(both))
    await server.call(path('v2'), post(crate('a', { label: 'wine' }, 'v2')))
    expect((await server.call(path('v1', '/a'))).json).toMatchObject({
      apiVersion: 'example.com/v1',
      spec: { label: 'wine' },
    })
    expect((await server.call(path('v2', '/a'))).json).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { label: 'wine' },
    })
    const groups = (await server.call('/apis/example.com')).json
    expect(groups.preferredVersion.version).toBe('v2')
    const watch = await server.lines(`${path('v2')}?watch=1`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { apiVersion: 'example.com/v2' } })
    watch.close()
  })

  it('come and go, and take over the storage, with the objects there are', async () => {
    const defined = await client.create(customResourceDefinitions, crateDefinition(), { dryRun: true })
    expect(defined.status).toEqual({ acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    await establish(client, crateDefinition())
    await server.call(path('v1'), post(crate('a', { label: 'wine' })))
    await redefine([crateVersion('v1'), crateVersion('v2', { storage: true })])
    expect((await server.call(path('v2', '/a'))).json).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { label: 'wine' },
    })
    expect((await server.call(path('v1', '/a'))).json.apiVersion).toBe('example.com/v1')
    const { status } = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
    expect(status?.storedVersions).toEqual(['v1', 'v2'])
    await redefine([crateVersion('v1', { served: false }), crateVersion('v2', { storage: true })])
    expect((await server.call(path('v1', '/a'))).code).toBe(404)
    expect((await server.call(path('v2', '/a'))).code).toBe(200)
    await expect(redefine([crateVersion('v2', { storage: true })])).rejects.toThrow(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions',
    )
  })

  it('hold what is written through them to their own schema', async () => {
    const spec = {
      type: 'object',
      properties: { label: { type: 'string', maxLength: 3 }, weight: { type: 'integer' } },
    }
    const openAPIV3Schema = { type: 'object', properties: { spec } }
    const short = crateVersion('v2', { schema: { openAPIV3Schema } })
    await establish(client, crateDefinition([crateVersion('v1', { storage: true }), short]))
    expect((await server.call(path('v1'), post(crate('a', { label: 'long' })))).code).toBe(201)
    const refused = await server.call(path('v2'), post(crate('b', { label: 'long', weight: 0 }, 'v2')))
    // That the version it is stored in asks for more weight is nothing to this one.
    expect(refused.json.details.causes.map(({ field }: { readonly field: string }) => field)).toEqual(['spec.label'])
    // What is as it was is not held against the object.
    const { json } = await server.call(path('v2', '/a'))
    const changed = { ...json, spec: { ...json.spec, weight: 2 } }
    expect((await server.call(path('v2', '/a'), put(changed))).code).toBe(200)
  })

  it('warn where they are deprecated', async () => {
    const old = crateVersion('v1', { storage: true, deprecated: true })
    await establish(
      client,
      crateDefinition([old, crateVersion('v2', { deprecated: true, deprecationWarning: 'Use v3.' })]),
    )
    expect((await server.call(path('v1'))).headers.warning).toContain('example.com/v1 Crate is deprecated')
    expect((await server.call(path('v2'))).headers.warning).toContain('Use v3.')
  })
})

describe('a client in process', () => {
  const crates = { group: 'example.com', version: 'v1', kind: 'Crate', plural: 'crates', namespaced: true }

  it('finds a kind whose definition has been acknowledged', async () => {
    await establish(client, crateDefinition())
    const object = { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a', namespace: 'default' } }
    expect((await client.create(crates, object)).metadata.name).toBe('a')
  })

  it('finds it also where another server has acknowledged it', async () => {
    const real = createMemoryStore()
    const [one, two] = await Promise.all(
      [faultyStore(real), faultyStore(real)].map(async (store) => {
        const core = await TestServer.start({ store })
        onTestFinished(() => core.close())
        return core
      }),
    )
    await establish(one?.core.client(apiServerUser) as Client, crateDefinition())
    expect((await two?.call(path('v1'), post(crate('a', {}))))?.code).toBe(201)
    expect((await two?.core.client(apiServerUser).list(crates))?.items).toHaveLength(1)
    expect((await two?.call('/apis/example.com'))?.json.versions).toHaveLength(1)
  })
})

it.each([
  ['short', ''],
  ['long', '# and more\n'.repeat(1_000)],
])('keeps whole numbers as they are written in YAML: %s', async (name, comment) => {
  await establish(client, crateDefinition())
  const yaml = (weight: string) =>
    `${comment}apiVersion: example.com/v1\nkind: Crate\nmetadata: {name: ${name}}\nspec: {weight: ${weight}}\n`
  const headers = { 'Content-Type': 'application/yaml' }
  const created = await server.call(path('v1'), { method: 'POST', headers, body: yaml('9007199254740993') })
  expect(created.text).toContain('"weight":9007199254740993}')
  const applied = await server.call(`${path('v1', `/${name}`)}?fieldManager=a&force=true`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: yaml('9223372036854775807'),
  })
  expect(applied.text).toContain('"weight":9223372036854775807}')
})

describe('where the store is away', () => {
  const startedCore = async () => {
    const { core, store, environment } = await startTestCore()
    const pages = vi.spyOn(store, 'pages')
    const goAway = () =>
      pages.mockImplementationOnce(() => {
        throw new StoreUnavailableError('here', 'it is away')
      })
    const registry = () => core.registries.byResource('example.com', 'v1', 'crates')
    const settle = async () => {
      await core.kindsSettled()
      await environment.clock.advance(firstRetryMs)
      await core.kindsSettled()
    }
    return { core, client: core.client(apiServerUser), pages, goAway, registry, settle }
  }

  it('a kind is served when it is there again', async () => {
    const { core, client, goAway, registry, settle } = await startedCore()
    goAway()
    await establish(client, crateDefinition())
    await core.kindsSettled()
    expect(registry()).toBeUndefined()
    await settle()
    expect(registry()).toBeDefined()
  })

  it('a kind is stored in another version when it is there again', async () => {
    const { core, client, goAway, registry, settle } = await startedCore()
    await establish(client, crateDefinition())
    await core.kindsSettled()
    goAway()
    const old = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
    const versions = [crateVersion('v1'), crateVersion('v2', { storage: true })]
    const spec = { ...old.spec, versions } as CustomResourceDefinition['spec']
    await client.update(customResourceDefinitions, { ...old, spec })
    await core.kindsSettled()
    expect(registry()).toBeUndefined()
    await settle()
    expect(registry()?.storage.kind.version).toBe('v2')
  })

  it('objects are read by a new schema when it is there again', async () => {
    const { core, client, pages, goAway, registry, settle } = await startedCore()
    await establish(client, crateDefinition())
    await core.kindsSettled()
    const before = registry()
    expect(before).toBeDefined()
    goAway()
    pages.mockClear()
    const old = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
    const properties = { spec: { type: 'object', properties: { label: { type: 'string' } } } }
    const schema = { openAPIV3Schema: { type: 'object', properties } }
    const versions = [crateVersion('v1', { storage: true, schema })] as CustomResourceDefinition['spec']['versions']
    await client.update(customResourceDefinitions, { ...old, spec: { ...old.spec, versions } })
    await core.kindsSettled()
    expect([registry() === before, pages.mock.calls.length]).toEqual([true, 1])
    await settle()
    expect([registry() === before, pages.mock.calls.length]).toEqual([false, 2])
  })
})

it('is served while it goes, where it serves no version, so that its objects can go', async () => {
  await establish(client, crateDefinition())
  await server.call(path('v1'), post(crate('a', {})))
  await redefine([crateVersion('v1', { storage: true, served: false })])
  expect((await server.call(path('v1'))).code).toBe(404)
  await client.delete(customResourceDefinitions, { name: 'crates.example.com' })
  expect((await server.call(path('v1'))).json.items).toHaveLength(1)
})

it.each<[string, CustomResourceDefinition]>([
  ['', crateDefinition()],
  [
    ', where it has columns, fields to select by, a scale and another version',
    crateDefinition([
      crateVersionOfItsOwn('v1', {
        storage: true,
        additionalPrinterColumns: [{ name: 'Label', type: 'string', jsonPath: '.spec.label' }],
        selectableFields: [{ jsonPath: '.spec.label' }],
        subresources: { scale: { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' } },
      }),
      crateVersion('v2'),
    ]),
  ],
])('tells those who watch that its objects go with its definition%s', async (_, definition) => {
  await establish(client, definition)
  await server.call(path('v1'), post(crate('a', {})))
  const watch = await server.lines(`${path('v1')}?watch=1`)
  expect(await watch.next()).toMatchObject({ type: 'ADDED' })
  await client.delete(customResourceDefinitions, { name: 'crates.example.com' })
  // Its objects are given no time, as the apiextensions server 1.36.4 answers.
  const { metadata } = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
  expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), generation: 1 })
  expect(metadata.deletionGracePeriodSeconds).toBeUndefined()
  const refused = await server.call(path('v1'), post(crate('b', {})))
  expect([refused.code, refused.json.message]).toEqual([
    403,
    'crates.example.com "b" is forbidden: create not allowed while custom resource definition is terminating',
  ])
  await server.call(path('v1', '/a'), { method: 'DELETE' })
  expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } })
  watch.close()
})

describe('the scale of a version', () => {
  it('is read and written in protobuf, too, which the object is not', async () => {
    const scale = { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' }
    await establish(client, crateDefinition([crateVersion('v1', { storage: true, subresources: { scale } })]))
    await server.call(path('v1'), post(crate('a', { weight: 3 })))
    const type = 'application/vnd.kubernetes.protobuf'
    const headers = { accept: type, 'content-type': type }
    expect((await server.call(path('v1', '/a'), { headers })).code).toBe(406)
    const read = await server.call(path('v1', '/a/scale'), { headers })
    expect([read.code, read.headers['content-type']]).toEqual([200, type])
    const { apiVersion, kind, raw } = openProtobuf(read.bytes)
    const { metadata, ...rest } = decodeProtobuf(scaleSchema, raw)
    expect({ apiVersion, kind, ...rest }).toEqual({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      spec: { replicas: 3 },
      status: { replicas: 0 },
    })
    const body = enveloped(apiVersion, kind, encodeProtobuf(scaleSchema, { metadata, spec: { replicas: 5 } }))
    const written = await server.call(path('v1', '/a/scale'), { method: 'PUT', body, headers })
    expect(decodeProtobuf(scaleSchema, openProtobuf(written.bytes).raw)).toMatchObject({ spec: { replicas: 5 } })
  })

  it('is had by whoever takes any type of an application, as the object is', async () => {
    const scale = { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' }
    await establish(client, crateDefinition([crateVersion('v1', { storage: true, subresources: { scale } })]))
    await server.call(path('v1'), post(crate('a', { weight: 3 })))
    for (const accept of ['application/*', 'text/*;q=1,application/*;q=0.5']) {
      for (const rest of ['/a', '/a/scale']) {
        const read = await server.call(path('v1', rest), { headers: { accept } })
        expect([read.code, read.headers['content-type']]).toEqual([200, 'application/json'])
      }
      const { json } = await server.call(path('v1', '/a/scale'))
      expect((await server.call(path('v1', '/a/scale'), { ...put(json), headers: { accept } })).code).toBe(200)
    }
    expect((await server.call(path('v1', '/a/scale'), { headers: { accept: 'text/*' } })).json.message).toBe(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
  })

  it('is what a conflict tells of, whatever field it stands for', async () => {
    const scale = { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' }
    await establish(client, crateDefinition([crateVersion('v1', { storage: true, subresources: { scale } })]))
    await server.call(`${path('v1')}?fieldManager=maker`, post(crate('a', { weight: 3 })))
    const applied = (manager: string, replicas: number) =>
      server.call(`${path('v1', '/a/scale')}?fieldManager=${manager}`, {
        method: 'PATCH',
        body: { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas } },
        headers: { 'Content-Type': 'application/apply-patch+yaml' },
      })
    const ofMaker = await applied('m', 5)
    expect([ofMaker.code, ofMaker.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
    ])
    expect(ofMaker.json.details.causes).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "maker" using autoscaling/v1',
        field: '.spec.replicas',
      },
    ])
    expect((await applied('m', 3)).code).toBe(200)
    await server.call(`${path('v1', '/a/scale')}?fieldManager=scaler`, mergePatch({ spec: { replicas: 4 } }))
    expect((await applied('m', 5)).json.message).toBe(
      'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using autoscaling/v1: .spec.replicas',
    )
  })

  it('is where that version has it', async () => {
    const counted = (name: string, field: string, more: object) => {
      const spec = { type: 'object', properties: { size: { type: 'integer' }, count: { type: 'integer' } } }
      const scale = { specReplicasPath: `.spec.${field}`, statusReplicasPath: `.status.${field}` }
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
      return crateVersion(name, { schema, subresources: { scale }, ...more })
    }
    await establish(client, crateDefinition([counted('v1', 'size', { storage: true }), counted('v2', 'count', {})]))
    await server.call(path('v1'), post(crate('a', { size: 1, count: 2 })))
    const replicas = async (version: string) => (await server.call(path(version, '/a/scale'))).json.spec.replicas
    expect([await replicas('v1'), await replicas('v2')]).toEqual([1, 2])
    const { json: scale } = await server.call(path('v2', '/a/scale'))
    expect((await server.call(path('v2', '/a/scale'), put({ ...scale, spec: { replicas: 5 } }))).code).toBe(200)
    const body = { spec: { replicas: 7 } }
    expect((await server.call(path('v2', '/a/scale'), mergePatch(body))).json.spec.replicas).toBe(7)
    const { managedFields } = (await server.call(path('v1', '/a'))).json.metadata
    expect(managedFields.filter(({ subresource }: { subresource?: string }) => subresource === 'scale')).toMatchObject([
      { apiVersion: 'example.com/v2', fieldsV1: { 'f:spec': { 'f:count': {} } } },
    ])
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ size: 1, count: 7 })
  })

  it('is there in the versions that have one', async () => {
    const subresources = { scale: { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' } }
    await establish(
      client,
      crateDefinition([crateVersion('v1', { storage: true }), crateVersion('v2', { subresources })]),
    )
    await server.call(path('v1'), post(crate('a', { weight: 3 })))
    expect((await server.call(path('v1', '/a/scale'))).code).toBe(404)
    expect((await server.call(path('v2', '/a/scale'))).json.spec.replicas).toBe(3)
  })
})

describe('what was stored under another definition', () => {
  const labelled = (properties: object) =>
    crateVersion('v1', {
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
    })
  const [text, preset] = [{ type: 'string' }, { type: 'string', default: 'red' }]

  it('has the defaults that came later, and not the fields that went', async () => {
    await establish(client, crateDefinition([labelled({ label: text, size: text })]))
    await server.call(path('v1'), post(crate('a', { label: 'wine', size: 'xl' })))
    await redefine([labelled({ label: text, colour: preset })])
    const spec = { label: 'wine', colour: 'red' }
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual(spec)
    expect((await server.call(path('v1'))).json.items[0].spec).toEqual(spec)
    // What is stored is as it was, until somebody writes it.
    await redefine([labelled({ label: text, size: text })])
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ label: 'wine', size: 'xl' })
  })

  it('is stored as it is shown by a write that changes nothing', async () => {
    await establish(client, crateDefinition([labelled({ label: text, size: text })]))
    await server.call(path('v1'), post(crate('a', { label: 'wine', size: 'xl' })))
    await redefine([labelled({ label: text, colour: preset })])
    const { json } = await server.call(path('v1', '/a'))
    const written = await server.call(path('v1', '/a'), put(json))
    expect(Number(written.json.metadata.resourceVersion)).toBeGreaterThan(Number(json.metadata.resourceVersion))
    const again = await server.call(path('v1', '/a'), put(written.json))
    expect(again.json.metadata.resourceVersion).toBe(written.json.metadata.resourceVersion)
    await redefine([labelled({ label: text, size: text, colour: text })])
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ label: 'wine', colour: 'red' })
  })

  it('is shown without what is malformed where the schema has come to say that there is an object', async () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    await establish(client, crateDefinition([labelled({ part: open, parts: { type: 'array', items: open } })]))
    const metadata = { name: 'p', labels: { invalid: 'x y' }, annotations: { count: 42 }, unknown: 1 }
    const part = { apiVersion: 'v1', kind: 7, metadata, data: 'x' }
    await server.call(path('v1'), post(crate('a', { part, parts: [part, { metadata: 'none' }] })))
    const object = { ...open, 'x-kubernetes-embedded-resource': true }
    await redefine([labelled({ part: object, parts: { type: 'array', items: object } })])
    const { json } = await server.call(path('v1', '/a'))
    const kept = { apiVersion: 'v1', metadata: { name: 'p', labels: { invalid: 'x y' } }, data: 'x' }
    expect(json.spec).toEqual({ part: kept, parts: [kept, {}] })
    expect((await server.call(path('v1'))).json.items).toHaveLength(1)
    expect((await server.call(path('v1', '/a'), { method: 'DELETE' })).code).toBe(200)
  })

  it('is no change to those who watch', async () => {
    await establish(client, crateDefinition([labelled({ label: text })]))
    await server.call(path('v1'), post(crate('a', { label: 'wine' })))
    await redefine([labelled({ label: text, colour: preset })])
    const watch = await server.lines(`${path('v1')}?watch=1`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { spec: { colour: 'red' } } })
    await server.call(path('v1'), post(crate('b', {})))
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
    watch.close()
  })

  it('is shown so after a restart too', async () => {
    const store = createMemoryStore()
    const first = await startTestCore({ store })
    const crates = { group: 'example.com', version: 'v1', kind: 'Crate', plural: 'crates', namespaced: true }
    const made = await establish(first.client, crateDefinition([labelled({ label: text })]))
    await first.environment.clock.settle()
    const object = { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a', namespace: 'default' } }
    await first.client.create(crates, { ...object, spec: { label: 'wine' } } as never)
    await first.client.update(customResourceDefinitions, {
      ...made,
      spec: { ...made.spec, versions: [labelled({ label: text, colour: preset })] } as never,
    })
    await first.core.close()
    const second = await startTestCore({ store })
    const { items } = await second.client.list(crates)
    expect(items).toMatchObject([{ spec: { label: 'wine', colour: 'red' } }])
  })
})

it('shows in a version what that one knows', async () => {
  const spec = { type: 'object', properties: { label: { type: 'string' } } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  await establish(client, crateDefinition([crateVersion('v1', { storage: true }), crateVersion('v2', { schema })]))
  await server.call(path('v1'), post(crate('a', { label: 'wine', weight: 3 })))
  expect((await server.call(path('v2', '/a'))).json.spec).toEqual({ label: 'wine' })
  expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ label: 'wine', weight: 3 })
})

describe('objects that no longer fit', () => {
  it('stay readable, and can be changed where they do not get worse', async () => {
    await establish(client, crateDefinition())
    const { json } = await server.call(path('v1'), post(crate('a', { label: 'wine', weight: 3 })))
    const text = { type: 'string' }
    const spec = { type: 'object', properties: { label: text, weight: { type: 'integer', minimum: 5 } } }
    const openAPIV3Schema = { type: 'object', properties: { spec } }
    await redefine([crateVersion('v1', { storage: true, schema: { openAPIV3Schema } })])
    expect((await server.call(path('v1', '/a'))).json.spec.weight).toBe(3)
    const changed = { ...json, spec: { label: 'beer', weight: 3 } }
    expect((await server.call(path('v1', '/a'), put(changed))).code).toBe(200)
    const { json: now } = await server.call(path('v1', '/a'))
    const worse = await server.call(path('v1', '/a'), put({ ...now, spec: { weight: 2 } }))
    expect(worse.json.message).toContain('spec.weight: Invalid value: 2: ')
  })
})

it('shows objects of a version that is not served any more in those that are, after a restart too', async () => {
  const store = createMemoryStore()
  const first = await startTestCore({ store })
  const v1 = { group: 'example.com', version: 'v1', kind: 'Crate', plural: 'crates', namespaced: true }
  const { spec } = await establish(first.client, crateDefinition())
  await first.environment.clock.settle()
  const object = { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a', namespace: 'default' } }
  await first.client.create(v1, object)
  const versions = [crateVersion('v1', { served: false }), crateVersion('v2', { storage: true })]
  const body = { spec: { ...spec, versions } }
  await first.client.patch(customResourceDefinitions, { name: 'crates.example.com' }, { type: 'merge', body })
  await first.environment.clock.settle()
  await first.core.close()
  const second = await startTestCore({ store })
  const { items } = await second.client.list({ ...v1, version: 'v2' })
  expect(items.map(({ apiVersion }) => apiVersion)).toEqual(['example.com/v2'])
})

it('is there again after a restart, before the server is ready, with its objects', async () => {
  const store = createMemoryStore()
  const first = await startTestCore({ store })
  const crates = { group: 'example.com', version: 'v1', kind: 'Crate', plural: 'crates', namespaced: true }
  await establish(first.client, crateDefinition())
  await first.environment.clock.settle()
  await first.client.create(crates, {
    apiVersion: 'example.com/v1',
    kind: 'Crate',
    metadata: { name: 'a', namespace: 'default' },
  })
  await first.core.close()
  const second = await startTestCore({ store })
  expect((await second.client.list(crates)).items.map(({ metadata }) => metadata.name)).toEqual(['a'])
})

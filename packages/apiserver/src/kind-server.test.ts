import { once } from 'node:events'
import {
  convertedVersion,
  internalError,
  type KubernetesObject,
  kind,
  kindSchema,
  object,
  optional,
  string,
} from '@coracle/api'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { adminToken, TestServer } from './http/testing/test-server.ts'
import { startTestCore } from './testing/test-core.ts'

const prefix = 'test.example'
const group = 'example.com'

/** A kind as a CustomResourceDefinition would make it: `example.com/v1` crates, and `v2` which calls the label a mark. */
const crateSchema = kindSchema(`${prefix}.v1.Crate`, 'A crate.', {
  spec: optional(object('', 'What it is.', { label: optional(string(), 'What is written on it.') }), 'What it is.'),
  status: optional(object('', 'How it is.', { state: optional(string(), 'How it is.') }), 'How it is.'),
})
const crateV2Schema = kindSchema(`${prefix}.v2.Crate`, 'A crate.', {
  mark: optional(string(), 'What is written on it.'),
})
type Crate = KubernetesObject & { readonly spec?: { readonly label?: string }; readonly mark?: string }

const names = { group, plural: 'crates', shortNames: ['cr'] }
const v2 = (more: object = {}) =>
  convertedVersion(crateV2Schema, {
    ...names,
    // As a webhook would: after a while.
    toHub: async ({ mark, ...crate }: Crate) => ({ ...crate, spec: { label: mark } }),
    fromHub: async ({ spec, ...crate }: Crate) => {
      if (spec?.label === 'unspeakable') throw internalError('the webhook failed')
      return { ...crate, mark: spec?.label }
    },
    columns: [],
    hubFields: { mark: 'spec.label' },
    ...more,
  } as never)
const label = (crate: unknown): string => (crate as Crate).spec?.label ?? ''
const selectableFields = { 'spec.label': label }
const crates = kind(crateSchema, { ...names, finalizers: 'any', selectableFields })
const both = kind(crateSchema, { ...names, finalizers: 'any', selectableFields, versions: [v2()] } as never)

const crate = (name: string, text: string) => ({ metadata: { name }, spec: { label: text } })
const path = (version: string, rest = '') => `/apis/${group}/${version}/namespaces/default/crates${rest}`

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})

afterEach(() => server.close())

describe('a kind made while the server serves', () => {
  it('is there once it is added, in discovery and OpenAPI too', async () => {
    expect((await server.call(path('v1'))).code).toBe(404)
    expect((await server.call(`/apis/${group}`)).code).toBe(404)
    const before = await server.call('/openapi/v2')
    await server.core.kinds.add(crates)
    expect((await server.call(path('v1'), { method: 'POST', body: crate('a', 'wine') })).code).toBe(201)
    expect((await server.call(path('v1', '/a'))).json).toMatchObject({ kind: 'Crate', spec: { label: 'wine' } })
    const { json } = await server.call(`/apis/${group}/v1`)
    expect(json.resources.map((each: { name: string }) => each.name)).toEqual(['crates', 'crates/status'])
    expect((await server.call('/apis')).text).toContain(`"name":"${group}"`)
    const after = await server.call('/openapi/v2')
    expect(after.headers.etag).not.toBe(before.headers.etag)
    expect(after.text).toContain(`/apis/${group}/v1/namespaces/{namespace}/crates`)
    expect((await server.call(`/openapi/v3/apis/${group}/v1`)).code).toBe(200)
  })

  it('is not watched by a client that has gone before it is there', async () => {
    const [asked, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    vi.spyOn(server.core, 'kindsSettled').mockImplementationOnce(() => {
      asked.resolve()
      return made.promise
    })
    const socket = await server.connect()
    const head = `GET ${path('v1')}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`
    socket.write(head)
    await asked.promise
    await once(socket.destroy(), 'close')
    await server.core.kinds.add(crates)
    // By its answer the server has heard of the end of the connection before.
    await server.call('/version')
    made.resolve()
    await server.call(path('v1'))
    const watched = { group, plural: 'crates', namespace: 'default', name: '' }
    expect(server.core.clientWatches.interestedIn(watched)).toBe(0)
  })

  it('is gone once it is removed, watches too, and finds its objects again', async () => {
    await server.core.kinds.add(crates)
    await server.call(path('v1'), { method: 'POST', body: crate('a', 'wine') })
    const watch = await server.lines(`${path('v1')}?watch=1`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    server.core.kinds.remove(crates.storageKey)
    expect(await watch.next()).toBeUndefined()
    expect((await server.call(path('v1', '/a'))).code).toBe(404)
    expect((await server.call(path('v1', '/a/status'))).code).toBe(404)
    expect((await server.call(`/apis/${group}/v1`)).code).toBe(404)
    await server.core.kinds.add(crates)
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ label: 'wine' })
  })

  it('is told to whoever follows, once whatever its versions', async () => {
    const told: string[] = []
    const { kinds, registries } = server.core
    const stop = registries.onChange(({ type, kind: of }) => told.push(`${type} ${of.plural} ${of.versions.length}`))
    const { generation } = registries
    await kinds.add(crates)
    await kinds.change(both)
    expect(registries.resources().filter(({ plural }) => plural === 'crates')).toHaveLength(1)
    kinds.remove(both.storageKey)
    stop()
    await kinds.add(crates)
    expect(told).toEqual(['added crates 0', 'changed crates 1', 'removed crates 1'])
    expect(registries.generation).toBe(generation + 4)
  })

  it('cannot have the place of another', async () => {
    const { kinds } = server.core
    const adding = kinds.add(crates)
    await expect(kinds.add(both)).rejects.toThrow('example.com/crates')
    await adding
    await expect(kinds.add(crates)).rejects.toThrow('example.com/crates')
    expect((await server.call(path('v1'))).code).toBe(200)
  })
})

it('can be tried again where a kind could not be read', async () => {
  const { core, store } = await startTestCore()
  vi.spyOn(store, 'pages').mockImplementationOnce(() => {
    throw new Error('the store is away')
  })
  await expect(core.kinds.add(crates)).rejects.toThrow('the store is away')
  expect(core.registries.byResource(group, 'v1', 'crates')).toBeUndefined()
  await core.kinds.add(crates)
  expect(core.registries.byResource(group, 'v1', 'crates')).toBeDefined()
})

describe('a version that comes and goes', () => {
  beforeEach(() => server.core.kinds.add(crates))

  it('shows what is there, and leaves watches through the other alone', async () => {
    await server.call(path('v1'), { method: 'POST', body: crate('a', 'wine') })
    const watch = await server.lines(`${path('v1')}?watch=1`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    expect((await server.call(path('v2', '/a'))).code).toBe(404)
    await server.core.kinds.change(both)
    expect((await server.call(path('v2', '/a'))).json).toMatchObject({ apiVersion: `${group}/v2`, mark: 'wine' })
    const other = await server.lines(`${path('v2')}?watch=1`)
    expect(await other.next()).toMatchObject({ type: 'ADDED', object: { mark: 'wine' } })
    await server.core.kinds.change(crates)
    expect(await other.next()).toBeUndefined()
    expect((await server.call(path('v2', '/a'))).code).toBe(404)
    await server.call(path('v1'), { method: 'POST', body: crate('b', 'beer') })
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
    watch.close()
  })

  it('is preferred in discovery where it is newer, and has the hash of what is stored', async () => {
    await server.core.kinds.change(both)
    const { json } = await server.call(`/apis/${group}`)
    expect(json.versions.map((each: { version: string }) => each.version)).toEqual(['v2', 'v1'])
    expect(json.preferredVersion.version).toBe('v2')
    const hashes = await Promise.all(
      ['v1', 'v2'].map(async (version) => (await server.call(`/apis/${group}/${version}`)).json.resources[0]),
    )
    expect(hashes[0].storageVersionHash).toBe(hashes[1].storageVersionHash)
  })

  it('that is stored as another is converted when it is read again', async () => {
    await server.call(path('v1'), { method: 'POST', body: crate('a', 'wine') })
    const hub = kind(crateV2Schema, {
      ...names,
      finalizers: 'any',
      versions: [
        convertedVersion(crateSchema, {
          ...names,
          toHub: ({ spec, ...each }: Crate) => ({ ...each, mark: spec?.label }),
          fromHub: ({ mark, ...each }: Crate) => ({ ...each, spec: { label: mark } }),
        } as never),
      ],
    } as never)
    await server.core.kinds.change(hub)
    expect((await server.call(path('v2', '/a'))).json).toMatchObject({ apiVersion: `${group}/v2`, mark: 'wine' })
    const patch = { method: 'PATCH', headers: { 'Content-Type': 'application/merge-patch+json' } }
    const patched = await server.call(path('v1', '/a'), { ...patch, body: '{"spec":{"label":"beer"}}' })
    expect(patched.json).toMatchObject({ apiVersion: `${group}/v1`, spec: { label: 'beer' } })
  })
})

describe('a version that takes its time to convert', () => {
  beforeEach(() => server.core.kinds.add(both))

  it('is written, read, listed and selected by its own fields', async () => {
    const created = await server.call(path('v2'), { method: 'POST', body: { metadata: { name: 'a' }, mark: 'wine' } })
    expect([created.code, created.json.mark]).toEqual([201, 'wine'])
    expect((await server.call(path('v1', '/a'))).json.spec).toEqual({ label: 'wine' })
    await server.call(path('v1'), { method: 'POST', body: crate('b', 'beer') })
    const { json } = await server.call(`${path('v2')}?fieldSelector=mark=beer`)
    expect(json).toMatchObject({ apiVersion: `${group}/v2`, items: [{ metadata: { name: 'b' }, mark: 'beer' }] })
    expect((await server.call(`${path('v2')}?fieldSelector=spec.label=beer`)).code).toBe(400)
  })

  it('delivers events in their order', async () => {
    const watch = await server.lines(`${path('v2')}?watch=1`)
    for (const name of ['a', 'b', 'c']) await server.call(path('v1'), { method: 'POST', body: crate(name, name) })
    const events = [await watch.next(), await watch.next(), await watch.next()]
    expect(events.map(({ object: { mark } }) => mark)).toEqual(['a', 'b', 'c'])
    watch.close()
  })

  it('ends a watch with an error where an object cannot be shown, and refuses to show it', async () => {
    const watch = await server.lines(`${path('v2')}?watch=1`)
    await server.call(path('v1'), { method: 'POST', body: crate('a', 'unspeakable') })
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    expect(await watch.next()).toBeUndefined()
    expect((await server.call(path('v2', '/a'))).code).toBe(500)
    expect((await server.call(path('v1', '/a'))).code).toBe(200)
  })
})

describe('a deprecated version', () => {
  it('warns whoever uses it, whatever for', async () => {
    const text = 'example.com/v1 Crate is deprecated'
    await server.core.kinds.add(kind(crateSchema, { ...names, deprecated: text }))
    const warning = `299 - "${text}"`
    const created = await server.call(path('v1'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"metadata":{"name":"a"},"spce":{}}',
    })
    expect(created.headers.warning).toBe(`${warning}, 299 - "unknown field \\"spce\\""`)
    for (const rest of ['', '/a', '/a/status']) {
      expect((await server.call(path('v1', rest))).headers.warning).toBe(warning)
    }
    const watch = await server.lines(`${path('v1')}?watch=1`)
    expect(watch.answer.headers.warning).toBe(warning)
    watch.close()
    expect((await server.call(path('v1', '/none'))).headers.warning).toBe(warning)
  })
})

import {
  apiVersionOf,
  type ConfigMap,
  configMaps,
  customResourceDefinitions,
  type KubernetesObject,
  pods,
  secrets,
} from '@coracle/api'
import { createLogger, virtualEnvironment } from '@coracle/environment'
import type { SoleWriterStore } from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'
import { configMap, follow, refusal, startTestCore } from '../testing/test-core.ts'

const a = { namespace: 'default', name: 'a' }
const keyOf = (name: string, namespace = 'default') => `/registry/core/configmaps/${namespace}/${name}`
const garbage = Buffer.from('{"kind"')

const corrupt = (key: string, revision: number): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: `

/** A server on a store that somebody else writes to, and what its log says. */
async function startServer(store: SoleWriterStore = createMemoryStore()) {
  const logged: string[] = []
  const way = faultyStore(store)
  const environment = {
    ...virtualEnvironment(),
    logger: createLogger(({ level, message, fields }) => {
      if (message.includes('stored object')) logged.push(`${level} ${message}: ${fields?.key}`)
    }),
  }
  let failure: Error | undefined
  const started = await startTestCore({
    store: way,
    environment,
    onFailure: (error) => {
      failure = error
    },
  })
  const { clock } = environment
  const write = async (key: string, value: Uint8Array | undefined) => {
    const operation = value === undefined ? ({ type: 'delete', key } as const) : ({ type: 'put', key, value } as const)
    const { revision } = await store.commit({ conditions: [], operations: [operation] })
    await clock.settle()
    return revision
  }
  const object = (name: string, data: Readonly<Record<string, string>> = {}) =>
    Buffer.from(JSON.stringify(configMap(name, data)))
  const watch = async (options: object = {}) => {
    const following = follow((await started.client.watch(configMaps, options)) as never)
    await clock.settle()
    return following
  }
  return { ...started, clock, way, write, object, watch, logged, failure: () => failure }
}

type Server = Awaited<ReturnType<typeof startServer>>

/** A config map that somebody has overwritten with what is none, seen by a watch. */
async function corrupted() {
  const server = await startServer()
  const { metadata } = await server.client.create(configMaps, configMap('a', { x: '1' }))
  await server.client.create(configMaps, configMap('b'))
  const following = await server.watch({ resourceVersion: '0' })
  following.lines.length = 0
  following.events.length = 0
  const revision = await server.write(keyOf('a'), garbage)
  return { ...server, ...following, revision, version: metadata.resourceVersion ?? '' }
}

describe('a stored object that somebody has overwritten with what is none', () => {
  it('does not end the server, and is named in the log once', async () => {
    const { write, logged, failure } = await corrupted()
    await write(keyOf('a'), Buffer.from('neither'))
    await write(keyOf('a'), Buffer.from('"a text"'))
    expect(failure()).toBeUndefined()
    expect(logged).toEqual([
      `error a stored object cannot be read; watches go on without it, and lists of it fail: ${keyOf('a')}`,
    ])
  })

  it.each<[string, (server: Server) => Promise<unknown>]>([
    ['read', ({ client }) => client.get(configMaps, a)],
    ['updated', ({ client }) => client.update(configMaps, configMap('a', { x: '2' }))],
    ['patched', ({ client }) => client.patch(configMaps, a, { type: 'merge', body: { data: { x: '2' } } })],
    ['applied', ({ client }) => client.apply(configMaps, configMap('a', { x: '2' }), { fieldManager: 'test' })],
    ['deleted', ({ client }) => client.delete(configMaps, a)],
  ])('is an InternalError (500) where it is %s, with the key and the revision', async (_, act) => {
    const { revision, ...server } = await corrupted()
    const { code, reason, message } = await refusal(act(server as never))
    expect([code, reason]).toEqual([500, 'InternalError'])
    expect(message).toContain(`Internal error occurred: ${corrupt(keyOf('a'), revision)}`)
  })

  it('is a StorageReadError (500) where a list or a new watch would show it, whatever they select', async () => {
    const { client, revision } = await corrupted()
    const { code, reason, message } = await refusal(client.list(configMaps))
    expect([code, reason]).toEqual([500, 'StorageReadError'])
    expect(message).toContain(
      `failed to read one or more configmaps from the storage: ${corrupt(keyOf('a'), revision)}`,
    )
    for (const call of [
      client.list(configMaps, { namespace: 'default', labelSelector: 'x=y' }),
      client.list(configMaps, { resourceVersion: '0' }),
      client.list(configMaps, { limit: 1 }),
      client.list(configMaps, { namespace: 'default', fieldSelector: 'metadata.name=a' }),
      client.watch(configMaps, { namespace: 'default' }),
      client.watch(configMaps, { sendInitialEvents: true, allowWatchBookmarks: true }),
      client.deleteCollection(configMaps, { namespace: 'default' }),
    ])
      expect(await refusal(call)).toMatchObject({ reason: 'StorageReadError' })
  })

  it('keeps nothing from being read where it cannot be, nor as of when it could', async () => {
    const { client, version } = await corrupted()
    expect((await client.list(configMaps, { namespace: 'kube-system' })).items).toEqual([])
    expect(
      (await client.list(configMaps, { namespace: 'default', fieldSelector: 'metadata.name=b' })).items,
    ).toHaveLength(1)
    expect((await client.list(pods)).items).toEqual([])
    const past = { resourceVersion: version, resourceVersionMatch: 'Exact' } as const
    expect((await client.list(configMaps, past)).items).toMatchObject([{ data: { x: '1' } }])
  })

  it('lets watches go on, which get what others become', async () => {
    const { client, lines, clock } = await corrupted()
    await client.create(configMaps, configMap('c'))
    await client.delete(configMaps, { namespace: 'default', name: 'b' })
    await clock.settle()
    expect(lines).toEqual(['ADDED c', 'DELETED b'])
  })

  it('is there as before once it is mended, and watches get what has come of it', async () => {
    const { client, lines, events, logged, write, object } = await corrupted()
    const revision = await write(keyOf('a'), object('a', { x: '3' }))
    expect(lines).toEqual(['MODIFIED a'])
    expect((events[0]?.object as ConfigMap | undefined)?.data).toEqual({ x: '3' })
    expect(await client.get(configMaps, a)).toMatchObject({ metadata: { resourceVersion: String(revision) } })
    expect((await client.list(configMaps)).items).toHaveLength(2)
    expect((await client.patch(configMaps, a, { type: 'merge', body: { data: { x: '4' } } })).data).toEqual({ x: '4' })
    expect(logged.at(-1)).toBe(`info a stored object that could not be read was replaced or removed: ${keyOf('a')}`)
  })

  it('is gone once it is removed, and watches get what it was when it could be read', async () => {
    const { client, lines, events, write } = await corrupted()
    await write(keyOf('a'), undefined)
    expect(lines).toEqual(['DELETED a'])
    expect((events[0]?.object as ConfigMap | undefined)?.data).toEqual({ x: '1' })
    expect(await refusal(client.get(configMaps, a))).toMatchObject({ reason: 'NotFound' })
    expect((await client.list(configMaps)).items).toHaveLength(1)
    expect((await client.create(configMaps, configMap('a'))).metadata.name).toBe('a')
  })

  it('takes no part in states that are listed after it was mended', async () => {
    const { client, revision, write, object } = await corrupted()
    await write(keyOf('a'), object('a'))
    const between = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' } as const
    expect(await refusal(client.list(configMaps, between))).toMatchObject({ code: 410, reason: 'Expired' })
  })

  it('is found by a server that has missed what happened, and so is that it was mended', async () => {
    const { client, way, lines, write, object, clock } = await corrupted()
    await client.create(configMaps, configMap('c'))
    way.hold()
    await write(keyOf('b'), garbage)
    await write(keyOf('a'), object('a', { x: '3' }))
    await write(keyOf('d'), garbage)
    way.loseHistory()
    await clock.settle()
    expect(lines).toEqual(['ADDED c', 'MODIFIED a'])
    for (const name of ['b', 'd']) {
      expect(await refusal(client.get(configMaps, { namespace: 'default', name }))).toMatchObject({ code: 500 })
    }
    way.hold()
    await write(keyOf('b'), undefined)
    await write(keyOf('d'), undefined)
    way.loseHistory()
    await clock.settle()
    expect(lines.at(-1)).toBe('DELETED b')
    expect((await client.list(configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(['a', 'c'])
  })
})

describe('something stored under a new key that is no object', () => {
  it('has its name taken, and is added to watches once it is mended', async () => {
    const { client, write, watch, object, logged } = await startServer()
    const { lines } = await watch({ resourceVersion: '0' })
    await write(keyOf('a'), garbage)
    expect(await refusal(client.create(configMaps, configMap('a')))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
    })
    expect(await refusal(client.get(configMaps, a))).toMatchObject({ code: 500, reason: 'InternalError' })
    const applied = client.apply(configMaps, configMap('a'), { fieldManager: 'test' })
    expect(await refusal(applied)).toMatchObject({ code: 500, reason: 'InternalError' })
    await write(keyOf('a'), object('a', { x: '1' }))
    expect(lines).toEqual(['ADDED a'])
    expect((await client.get(configMaps, a)).data).toEqual({ x: '1' })
    expect(logged).toHaveLength(2)
  })

  it('leaves no trace where it is removed again', async () => {
    const { client, write, watch } = await startServer()
    const { lines } = await watch({ resourceVersion: '0' })
    await write(keyOf('a'), garbage)
    await write(keyOf('a'), undefined)
    expect((await client.create(configMaps, configMap('a', { x: '1' }))).data).toEqual({ x: '1' })
    expect(lines).toEqual(['ADDED a'])
  })

  it.each([
    ['an object of another kind', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}'],
    ['an object without metadata', '{"apiVersion":"v1","kind":"ConfigMap"}'],
    ['nothing', ''],
    ['null', 'null'],
    ['upstream’s protobuf', 'k8s\0\n\u000f\n\u0002v1'],
  ])('may be %s', async (_, value) => {
    const { client, write, failure } = await startServer()
    await write(keyOf('a'), Buffer.from(value))
    expect(await refusal(client.get(configMaps, a))).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(failure()).toBeUndefined()
    expect((await client.list(secrets)).items).toEqual([])
  })
})

describe('an object that was stored by something else than a server', () => {
  const stored = (kind: string, apiVersion: string, more: object) =>
    Buffer.from(JSON.stringify({ apiVersion, kind, metadata: { name: 'a', namespace: 'default' }, ...more }))
  const keys = {
    Service: '/registry/core/services/default/a',
    Pod: '/registry/core/pods/default/a',
    ClusterRoleBinding: '/registry/rbac.authorization.k8s.io/clusterrolebindings/a',
    ConfigMap: keyOf('a'),
  }
  const why = (kind: string, wrong: string) =>
    `${kind} in version "v1" cannot be handled as a ${kind}: json: cannot unmarshal ${wrong}`

  it.each<[keyof typeof keys, string, object, string]>([
    ['Service', 'v1', { spec: { ports: 1 } }, why('Service', 'number into Go struct field ServiceSpec.spec.ports')],
    ['Pod', 'v1', { spec: 'x' }, why('Pod', 'string into Go struct field Pod.spec')],
    [
      'Pod',
      'v1',
      { metadata: { name: 'a', labels: 5 } },
      why('Pod', 'number into Go struct field ObjectMeta.metadata.labels'),
    ],
    [
      'ClusterRoleBinding',
      'rbac.authorization.k8s.io/v1',
      { subjects: 'x' },
      why('ClusterRoleBinding', 'string into Go struct field ClusterRoleBinding.subjects'),
    ],
    ['ConfigMap', 'v9', {}, 'no kind "ConfigMap" is registered for version "v9"'],
  ])('cannot be read where a %s of %s has %j', async (kind, version, more, error) => {
    const { core, client, write, failure, logged } = await startServer()
    await write(keys[kind], stored(kind, version, more))
    const resource = core.registries.resources().find((each) => each.kind === kind)
    if (resource === undefined) throw new Error(`no ${kind}`)
    const { code, message } = await refusal(client.get(resource, a))
    expect(code).toBe(500)
    expect(message).toContain(error)
    expect(failure()).toBeUndefined()
    expect(logged).toHaveLength(1)
  })

  it.each<[string, object]>([
    ['Service', {}],
    ['IPAddress', {}],
    ['IPAddress', { spec: {} }],
  ])('is read with its defaults where a %s has only %j', async (kind, more) => {
    const { core, client, write, failure } = await startServer()
    const resource = core.registries.resources().find((each) => each.kind === kind)
    if (resource === undefined) throw new Error(`no ${kind}`)
    const key = `/registry/${resource.group || 'core'}/${resource.plural}/${resource.namespaced ? 'default/' : ''}a`
    await write(key, stored(kind, apiVersionOf(resource), more))
    expect(await client.get(resource, a)).toMatchObject({ kind, metadata: { name: 'a' } })
    expect(failure()).toBeUndefined()
  })
})

describe('a server that starts', () => {
  it('refuses what cannot be read, and names it', async () => {
    const store = createMemoryStore()
    await store.commit({ conditions: [], operations: [{ type: 'put', key: keyOf('a'), value: garbage }] })
    await expect(startTestCore({ store })).rejects.toThrow(
      `what is stored as ${keyOf('a')} cannot be read as a ConfigMap`,
    )
  })

  it('serves a custom kind without the objects that cannot be read', async () => {
    const store = createMemoryStore()
    const first = await startServer(store)
    const crates = { group: 'example.com', version: 'v1', kind: 'Crate', plural: 'crates', namespaced: true }
    await establish(first.client, crateDefinition([crateVersion('v1', { storage: true })]))
    await first.clock.settle()
    const crate = (name: string): KubernetesObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Crate',
      metadata: { name, namespace: 'default' },
    })
    for (const name of ['a', 'b']) await first.client.create(crates, crate(name))
    await first.write('/registry/example.com/crates/default/a', garbage)
    await first.core.close()
    const { client, write } = await startServer(store)
    expect(await refusal(client.get(crates, a))).toMatchObject({ code: 500 })
    expect((await client.get(crates, { namespace: 'default', name: 'b' })).metadata.name).toBe('b')
    await write('/registry/example.com/crates/default/a', undefined)
    expect((await client.list(crates)).items).toHaveLength(1)
    expect((await client.list(customResourceDefinitions)).items).toHaveLength(1)
  })

  it('says Expired to a watch from before a time in which something could not be read', async () => {
    const store = createMemoryStore()
    const first = await startServer(store)
    const { metadata } = await first.client.create(configMaps, configMap('a'))
    await first.write(keyOf('a'), garbage)
    const mended = await first.write(keyOf('a'), first.object('a', { x: '1' }))
    await first.write(keyOf('a'), first.object('a', { x: '2' }))
    await first.core.close()
    const { watch } = await startServer(store)
    expect((await watch({ resourceVersion: metadata.resourceVersion })).lines).toEqual(['ERROR Expired', 'end'])
    expect((await watch({ resourceVersion: String(mended) })).lines).toEqual(['MODIFIED a'])
  })
})

import {
  ApiError,
  componentStatusSchema,
  configMaps as configMapKind,
  configMapSchema,
  eventV1Schema,
  listMeta,
  listSchema,
  type ObjectSchema,
  ofJsonForm,
  partialObjectMetadataListSchema,
  partialObjectMetadataSchema,
  statusSchema,
} from '@coracle/api'
import {
  apiGroupDiscoveryListSchema,
  apiGroupListSchema,
  apiGroupSchema,
  apiResourceListSchema,
  apiVersionsSchema,
} from '@coracle/api/discovery'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorDelivery } from '../../watch-cache/cache-event.ts'
import { decodeProtobuf, openProtobuf } from '../protobuf-decode.ts'
import { WireReader } from '../protobuf-wire.ts'
import { type Answer, TestServer } from '../testing/test-server.ts'
import { StoredProtobuf } from './stored-protobuf.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const configMaps = '/api/v1/namespaces/default/configmaps'
const headers = { accept: protobuf }
/** What client-go sends. */
const typedClient = { accept: `${protobuf},application/json` }

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await create('a', { one: '1' })
  await create('b', { two: 'größer', empty: '' })
})
afterAll(() => server.close())

const create = (name: string, data: Record<string, string>) =>
  server.call(configMaps, { method: 'POST', body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data } })

/** What an envelope holds, as JSON has it. */
function opened(bytes: Buffer, schema: ObjectSchema) {
  const { apiVersion, kind, raw } = openProtobuf(bytes)
  return { kind, apiVersion, ...decodeProtobuf(schema, raw) }
}

const jsonOf = async (path: string): Promise<Answer['json']> => (await server.call(path)).json

const metadataAs = (kind: string) => ({ accept: `${protobuf};as=${kind};g=meta.k8s.io;v=v1,application/json` })

describe('an object in protobuf', () => {
  it('is the one in JSON', async () => {
    const { code, headers: answered, bytes } = await server.call(`${configMaps}/b`, { headers: typedClient })
    expect([code, answered['content-type'], answered['content-length']]).toEqual([200, protobuf, String(bytes.length)])
    expect(opened(bytes, configMapSchema)).toEqual(await jsonOf(`${configMaps}/b`))
  })

  it('answers what creates, changes and deletes it', async () => {
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' }, data: { a: '1' } }
    const created = await server.call(configMaps, { method: 'POST', body, headers })
    expect(created.code).toBe(201)
    expect(opened(created.bytes, configMapSchema)).toEqual(await jsonOf(`${configMaps}/c`))
    const changed = await server.call(`${configMaps}/c`, {
      method: 'PATCH',
      body: JSON.stringify({ data: { a: '2' } }),
      headers: { ...headers, 'content-type': 'application/merge-patch+json' },
    })
    expect(opened(changed.bytes, configMapSchema)).toEqual(await jsonOf(`${configMaps}/c`))
    const deleted = await server.call(`${configMaps}/c`, { method: 'DELETE', headers })
    expect(opened(deleted.bytes, statusSchema)).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Success' })
  })

  it('is the one of a version that is converted', async () => {
    const at = { namespace: 'default', name: 'converted' }
    const involvedObject = { kind: 'ConfigMap', ...at }
    const body = { metadata: at, involvedObject, reason: 'Made', message: 'it was made', type: 'Normal' }
    await server.call('/api/v1/namespaces/default/events', { method: 'POST', body })
    const path = '/apis/events.k8s.io/v1/namespaces/default/events/converted'
    expect(opened((await server.call(path, { headers })).bytes, eventV1Schema)).toEqual(ofJsonForm(await jsonOf(path)))
  })
})

describe('the status of a component in protobuf', () => {
  it('is the one in JSON', async () => {
    const path = '/api/v1/componentstatuses/etcd-0'
    const answer = await server.call(path, { headers: { accept: protobuf } })
    expect([answer.code, answer.headers['content-type']]).toEqual([200, protobuf])
    expect(opened(answer.bytes, componentStatusSchema)).toEqual(await jsonOf(path))
  })
})

describe('a list in protobuf', () => {
  const list = listSchema('io.k8s.api.core.v1.ConfigMapList', configMapSchema)

  it.each(['', '?limit=1', '?labelSelector=none'])('is the one in JSON (%s)', async (query) => {
    const { bytes, headers: answered } = await server.call(`${configMaps}${query}`, { headers: typedClient })
    expect([answered['content-type'], answered['content-length']]).toEqual([protobuf, String(bytes.length)])
    const { apiVersion, kind, raw } = openProtobuf(bytes)
    const reader = new WireReader(raw)
    const metadata: unknown[] = []
    const items: unknown[] = []
    while (reader.next()) {
      if (reader.number === 1) metadata.push(decodeProtobuf(listMeta, reader.bytes()))
      else items.push(decodeProtobuf(configMapSchema, reader.bytes()))
    }
    expect(reader.number).toBeLessThanOrEqual(2)
    const json = await jsonOf(`${configMaps}${query}`)
    const { continue: _token, ...jsonMetadata } = json.metadata
    expect([apiVersion, kind, items]).toEqual(['v1', list.name.split('.').at(-1), json.items])
    expect(metadata).toEqual([expect.objectContaining(jsonMetadata)])
  })
})

describe('a watch in protobuf', () => {
  it('sends what happens in frames, each an event with its object in an envelope', async () => {
    const { revision } = await start()
    const path = `${configMaps}?watch=1&resourceVersion=${revision}&fieldSelector=metadata.name=w`
    const [frames, lines] = await Promise.all([server.frames(path, { headers: typedClient }), server.lines(path)])
    expect(frames.answer.headers['content-type']).toBe(`${protobuf};stream=watch`)
    await create('w', { a: '1' })
    await server.call(`${configMaps}/w`, { method: 'DELETE' })
    for (const type of ['ADDED', 'DELETED']) {
      const event = eventOf(await frames.next())
      expect({ type: event.type, object: opened(event.object, configMapSchema) }).toEqual(await lines.next())
      expect(event.type).toBe(type)
    }
    frames.close()
    lines.close()
  })

  it('tells bookmarks', async () => {
    const initial = `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=none`
    const bookmarks = await server.frames(initial, { headers })
    const bookmark = eventOf(await bookmarks.next())
    expect(bookmark.type).toBe('BOOKMARK')
    expect(opened(bookmark.object, configMapSchema)).toMatchObject({
      kind: 'ConfigMap',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
    })
    bookmarks.close()
  })

  it('tells what ends it', () => {
    const { status } = new ApiError(410, 'Expired', 'too old resource version: 1 (2)')
    const frame = new StoredProtobuf().events(configMapKind).encode(errorDelivery(status))
    expect(frame.readUInt32BE()).toBe(frame.length - 4)
    const { type, object } = eventOf(frame.subarray(4))
    expect([type, opened(object, statusSchema)]).toEqual(['ERROR', status])
  })

  it('tells metadata alone', async () => {
    const path = `${configMaps}?watch=1&fieldSelector=metadata.name=a`
    const frames = await server.frames(path, { headers: metadataAs('PartialObjectMetadata') })
    const { type, object } = eventOf(await frames.next())
    const { metadata } = await jsonOf(`${configMaps}/a`)
    expect([type, opened(object, partialObjectMetadataSchema)]).toEqual([
      'ADDED',
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata },
    ])
    frames.close()
  })

  const start = async () => ({ revision: (await jsonOf(configMaps)).metadata.resourceVersion })

  /** Upstream's WatchEvent: a type, and raw bytes in a message of their own. */
  function eventOf(frame: Buffer | undefined): { readonly type: string; readonly object: Buffer } {
    const reader = new WireReader(frame ?? Buffer.alloc(0))
    let type = ''
    let object: Buffer = Buffer.alloc(0)
    while (reader.next()) {
      if (reader.number === 1) type = reader.text()
      else reader.message(() => (object = reader.bytes()))
    }
    return { type, object }
  }
})

describe('metadata in protobuf', () => {
  it('is that of an object', async () => {
    const { bytes } = await server.call(`${configMaps}/a`, { headers: metadataAs('PartialObjectMetadata') })
    const { metadata } = await jsonOf(`${configMaps}/a`)
    const kind = 'PartialObjectMetadata'
    expect(opened(bytes, partialObjectMetadataSchema)).toEqual({ kind, apiVersion: 'meta.k8s.io/v1', metadata })
  })

  it('is that of a list', async () => {
    const { bytes } = await server.call(configMaps, { headers: metadataAs('PartialObjectMetadataList') })
    const json = await jsonOf(configMaps)
    expect(opened(bytes, partialObjectMetadataListSchema)).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: json.metadata,
      items: json.items.map(({ metadata }: { readonly metadata: unknown }) => ({ metadata })),
    })
  })

  it('is no table', async () => {
    const accept = `${protobuf};as=Table;g=meta.k8s.io;v=v1`
    const { code } = await server.failure(configMaps, { headers: { accept } })
    expect(code).toBe(406)
    const fallback = { accept: `${accept},application/json;as=Table;g=meta.k8s.io;v=v1` }
    expect((await server.call(configMaps, { headers: fallback })).json.kind).toBe('Table')
  })
})

describe('the Status of a failure', () => {
  it.each([
    [`${configMaps}/none`, 404],
    ['/api/v1/widgets', 404],
    [`${configMaps}?limit=x`, 400],
    [`${configMaps}?watch=1&resourceVersion=x`, 500],
  ])('is in protobuf for one who asks for it: %s', async (path, code) => {
    const json = await server.failure(path)
    const answer = await server.call(path, { headers: typedClient })
    expect([answer.code, answer.headers['content-type']]).toEqual([code, protobuf])
    expect(opened(answer.bytes, statusSchema)).toEqual(json)
  })

  it('is in YAML for one who asks for it', async () => {
    const answer = await server.call(`${configMaps}/none`, { headers: { accept: 'application/yaml' } })
    expect([answer.code, answer.headers['content-type']]).toEqual([404, 'application/yaml'])
    expect(answer.text).toContain('kind: Status\n')
  })

  it('is indented for people', async () => {
    const answer = await server.call(`${configMaps}/none?pretty=true`)
    expect(answer.text).toContain('\n  "kind": "Status",\n')
  })

  it.each(['text/html', metadataAs('PartialObjectMetadata').accept])(
    'is in JSON for one who asks for %s',
    async (accept) => {
      const { headers: answered, json } = await server.call(`${configMaps}/none`, { headers: { accept } })
      expect([answered['content-type'], json.kind]).toEqual(['application/json', 'Status'])
    },
  )
})

describe('discovery in protobuf', () => {
  it.each([
    ['/api', apiVersionsSchema],
    ['/apis', apiGroupListSchema],
    ['/apis/autoscaling', apiGroupSchema],
    ['/api/v1', apiResourceListSchema],
    ['/apis/apps/v1', apiResourceListSchema],
  ] as const)('%s is what it is in JSON', async (path, schema) => {
    const { headers: answered, bytes } = await server.call(path, { headers: typedClient })
    expect(answered['content-type']).toBe(protobuf)
    const { apiVersion: _, ...json } = await jsonOf(path)
    const { apiVersion, ...read } = opened(bytes, schema)
    expect(apiVersion).toBe('v1')
    expect(read).toMatchObject(json.serverAddressByClientCIDRs === undefined ? json : { versions: json.versions })
  })

  it.each(['/api', '/apis'])('%s with all that is in it is what it is in JSON', async (path) => {
    const aggregated = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { bytes } = await server.call(path, { headers: { accept: `${protobuf};${aggregated}` } })
    const { json } = await server.call(path, { headers: { accept: `application/json;${aggregated}` } })
    expect(opened(bytes, apiGroupDiscoveryListSchema)).toEqual(json)
  })

  it('comes after JSON where a client says so', async () => {
    const { headers: answered } = await server.call('/apis', { headers: { accept: `application/json,${protobuf}` } })
    expect(answered['content-type']).toBe('application/json')
  })
})

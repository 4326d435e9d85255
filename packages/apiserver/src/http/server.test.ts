import { deleteOptionsSchema, type KubernetesObject, replicationControllerSchema } from '@coracle/api'
import { createMetricsRegistry, realEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { AdmissionAttributes } from '../admission/admission.ts'
import { createAuthority, issueClientCertificate } from '../security/certificates.ts'
import { nodeGateway } from '../testing/test-core.ts'
import { bodyBytesMax } from './body/body-reader.ts'
import { encodeProtobuf } from './protobuf-encode.ts'
import { enveloped } from './testing/encode-protobuf.ts'
import { TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const configMaps = '/api/v1/namespaces/default/configmaps'
const rcs = '/api/v1/namespaces/default/replicationcontrollers'
const configMap = (name: string, data: Record<string, string> = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const controller = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { app: name },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
})
const aggregated = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const openApiProtobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const post = (body: unknown, headers: Record<string, string> = {}) => ({ method: 'POST', body, headers })

describe('an object', () => {
  it('is created in its collection and changed under its own name, nowhere else', async () => {
    const named = { method: 'POST', body: configMap('elsewhere') }
    expect(await server.failure(`${configMaps}/elsewhere`, named)).toMatchObject({ code: 405 })
    expect(await server.failure(configMaps, { method: 'PUT', body: configMap('x') })).toMatchObject({ code: 405 })
  })

  it('has no HEAD, as nothing in the API has', async () => {
    await server.call(configMaps, post(configMap('headless')))
    for (const path of [configMaps, `${configMaps}/headless`, '/api/v1/namespaces/default/status']) {
      expect((await server.call(path, { method: 'HEAD' })).code).toBe(405)
    }
  })

  it('is at one address only', async () => {
    for (const path of ['/api/v1/namespaces/default/namespaces/default', '//api/v1/pods']) {
      expect((await server.call(path)).code).toBe(404)
    }
    expect(await server.failure(`${configMaps}/%2e%2e`)).toMatchObject({
      code: 400,
      message: `Name parameter invalid: "..": may not be '..'`,
    })
  })

  it('that is only posted and answered is no table', async () => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const review = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    expect(await server.failure(reviews, post(review, { accept }))).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
    })
    const { json } = await server.call(reviews, post(review, { accept: `${accept},application/json` }))
    expect(json).toMatchObject({ kind: 'SelfSubjectAccessReview', status: { allowed: true } })
  })

  it('has no half characters', async () => {
    const body = '{"metadata":{"name":"halves"},"data":{"a":"\\ud800x","b":"\\ud83d\\ude00"}}'
    const headers = { 'content-type': 'application/json' }
    expect((await server.call(configMaps, post(body, headers))).json.data).toEqual({ a: '\ufffdx', b: '😀' })
  })

  it('is watched at its first address too', async () => {
    await server.call(configMaps, post(configMap('watched')))
    await server.call(configMaps, post(configMap('watched-not')))
    const path = '/api/v1/watch/namespaces/default/configmaps/watched'
    const watch = await server.lines(`${path}?timeoutSeconds=60`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'watched' } } })
    await server.call(`${configMaps}/watched`, { method: 'DELETE' })
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'watched' } } })
    watch.close()
    expect(await server.failure(`${path}?fieldSelector=metadata.name%3Dother`)).toMatchObject({ code: 400 })
    expect(await server.failure(path, { method: 'DELETE' })).toMatchObject({ code: 405 })
  })

  it('is no list, and a list is no object, in the words of Go', async () => {
    const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } })
    const leases = '/apis/coordination.k8s.io/v1/leases'
    expect(await server.failure(leases, as('PartialObjectMetadata'))).toMatchObject({
      code: 406,
      message: 'you requested PartialObjectMetadata, but the requested object is a list (*coordination.LeaseList)',
    })
    expect(await server.failure('/api/v1/namespaces/default', as('PartialObjectMetadataList'))).toMatchObject({
      code: 406,
      message: 'you requested PartialObjectMetadataList, but the requested object is not a list (*core.Namespace)',
    })
  })

  it('is not found where nothing is, whatever the method', async () => {
    for (const method of ['GET', 'POST']) {
      expect(await server.call('/nothing', { method })).toMatchObject({ code: 404, text: '404 page not found\n' })
    }
    expect(await server.failure('/version', { method: 'POST' })).toMatchObject({ code: 405 })
  })

  it('is not watched as YAML', async () => {
    const { code, text } = await server.call(`${configMaps}?watch=1`, { headers: { accept: 'application/yaml' } })
    expect(code).toBe(406)
    expect(text.replace(/\s+/g, ' ')).toContain(
      'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    )
  })

  it('is changed whatever its version when the update names version 0', async () => {
    await server.call(configMaps, post(configMap('zero')))
    const zero = configMap('zero', { a: '2' })
    const body = { ...zero, metadata: { ...zero.metadata, resourceVersion: '0' } }
    expect((await server.call(`${configMaps}/zero`, { method: 'PUT', body })).code).toBe(200)
  })

  it('that is a Job is deleted with a warning of its pods, unless it is said what becomes of them', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs'
    const deletion = async (path: string) => {
      const { headers } = await server.call(path, { method: 'DELETE' })
      return headers.warning ?? ''
    }
    expect(await deletion(`${jobs}/none`)).toContain('child pods are preserved by default when jobs are deleted')
    expect(await deletion(`${jobs}/none?propagationPolicy=Orphan`)).toBe('')
    expect(await deletion(`${configMaps}/none`)).toBe('')
  })

  it('is created, read, changed, patched and deleted', async () => {
    const created = await server.call(configMaps, post(configMap('life')))
    expect(created.code).toBe(201)
    expect(created.headers['content-type']).toBe('application/json')
    expect(created.json).toMatchObject({ metadata: { name: 'life', namespace: 'default' }, data: { a: '1' } })

    const read = await server.call(`${configMaps}/life`)
    expect([read.code, read.json]).toEqual([200, created.json])

    const changed = { ...created.json, data: { a: '2' } }
    const updated = await server.call(`${configMaps}/life`, { method: 'PUT', body: changed })
    expect([updated.code, updated.json.data]).toEqual([200, { a: '2' }])

    const patched = await server.call(`${configMaps}/life`, {
      method: 'PATCH',
      body: '{"data":{"b":"3"}}',
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    expect([patched.code, patched.json.data]).toEqual([200, { a: '2', b: '3' }])

    const deleted = await server.call(`${configMaps}/life`, { method: 'DELETE' })
    expect(deleted.code).toBe(200)
    expect((await server.call(`${configMaps}/life`)).code).toBe(404)
  })

  it.each([
    ['application/json-patch+json', '[{"op":"add","path":"/data/b","value":"x"}]'],
    ['application/strategic-merge-patch+json; charset=utf-8', '{"data":{"b":"x"}}'],
  ])('is patched by %s', async (type, body) => {
    const name = `patched-${type.length}`
    await server.call(configMaps, post(configMap(name)))
    const patch = { method: 'PATCH', body, headers: { 'content-type': type } }
    expect((await server.call(`${configMaps}/${name}`, patch)).json.data).toEqual({ a: '1', b: 'x' })
  })

  it('comes in YAML and goes out in YAML', async () => {
    const body =
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: from-yaml}\ndata:\n  when: "2026-01-01"\n  port: "80:80"\n'
    const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
    const { code, text, headers: answered } = await server.call(configMaps, post(body, headers))
    expect([code, answered['content-type']]).toEqual([201, 'application/yaml'])
    expect(text).toContain('name: from-yaml')
    expect(text).toMatch(/when: "?2026-01-01"?\n/)
  })

  it('reads YAML as Go does: times and numbers to the base of 60 are texts', async () => {
    const body =
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: go-yaml}\ndata: {when: 2026-01-01T00:00:00Z, ports: 80:80}\n'
    const { json } = await server.call(configMaps, post(body, { 'content-type': 'application/yaml' }))
    expect(json.data).toEqual({ when: '2026-01-01T00:00:00Z', ports: '80:80' })
  })

  it('comes in protobuf from typed clients', async () => {
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    // What kubectl 1.35 sends for `create cm pb-mapp --from-literal=a=b`.
    const hex =
      '6b3873000a0f0a0276311209436f6e6669674d617012210a170a0770622d6d61707012001a0022002a0032003800420012060a01611201621a002200'
    const created = await server.call(configMaps, post(Buffer.from(hex, 'hex'), headers))
    expect([created.code, created.headers['content-type']]).toEqual([201, 'application/json'])
    expect([created.json.metadata.name, created.json.data]).toEqual(['pb-mapp', { a: 'b' }])
    expect(created.json.metadata.generation).toBeUndefined()
    expect(await server.failure(configMaps, post('{}', headers))).toMatchObject({ code: 400, reason: 'BadRequest' })
    const path = `${configMaps}/pb-mapp`
    const options = enveloped('v1', 'DeleteOptions', encodeProtobuf(deleteOptionsSchema, { dryRun: ['All'] }))
    expect((await server.call(path, { method: 'DELETE', body: options, headers })).code).toBe(200)
    expect((await server.call(path, { headers })).code).toBe(200)
  })

  it('in protobuf has the defaults of one in JSON', async () => {
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    const spec = {
      replicas: 0,
      selector: { app: 'web' },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx', livenessProbe: { httpGet: { port: 'http' } } }] },
      },
    }
    const { metadata: _, ...fromJson } = (await server.call(rcs, post({ metadata: { name: 'by-json' }, spec }))).json
    const message = encodeProtobuf(replicationControllerSchema, { metadata: { name: 'by-protobuf' }, spec })
    const { code, json } = await server.call(rcs, post(enveloped('v1', 'ReplicationController', message), headers))
    expect([code, json.metadata.name]).toEqual([201, 'by-protobuf'])
    expect(json.spec.template.spec.containers[0].livenessProbe).toMatchObject({ timeoutSeconds: 1, periodSeconds: 10 })
    expect(json).toMatchObject(fromJson)
  })

  it('is only checked with dryRun', async () => {
    expect((await server.call(`${configMaps}?dryRun=All`, post(configMap('dry')))).code).toBe(201)
    expect((await server.call(`${configMaps}/dry`)).code).toBe(404)
  })

  it('is indented for people', async () => {
    await server.call(configMaps, post(configMap('pretty')))
    const plain = await server.call(`${configMaps}/pretty`)
    expect(plain.text).not.toContain('\n ')
    for (const call of [{ query: '?pretty=true' }, { query: '', headers: { 'user-agent': 'curl/8' } }]) {
      const pretty = await server.call(`${configMaps}/pretty${call.query}`, { headers: call.headers ?? {} })
      expect(pretty.text).toContain('\n  "kind": "ConfigMap"')
      expect(pretty.json).toEqual(plain.json)
    }
  })

  it('has DeleteOptions in the body of its delete', async () => {
    await server.call(configMaps, post(configMap('kept')))
    const call = (uid: string) => ({ method: 'DELETE', body: { kind: 'DeleteOptions', preconditions: { uid } } })
    expect(await server.failure(`${configMaps}/kept`, call('other'))).toMatchObject({ code: 409, reason: 'Conflict' })
    const { json } = await server.call(`${configMaps}/kept`)
    expect((await server.call(`${configMaps}/kept`, call(json.metadata.uid))).code).toBe(200)
  })
})

describe('a list', () => {
  beforeAll(async () => {
    await server.call('/api/v1/namespaces', post({ metadata: { name: 'listed' } }))
    for (const name of ['a', 'b', 'c']) await server.call('/api/v1/namespaces/listed/configmaps', post(configMap(name)))
  })
  const listed = '/api/v1/namespaces/listed/configmaps'
  // biome-ignore lint/suspicious/noExplicitAny: a list of any kind
  const names = (list: any) => list.items.map((item: any) => item.metadata.name)

  it('has the kind of its items, and its version', async () => {
    const { json } = await server.call(listed)
    expect(json).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' })
    expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(0)
    expect(names(json)).toEqual(['a', 'b', 'c'])
  })

  it.each(['', '?pretty=true', '?limit=2'])('says the kind once, and not with its items (%s)', async (query) => {
    const { json } = await server.call(`${listed}${query}`)
    expect(Object.keys(json.items[0])).toEqual(['metadata', 'data'])
    expect(Object.keys(json.items[1])).toEqual(['metadata', 'data'])
  })

  it('says the kind once in YAML, too', async () => {
    const { text } = await server.call(listed, { headers: { accept: 'application/yaml' } })
    expect(Object.keys(parse(text).items[0])).toEqual(['data', 'metadata'])
  })

  it('shows every change at once, however often it was asked for', async () => {
    await server.call(listed)
    await server.call(listed, post(configMap('d')))
    expect(names((await server.call(listed)).json)).toEqual(['a', 'b', 'c', 'd'])
    await server.call(`${listed}/d`, { method: 'DELETE' })
    expect(names((await server.call(listed)).json)).toEqual(['a', 'b', 'c'])
  })

  it('is empty where there is nothing', async () => {
    const { json } = await server.call('/api/v1/namespaces/nowhere/configmaps')
    expect(json.items).toEqual([])
  })

  it('comes in pages', async () => {
    const first = await server.call(`${listed}?limit=2`)
    expect(names(first.json)).toEqual(['a', 'b'])
    expect(first.json.metadata.remainingItemCount).toBe(1)
    const rest = await server.call(`${listed}?limit=2&continue=${encodeURIComponent(first.json.metadata.continue)}`)
    expect(names(rest.json)).toEqual(['c'])
    expect(rest.json.metadata.continue).toBeUndefined()
  })

  it('is selected by name', async () => {
    expect(names((await server.call(`${listed}?fieldSelector=metadata.name%3Db`)).json)).toEqual(['b'])
  })

  it('is a table where a table is asked for', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    const { json } = await server.call(listed, { headers: { accept } })
    expect(json).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
    expect(json.columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string', format: 'name' })
    expect(json.rows[0].cells[0]).toBe('a')
    expect(json.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    const whole = await server.call(`${listed}?includeObject=Object`, { headers: { accept } })
    expect(whole.json.rows[0].object).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } })
    const failed = await server.failure(`${listed}?includeObject=All`, { headers: { accept } })
    expect(failed).toMatchObject({ code: 400, reason: 'BadRequest' })
  })

  it('is reduced to metadata where that is asked for', async () => {
    const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } })
    const { json } = await server.call(listed, as('PartialObjectMetadataList'))
    expect(json.kind).toBe('PartialObjectMetadataList')
    expect(json.items[0]).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' })
    expect(json.items[0].data).toBeUndefined()
    expect((await server.call(`${listed}/a`, as('PartialObjectMetadata'))).json.kind).toBe('PartialObjectMetadata')
    expect(await server.failure(listed, as('PartialObjectMetadata'))).toMatchObject({ code: 406 })
  })

  it('is deleted as a whole, and answered with what it was', async () => {
    const path = '/api/v1/namespaces/listed/secrets'
    for (const name of ['x', 'y']) await server.call(path, post({ metadata: { name } }))
    const { code, json } = await server.call(path, { method: 'DELETE' })
    expect([code, json.kind, names(json)]).toEqual([200, 'SecretList', ['x', 'y']])
    expect((await server.call(path)).json.items).toEqual([])
  })
})

describe('a watch', () => {
  it('begins with what is there, then tells each change on a line', async () => {
    await server.call(configMaps, post(configMap('seen')))
    const watch = await server.lines(`${configMaps}?watch=true&fieldSelector=metadata.name%3Dseen`)
    expect(watch.answer.headers['content-type']).toBe('application/json')
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'seen' } } })
    await server.call(`${configMaps}/seen`, { method: 'PUT', body: configMap('seen', { a: '2' }) })
    expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { data: { a: '2' } } })
    await server.call(`${configMaps}/seen`, { method: 'DELETE' })
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'seen' } } })
    watch.close()
  })

  it('tells tables of one row, of which the first has the heads', async () => {
    const { json } = await server.call(configMaps)
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    const from = `watch=1&resourceVersion=${json.metadata.resourceVersion}`
    const watch = await server.lines(`${configMaps}?${from}`, { headers: { accept } })
    await server.call(configMaps, post(configMap('row')))
    await server.call(`${configMaps}/row`, { method: 'DELETE' })
    const [added, deleted] = [await watch.next(), await watch.next()]
    expect(added).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, {}, {}] },
    })
    expect(added.object.rows[0].cells[0]).toBe('row')
    expect(deleted).toMatchObject({ type: 'DELETED', object: { columnDefinitions: null } })
    watch.close()
  })

  it('tells metadata alone where that is asked for', async () => {
    await server.call(configMaps, post(configMap('meta')))
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
    const watch = await server.lines(`${configMaps}?watch=1&fieldSelector=metadata.name%3Dmeta`, {
      headers: { accept },
    })
    const { object } = await watch.next()
    expect([object.kind, object.metadata.name, object.data]).toEqual(['PartialObjectMetadata', 'meta', undefined])
    watch.close()
  })

  it('ends after its timeout', async () => {
    const environment = virtualEnvironment()
    const timed = await TestServer.start({ environment })
    const watch = await timed.lines(`${configMaps}?watch=1&timeoutSeconds=5`)
    await environment.clock.advance('6s')
    expect(await watch.next()).toBeUndefined()
    await timed.close()
  })

  it('ends with Expired where it begins before what is kept', async () => {
    const short = await TestServer.start({ historyEventsMax: 4 })
    for (let index = 0; index < 10; index++) await short.call(configMaps, post(configMap(`c${index}`)))
    const watch = await short.lines(`${configMaps}?watch=1&resourceVersion=1`)
    expect(watch.answer.statusCode).toBe(200)
    const message = expect.stringContaining('too old resource version: 1')
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired', message },
    })
    expect(await watch.next()).toBeUndefined()
    watch.close()
    await short.close()
  })
})

describe('a failed request', () => {
  const json = { 'content-type': 'application/json' }

  it.each([
    ['malformed JSON', '{"kind": "ConfigMap",', json, 'unexpected end of JSON input'],
    ['JSON that is something else', 'kind: ConfigMap', json, "invalid character 'k' looking for beginning of value"],
    ['malformed YAML', 'kind: [', { 'content-type': 'application/yaml' }, 'yaml: line 1'],
    ['no body', '', json, 'unexpected end of JSON input (<empty>)'],
    ['a text that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), json, 'json: cannot unmarshal string'],
    ['no UTF-8 at all', Buffer.from([0xff, 0xfe]), json, "invalid character 'ÿ' looking for beginning of value"],
    [
      'YAML that is no UTF-8',
      Buffer.from([0x22, 0xff, 0x22]),
      { 'content-type': 'application/yaml' },
      'not valid UTF-8',
    ],
    ['endless nesting', `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, json, 'exceeded max depth'],
    ['a list for an object', '[]', json, 'must be of type ConfigMap'],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } },
      {},
      'Pod in version "v1" cannot be handled as a ConfigMap',
    ],
    [
      'an unknown kind',
      { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'x' } },
      {},
      'no kind "Widget" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'a wrong type',
      { metadata: { name: 'x' }, data: { a: 1 } },
      {},
      'cannot unmarshal number into Go struct field ConfigMap.data',
    ],
  ])('with %s is a BadRequest', async (_, body, headers, message) => {
    expect(await server.failure(configMaps, post(body, headers))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining(message),
    })
  })

  it('shows the beginning of what it could not read', async () => {
    const { message } = await server.failure(configMaps, post('{"kind": "ConfigMap", "metadata": }', json))
    expect(message).toBe(
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: " +
        'invalid character \'}\' looking for beginning of value ({"kind": "ConfigMap", "metadat ...)',
    )
  })

  it('with a missing field or a bad name is Invalid and names the field', async () => {
    const missing = await server.failure(rcs, post(controller('missing', { template: undefined })))
    expect(missing).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field: 'spec.template' }] } })
    const badName = await server.failure(configMaps, post(configMap('Bad_Name')))
    expect(badName).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field: 'metadata.name' }] } })
  })

  it('with an old resourceVersion is a Conflict', async () => {
    const { json: first } = await server.call(configMaps, post(configMap('raced')))
    await server.call(`${configMaps}/raced`, { method: 'PUT', body: { ...first, data: { a: '2' } } })
    const failed = await server.failure(`${configMaps}/raced`, { method: 'PUT', body: { ...first, data: { a: '3' } } })
    expect(failed).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "raced": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  it('for what exists already is AlreadyExists', async () => {
    await server.call(configMaps, post(configMap('twice')))
    expect(await server.failure(configMaps, post(configMap('twice')))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
    })
  })

  it.each([
    ['GET', '/api/v1/widgets', 404, 'NotFound'],
    ['GET', '/apis/apps/v1/namespaces/default/pods', 404, 'NotFound'],
    ['GET', '/api/nothing/here', 404, 'NotFound'],
    ['GET', '/api/v1/namespaces/default/nodes', 404, 'NotFound'],
    ['GET', '/api/v1/pods/without-namespace', 404, 'NotFound'],
    ['GET', `${configMaps}/x/status`, 404, 'NotFound'],
    ['GET', `${rcs}/x/scale/more`, 404, 'NotFound'],
    ['POST', '/api/v1/configmaps', 405, 'MethodNotAllowed'],
    ['POST', '/version', 405, 'MethodNotAllowed'],
    ['OPTIONS', configMaps, 405, 'MethodNotAllowed'],
    ['GET', `${configMaps}?limit=x`, 400, 'BadRequest'],
    ['GET', `${configMaps}?labelSelector=%3D%3D`, 400, 'BadRequest'],
    ['GET', `${configMaps}?fieldSelector=spec.x%3Dy`, 400, 'BadRequest'],
    ['GET', `${configMaps}?resourceVersionMatch=Exact`, 422, 'Invalid'],
    ['DELETE', `${configMaps}/x?propagationPolicy=Never`, 422, 'Invalid'],
  ])('%s %s is %i %s', async (method, path, code, reason) => {
    expect(await server.failure(path, { method })).toMatchObject({ code, reason })
  })

  it('for an address that leads nowhere says what clients look for', async () => {
    expect((await server.failure('/api/v1/widgets')).message).toBe('the server could not find the requested resource')
  })

  it.each([
    [configMaps, ', application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'],
    [`${configMaps}/x`, ''],
  ])('for a media type nobody makes of %s is NotAcceptable', async (path, streams) => {
    const accept = 'application/cbor'
    expect(await server.failure(path, { headers: { accept } })).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf${streams}`,
      details: {},
    })
  })

  it.each([
    ['POST', configMaps, 'text/plain'],
    ['PATCH', `${configMaps}/x`, 'application/json'],
    ['PATCH', `${configMaps}/x`, 'application/apply-patch+cbor'],
  ])('%s %s with a body of %s is UnsupportedMediaType', async (method, path, type) => {
    const call = { method, body: '{}', headers: { 'content-type': type } }
    expect(await server.failure(path, call)).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' })
  })

  it('with too large a body is told the limit, whether or not it announces its length', async () => {
    const body = `{"data":{"a":"${'x'.repeat(bodyBytesMax)}"}}`
    const expected = {
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    }
    expect(await server.failure(configMaps, post(body, json))).toMatchObject(expected)
    const chunked = { ...json, 'transfer-encoding': 'chunked' }
    expect(await server.failure(configMaps, post(body, chunked))).toMatchObject(expected)
  })
})

describe('unknown and repeated fields', () => {
  const odd = (name: string) =>
    `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"${name}"},"spec":{"replicas":1,"replicas":2,"foo":1,` +
    `"selector":{"app":"x"},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
  const json = { 'content-type': 'application/json' }
  const strict = (path: string, body: unknown) => server.failure(`${path}?fieldValidation=Strict`, post(body, json))

  it('are warned of unless said otherwise', async () => {
    const { code, headers, json: created } = await server.call(rcs, post(odd('warned'), json))
    expect(code).toBe(201)
    expect(created.spec.replicas).toBe(2)
    expect(headers.warning).toContain('299 - "duplicate field \\"spec.replicas\\""')
    expect(headers.warning).toContain('299 - "unknown field \\"spec.foo\\""')
  })

  it.each(['Warn', 'Ignore'])('are read one into the other, as Go reads a struct, with %s', async (fieldValidation) => {
    const name = `read-${fieldValidation.toLowerCase()}`
    const body = `{"metadata":{"name":"${name}"},"data":{"a":"1"},"metadata":{"labels":{"l":"m"}},"data":{"b":"2"}}`
    const path = `${configMaps}?fieldValidation=${fieldValidation}`
    const { code, headers, json: created } = await server.call(path, post(body, json))
    expect([code, created.data, created.metadata]).toMatchObject([
      201,
      { a: '1', b: '2' },
      { name, labels: { l: 'm' } },
    ])
    expect(headers.warning?.includes('duplicate field') ?? false).toBe(fieldValidation === 'Warn')
  })

  it('pass in silence with Ignore', async () => {
    const { code, headers } = await server.call(`${rcs}?fieldValidation=Ignore`, post(odd('ignored'), json))
    expect([code, headers.warning]).toEqual([201, undefined])
  })

  it('are a BadRequest with Strict', async () => {
    expect(await strict(rcs, odd('refused'))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message:
        'ReplicationController in version "v1" cannot be handled as a ReplicationController: ' +
        'strict decoding error: duplicate field "spec.replicas", unknown field "spec.foo"',
    })
    expect(await strict(rcs, controller('refused', { foo: 1 }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message:
        'ReplicationController in version "v1" cannot be handled as a ReplicationController: strict decoding error: unknown field "spec.foo"',
    })
  })

  it('are told in the order of their names where the text was YAML', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nzoo: 1\nmetadata: {name: yaml-order, odd: 1}\nape: 1\n'
    const headers = { 'content-type': 'application/yaml' }
    expect(await server.failure(`${configMaps}?fieldValidation=Strict`, post(text, headers))).toMatchObject({
      message: expect.stringMatching(/unknown field "ape", unknown field "metadata.odd", unknown field "zoo"$/),
    })
  })

  it('are warned of where the write fails for another reason, too', async () => {
    await server.call(rcs, post(controller('warned-twice')))
    const { code, headers } = await server.call(rcs, post(odd('warned-twice'), json))
    expect(code).toBe(409)
    expect(headers.warning).toBe('299 - "duplicate field \\"spec.replicas\\"", 299 - "unknown field \\"spec.foo\\""')
  })

  it.each([
    [
      'merge-patch',
      '{"spec":{"foo":1,"replicas":1,"replicas":2}}',
      'duplicate field "spec.replicas", unknown field "spec.foo"',
    ],
    ['strategic-merge-patch', '{"spec":{"replicas":1,"replicas":2}}', 'duplicate field "spec.replicas"'],
    ['merge-patch', '{"spec":{"foo":1}}', 'unknown field "spec.foo"'],
    [
      'json-patch',
      '[{"op":"replace","path":"/spec/replicas","value":1,"value":2,"why":"so"}]',
      'json patch duplicate field "[0].value", json patch unknown field "[0].why"',
    ],
  ])('are refused in a %s with Strict, as what it makes of the object', async (type, body, problem) => {
    const name = `refused-patch-${type.length + body.length}`
    await server.call(rcs, post(controller(name)))
    const headers = { 'content-type': `application/${type}+json` }
    const failure = await server.failure(`${rcs}/${name}?fieldValidation=Strict`, { method: 'PATCH', body, headers })
    expect(failure).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field: 'patch' }] } })
    expect(failure.message?.endsWith(`: strict decoding error: ${problem}`)).toBe(true)
  })

  it('are refused in what is applied, in the words of its reader of YAML', async () => {
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}'
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const path = `${configMaps}/twice?fieldManager=me&fieldValidation=Strict`
    expect(await server.failure(path, { method: 'PATCH', body, headers })).toMatchObject({
      code: 400,
      message:
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    })
  })

  it('are found in YAML by their line, all in one error', async () => {
    const body = 'kind: ConfigMap\nmetadata:\n  name: yaml-thrice\ndata:\n  a: "1"\n  a: "2"\n  a: "3"\n'
    const headers = { 'content-type': 'application/yaml' }
    expect((await server.failure(`${configMaps}?fieldValidation=Strict`, post(body, headers))).message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ' +
        'yaml: unmarshal errors:\n  line 6: key "a" already set in map\n  line 7: key "a" already set in map',
    )
  })

  it('are found in YAML by their line', async () => {
    const body = 'kind: ConfigMap\nmetadata:\n  name: yaml-twice\ndata:\n  a: "1"\n  a: "2"\n'
    const headers = { 'content-type': 'application/yaml' }
    const warned = await server.call(configMaps, post(body, headers))
    expect([warned.code, warned.json.data]).toEqual([201, { a: '2' }])
    expect(warned.headers.warning).toContain('line 6: key \\"a\\" already set in map')
  })
})

describe('subresources', () => {
  it('scale a controller', async () => {
    await server.call(rcs, post(controller('scaled')))
    const scale = await server.call(`${rcs}/scaled/scale`)
    expect(scale.json).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 } })
    const body = { ...scale.json, spec: { replicas: 4 } }
    expect((await server.call(`${rcs}/scaled/scale`, { method: 'PUT', body })).code).toBe(200)
    const patch = {
      method: 'PATCH',
      body: '{"spec":{"replicas":5}}',
      headers: { 'content-type': 'application/merge-patch+json' },
    }
    expect((await server.call(`${rcs}/scaled/scale`, patch)).json.spec.replicas).toBe(5)
    expect((await server.call(`${rcs}/scaled`)).json.spec.replicas).toBe(5)
    expect(await server.failure(`${rcs}/scaled/scale`, { method: 'DELETE' })).toMatchObject({
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    })
  })

  it('show a scale as a table, and leave a zero out', async () => {
    await server.call(rcs, post(controller('tabled', { replicas: 0 })))
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { json } = await server.call(`${rcs}/tabled/scale`, { headers: { accept } })
    expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Desired',
      'Available',
      'Age',
    ])
    expect(json.rows[0].cells.slice(0, 3)).toEqual(['tabled', 0, 0])
    expect((await server.call(`${rcs}/tabled/scale`)).json.spec).toEqual({})
  })

  it('are not found as what they are', async () => {
    expect(await server.failure(`${rcs}/nobody/scale`)).toMatchObject({
      code: 404,
      message: 'replicationcontrollers "nobody" not found',
    })
  })

  it('refuse a patch that makes no scale, or that of another object', async () => {
    await server.call(rcs, post(controller('patched')))
    const patch = (body: string) => ({
      method: 'PATCH',
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    expect(await server.failure(`${rcs}/patched/scale`, patch('{"spec":{"replicas":"x"}}'))).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'patch' }] },
    })
    expect(await server.failure(`${rcs}/patched/scale`, patch('{"metadata":{"uid":"x"}}'))).toMatchObject({
      code: 409,
      message: expect.stringContaining('replicationcontrollers/scale "patched": Precondition failed: UID'),
    })
  })

  it('bind a pod', async () => {
    const pods = '/api/v1/namespaces/default/pods'
    await server.call('/api/v1/namespaces/default/serviceaccounts', post({ metadata: { name: 'default' } }))
    await server.call(pods, post({ metadata: { name: 'bound' }, spec: { containers: [{ name: 'c', image: 'i' }] } }))
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'bound' },
      target: { kind: 'Node', name: 'n1' },
    }
    expect((await server.call(`${pods}/bound/binding`, post(binding))).code).toBe(201)
    expect((await server.call(`${pods}/bound`)).json.spec.nodeName).toBe('n1')
    expect(await server.failure(`${pods}/bound/binding`, post(binding))).toMatchObject({ code: 409 })
  })

  it('write the status and nothing else', async () => {
    const { json } = await server.call(rcs, post(controller('stated')))
    const body = { ...json, spec: { ...json.spec, replicas: 9 }, status: { replicas: 3 } }
    const { json: written } = await server.call(`${rcs}/stated/status`, { method: 'PUT', body })
    expect([written.spec.replicas, written.status.replicas]).toEqual([1, 3])
    expect(await server.failure(`${rcs}/stated/status`, post(body))).toMatchObject({ code: 405 })
  })
})

describe('who asks', () => {
  const pods = '/api/v1/namespaces/default/pods'

  it('is the holder of a client certificate', async () => {
    expect((await server.call(pods, { as: server.pki.admin })).code).toBe(200)
    const eve = issueClientCertificate(realEnvironment(), server.pki.ca, { user: 'eve', groups: ['people'] })
    expect(await server.failure(pods, { as: eve })).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "default"',
    })
    expect((await server.call('/apis', { as: eve })).code).toBe(200)
  })

  it('is nobody with a certificate of another authority or a wrong token', async () => {
    const stranger = issueClientCertificate(realEnvironment(), createAuthority(realEnvironment()), {
      user: 'kubernetes-admin',
      groups: ['system:masters'],
    })
    for (const as of [stranger, { token: 'wrong' }] as const) {
      const failed = await server.failure(pods, { as })
      expect(failed).toMatchObject({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
    }
  })

  it('is anonymous without credentials, and sees health and version', async () => {
    expect((await server.call('/version', { as: 'anonymous' })).code).toBe(200)
    expect((await server.call('/readyz', { as: 'anonymous' })).text).toBe('ok')
    expect(await server.failure(pods, { as: 'anonymous' })).toMatchObject({
      code: 403,
      message:
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    })
    expect((await server.failure('/api', { as: 'anonymous' })).message).toBe(
      'forbidden: User "system:anonymous" cannot get path "/api"',
    )
  })

  it('may be someone else for who is allowed to be', async () => {
    const headers = { 'impersonate-user': 'eve' }
    expect((await server.failure(pods, { headers })).message).toContain('User "eve" cannot list')
    const eve = issueClientCertificate(realEnvironment(), server.pki.ca, { user: 'eve', groups: [] })
    const everything = { ...headers, 'impersonate-uid': '1', 'impersonate-extra-scopes': 'view' }
    expect((await server.failure(pods, { headers: everything })).message).toContain('User "eve" cannot list')
    expect((await server.failure(pods, { headers: { 'impersonate-uid': '1' } })).code).toBe(400)
    const failed = await server.failure(pods, { as: eve, headers: { 'impersonate-user': 'admin' } })
    expect(failed).toMatchObject({
      code: 403,
      message:
        'pods is forbidden: User "eve" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"',
    })
    const path = await server.failure('/version', { as: eve, headers: { 'impersonate-user': 'admin' } })
    expect(path.message).toBe('forbidden: User "eve" cannot impersonate-on:user-info:get path "/version"')
  })
})

describe('what the server says of itself', () => {
  it('is well', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/livez/ping']) {
      expect((await server.call(path)).text).toBe('ok')
    }
    expect((await server.call('/readyz?verbose')).text).toBe(
      '[+]ping ok\n[+]informer-sync ok\n[+]poststarthook/rbac/bootstrap-roles ok\nreadyz check passed\n',
    )
  })

  it('is its metrics, to those who may see them', async () => {
    const metrics = createMetricsRegistry()
    metrics.counter({ name: 'shop_sales_total', help: 'Sales.' }).with({}).inc(3)
    await using stack = new AsyncDisposableStack()
    const server = stack.adopt(await TestServer.start({ metrics }), (each) => each.close())
    const text = '# HELP shop_sales_total Sales.\n# TYPE shop_sales_total counter\nshop_sales_total 3\n'
    expect((await server.call('/metrics')).text).toContain(text)
    expect((await server.call('/')).json.paths).toContain('/metrics')
    const certificateOf = (...groups: string[]) =>
      issueClientCertificate(realEnvironment(), server.pki.ca, { user: 'eve', groups })
    expect((await server.call('/metrics', { as: certificateOf('system:monitoring') })).text).toContain(text)
    expect(await server.failure('/metrics', { as: certificateOf() })).toMatchObject({
      code: 403,
      message: 'forbidden: User "eve" cannot get path "/metrics"',
    })
  })

  it('is its metrics by any method, and counts from zero by DELETE', async () => {
    const metrics = createMetricsRegistry()
    metrics
      .counter({ name: 'shop_sales_total', help: 'Sales.', labels: ['of'] })
      .with({ of: 'tea' })
      .inc(3)
    await using stack = new AsyncDisposableStack()
    const server = stack.adopt(await TestServer.start({ metrics }), (each) => each.close())
    expect((await server.call('/metrics', { method: 'POST' })).text).toContain('shop_sales_total{of="tea"} 3\n')
    await server.call('/livez')
    expect((await server.call('/metrics/slis')).text).toContain('status="success"} 1')
    for (const path of ['/metrics', '/metrics/slis']) {
      const { code, text, headers } = await server.call(path, { method: 'DELETE' })
      expect([code, text, headers['content-type']]).toEqual([200, 'metrics reset\n', 'text/plain; charset=utf-8'])
    }
    expect((await server.call('/metrics')).text).toContain('shop_sales_total{of="tea"} 0\n')
    expect((await server.call('/metrics/slis')).text).not.toContain('status="success"} 1')
  })

  it('tells how often its checks have held, of those that somebody made', async () => {
    let disk: string | undefined
    const readiness = [{ name: 'disk', check: () => disk }]
    await using stack = new AsyncDisposableStack()
    const started = await TestServer.start({ metrics: createMetricsRegistry(), readiness })
    const server = stack.adopt(started, (each) => each.close())
    const checksOf = (text: string) => text.split('\n').filter((line) => line.startsWith('kubernetes_healthcheck'))
    expect(checksOf((await server.call('/metrics/slis')).text)).toEqual([])
    await server.call('/readyz?exclude=informer-sync&exclude=poststarthook/rbac/bootstrap-roles')
    await server.call('/readyz/disk')
    disk = 'it is full'
    await server.call('/readyz?exclude=informer-sync&exclude=poststarthook/rbac/bootstrap-roles&exclude=ping')
    const { text } = await server.call('/metrics/slis')
    expect(checksOf(text)).toEqual([
      'kubernetes_healthcheck{name="ping",type="readyz"} 1',
      'kubernetes_healthcheck{name="disk",type="readyz"} 0',
      'kubernetes_healthchecks_total{name="ping",type="readyz",status="success"} 1',
      'kubernetes_healthchecks_total{name="disk",type="readyz",status="success"} 1',
      'kubernetes_healthchecks_total{name="disk",type="readyz",status="error"} 1',
    ])
    expect(text).toContain('process_start_time_seconds')
    expect((await server.call('/')).json.paths).toContain('/metrics/slis')
  })

  it('has metrics only where they are kept', async () => {
    expect((await server.call('/metrics')).code).toBe(404)
    expect((await server.call('/metrics/slis')).code).toBe(404)
  })

  it('is a version', async () => {
    expect((await server.call('/version')).json).toMatchObject({
      major: '1',
      minor: '36',
      emulationMajor: '1',
      emulationMinor: '36',
      minCompatibilityMajor: '1',
      minCompatibilityMinor: '35',
      gitVersion: 'v1.36.0+coracle',
    })
  })

  it.each([
    ['text/html', 406],
    ['application/yaml', 406],
    ['text/html, application/json;q=0.1', 200],
    ['*/*', 200],
  ])('is a version in JSON alone: to whoever accepts %s it says %i', async (accept, code) => {
    const answer = await server.call('/version', { headers: { accept } })
    expect(answer.code).toBe(code)
  })

  it('says no more to whoever takes no version in JSON', async () => {
    expect(await server.failure('/version', { headers: { accept: 'text/html' } })).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      message: '406: Not Acceptable\n\nAvailable representations: application/json',
      details: {},
    })
  })

  it('is a list of all its paths, of which each answers', async () => {
    const { paths } = (await server.call('/')).json
    expect(paths).toEqual([...paths].sort())
    expect(paths).toEqual(
      expect.arrayContaining([
        ...['/api', '/api/v1', '/apis', '/apis/', '/apis/coordination.k8s.io', '/apis/coordination.k8s.io/v1'],
        ...['/healthz', '/healthz/ping', '/livez/ping', '/readyz', '/readyz/informer-sync'],
        ...['/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'],
      ]),
    )
    const answers = await Promise.all(paths.map((path: string) => server.call(path)))
    expect(answers.map(({ code }) => code)).toEqual(paths.map(() => 200))
    expect((await server.failure('/', { as: 'anonymous' })).message).toBe(
      'forbidden: User "system:anonymous" cannot get path "/"',
    )
  })

  it('is a list of groups, versions and kinds', async () => {
    expect((await server.call('/api')).json).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: new URL(server.url).host }],
    })
    const { json: groups } = await server.call('/apis')
    expect(groups.groups[0].name).toBe('apiregistration.k8s.io')
    expect(groups.groups).toContainEqual({
      name: 'coordination.k8s.io',
      versions: [{ groupVersion: 'coordination.k8s.io/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'coordination.k8s.io/v1', version: 'v1' },
    })
    expect((await server.call('/apis/coordination.k8s.io')).json.kind).toBe('APIGroup')
    const { json: resources } = await server.call('/api/v1')
    expect(resources).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
    expect(resources.resources).toContainEqual(
      expect.objectContaining({ name: 'replicationcontrollers', kind: 'ReplicationController', shortNames: ['rc'] }),
    )
    expect(resources.resources).toContainEqual(
      expect.objectContaining({
        name: 'replicationcontrollers/scale',
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
      }),
    )
    expect(await server.call('/apis/none.example.com')).toMatchObject({ code: 404, text: '404 page not found\n' })
  })

  it('is all of that at once for those who ask, and not twice', async () => {
    const accept = `application/json;${aggregated},application/json;${aggregated.replace('v=v2', 'v=v2beta1')},application/json`
    const { json, headers } = await server.call('/api', { headers: { accept } })
    expect(headers['content-type']).toBe(`application/json;${aggregated}`)
    expect(headers['cache-control']).toBe('public')
    expect(json).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    expect(json.items[0].versions[0].resources).toContainEqual(
      expect.objectContaining({
        resource: 'pods',
        responseKind: { group: '', version: '', kind: 'Pod' },
        scope: 'Namespaced',
      }),
    )
    const pods = json.items[0].versions[0].resources.find(({ resource }: { resource: string }) => resource === 'pods')
    expect(pods.subresources).toContainEqual({
      subresource: 'eviction',
      responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    })
    const again = await server.call('/api', { headers: { accept, 'if-none-match': String(headers.etag) } })
    expect([again.code, again.text]).toEqual([304, ''])
  })

  it.each([
    ['/api', 'application/json', 'application/json'],
    ['/apis', 'application/yaml', 'application/yaml'],
    ['/apis/apps', 'text/html, application/yaml;q=0.9, application/json;q=0.1', 'application/yaml'],
    ['/apis/apps/v1', 'application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf'],
    // Upstream has no routes there that know no patterns.
    ['/apis', 'application/*', 'application/json'],
    ['/apis/apps', 'application/*', 'application/json'],
    ['/api', '*/*', 'application/json'],
    ['/apis', `application/yaml;${aggregated}`, `application/yaml;${aggregated}`],
    ['/apis', `application/vnd.kubernetes.protobuf;${aggregated}`, `application/vnd.kubernetes.protobuf;${aggregated}`],
    // The older form is no longer served.
    ['/apis', `application/json;${aggregated.replace('v=v2', 'v=v2beta1')},application/json`, 'application/json'],
    ['/apis', `application/json,application/json;${aggregated}`, 'application/json'],
    ['/apis/apps', `application/json;${aggregated},application/yaml`, 'application/yaml'],
  ])('is at %s to who accepts %s in %s', async (path, accept, contentType) => {
    const { code, headers } = await server.call(path, { headers: { accept } })
    expect([code, headers['content-type']]).toEqual([200, contentType])
  })

  it('is the same in YAML and, for people, in lines', async () => {
    const { json } = await server.call('/apis/apps')
    const { text } = await server.call('/apis/apps', { headers: { accept: 'application/yaml' } })
    expect(parse(text)).toEqual(json)
    expect((await server.call('/apis/apps?pretty=1')).text).toBe(`${JSON.stringify(json, null, 2)}\n`)
  })

  const asRoutes = `406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf`
  const asOthers = `only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf`
  it.each([
    ['/api', 'text/html', asRoutes],
    ['/api/v1', 'application/*', asRoutes],
    ['/apis/apps/v1', 'text/html', asRoutes],
    ['/apis/apps/v1', `application/json;${aggregated}`, asOthers],
    ['/apis', 'text/html', asOthers],
    ['/apis/apps', 'text/html', asOthers],
    ['/apis', 'application/json;as=Table;v=v1;g=meta.k8s.io', asOthers],
  ])('is not at %s to who accepts %s', async (path, accept, message) => {
    expect(await server.failure(path, { headers: { accept } })).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      message,
    })
  })

  it('is its schemas', async () => {
    const { json: v2 } = await server.call('/openapi/v2')
    expect(v2.definitions['io.k8s.api.core.v1.Pod']).toBeDefined()
    const { json: index } = await server.call('/openapi/v3')
    const { serverRelativeURL } = index.paths['api/v1']
    const v3 = await server.call(serverRelativeURL)
    expect(v3.json.components.schemas['io.k8s.api.core.v1.Pod']).toBeDefined()
    expect(v3.headers['cache-control']).toContain('immutable')
  })

  it.each([
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', openApiProtobuf],
    ['application/json;q=0.5, application/com.github.proto-openapi.spec.v2.v1.0+protobuf', openApiProtobuf],
    ['*/*', 'application/json'],
    ['text/html, application/*;q=0.1', 'application/json'],
  ])('is schemas of version 2 to who accepts %s in %s', async (accept, contentType) => {
    const { code, headers } = await server.call('/openapi/v2', { headers: { accept } })
    expect([code, headers['content-type']]).toEqual([200, contentType])
  })

  it('says nothing to who takes no schemas as they are', async () => {
    for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
      const { code, text } = await server.call(path, { headers: { accept: 'text/html' } })
      expect([code, text]).toEqual([406, ''])
    }
    const index = await server.call('/openapi/v3', { headers: { accept: 'text/html' } })
    expect([index.code, index.headers['content-type']]).toEqual([200, 'application/json'])
  })

  it('leads from schemas as they were to those as they are', async () => {
    const { json: index } = await server.call('/openapi/v3')
    const { code, headers } = await server.call('/openapi/v3/api/v1?hash=OLD')
    expect([code, headers.location]).toEqual([301, index.paths['api/v1'].serverRelativeURL])
  })
})

describe('the log of a container', () => {
  it('goes out as it comes, and stops when the client goes', async () => {
    let stopped: () => void = () => {}
    const whenStopped = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const logging = await TestServer.start({
      nodes: nodeGateway({
        logs: async (_pod, options, signal) =>
          (async function* () {
            yield Buffer.from(`tail ${options.tailLines}\n`)
            if (options.follow) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
            stopped()
          })(),
      }),
    })
    const pods = '/api/v1/namespaces/default/pods'
    await logging.call('/api/v1/namespaces/default/serviceaccounts', post({ metadata: { name: 'default' } }))
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] }
    expect((await logging.call(pods, post({ metadata: { name: 'p' }, spec }))).code).toBe(201)
    const whole = await logging.call(`${pods}/p/log?tailLines=3`)
    expect([whole.headers['content-type'], whole.text]).toEqual(['text/plain', 'tail 3\n'])

    const following = await logging.lines(`${pods}/p/log?follow=true`)
    following.close()
    await whenStopped
    await logging.close()
  })
})

describe('closing', () => {
  it('ends watches', async () => {
    const closing = await TestServer.start()
    const watch = await closing.lines(`${configMaps}?watch=1`)
    const closed = closing.close()
    let last: unknown
    do last = await watch.next()
    while (last !== undefined)
    await closed
  })

  it('turns requests that take too long into a timeout', async () => {
    const environment = virtualEnvironment()
    const arrived = Promise.withResolvers<void>()
    const late = Promise.withResolvers<KubernetesObject>()
    const mutate = ({ name }: AdmissionAttributes, object: KubernetesObject | undefined) => {
      if (name !== 'slow') return object
      arrived.resolve()
      return late.promise.then(() => object)
    }
    const slow = await TestServer.start({
      environment,
      admission: [{ name: 'never', mutate }],
    })
    const call = slow.failure(configMaps, post(configMap('slow')))
    const expectation = expect(call).resolves.toMatchObject({ code: 504, reason: 'Timeout' })
    await arrived.promise
    await environment.clock.advance('62s')
    await expectation
    // What comes too late changes nothing for the client.
    late.resolve(configMap('slow'))
    expect((await slow.call(`${configMaps}/slow`)).code).toBeOneOf([200, 404])
    await slow.close()
  })
})

describe('older forms of requests', () => {
  it('have the group of core kinds before their version', async () => {
    const { code, json } = await server.call(
      configMaps,
      post({ apiVersion: '/v1', kind: 'ConfigMap', metadata: { name: 'v1' } }),
    )
    expect([code, json.apiVersion]).toEqual([201, 'v1'])
    expect((await server.failure(configMaps, post({ apiVersion: '//v1', kind: 'ConfigMap' }))).code).toBe(400)
  })

  it('ask for what was exported once, which is refused', async () => {
    await server.call(configMaps, post({ metadata: { name: 'exported' } }))
    expect(await server.failure(`${configMaps}/exported?export=true`)).toMatchObject({
      code: 400,
      message: 'the export parameter, deprecated since v1.14, is no longer supported',
    })
    expect((await server.call(`${configMaps}/exported?export=false`)).code).toBe(200)
  })

  it.each(['v1', 'v1beta1'])('ask for tables of %s, whose rows are of that version', async (version) => {
    await server.call(configMaps, post({ metadata: { name: `table-${version}` } }))
    const headers = { accept: `application/json;as=Table;g=meta.k8s.io;v=${version}` }
    const apiVersion = `meta.k8s.io/${version}`
    const { json: one } = await server.call(`${configMaps}/table-${version}`, { headers })
    expect([one.apiVersion, one.rows[0].object.apiVersion]).toEqual([apiVersion, apiVersion])
    const { json: all } = await server.call(configMaps, { headers })
    expect(all.rows.at(-1).object).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion })
  })
})

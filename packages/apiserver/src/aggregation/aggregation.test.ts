import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type ApiService, apiServices, type KubernetesObject, type Resource, services } from '@coracle/api'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import { createAuthority, issueServingCertificate } from '@coracle/environment/certificates'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, TestServer } from '../http/testing/test-server.ts'
import {
  createPki,
  issueApiCertificate,
  issueClientCertificate,
  type KeyPair,
  type Pki,
} from '../security/certificates.ts'
import { listenForTest } from '../testing/listen-for-test.ts'
import { refusal, startTestCore } from '../testing/test-core.ts'
import { frontProxyUser } from './front-proxy.ts'

const environment = realEnvironment()
const pki: Pki = createPki(environment)
const certificate = issueApiCertificate(environment, pki.ca, ['adapter.metrics.svc'])
const issueFrontProxy = (): KeyPair => issueClientCertificate(environment, pki.ca, { user: frontProxyUser, groups: [] })
const frontProxyPair = issueFrontProxy()
const frontProxy = async () => frontProxyPair

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly subject: unknown
  readonly serial: unknown
  readonly body: string
}

const resourceList = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'custom.metrics.k8s.io/v1beta2',
  resources: [{ name: 'pods/qps', singularName: '', namespaced: true, kind: 'MetricValueList', verbs: ['get'] }],
}

const notThere = (_asked: Asked, response: ServerResponse): void => {
  response.writeHead(404).end()
}

/** A server that is put behind: over TLS, for nobody but the front proxy. */
async function startAdapter(
  answer?: (asked: Asked, response: ServerResponse) => void,
  schemas: object = {},
  openApi: (asked: Asked, response: ServerResponse) => void = notThere,
  discovery: (asked: Asked, response: ServerResponse) => void = notThere,
  serving = certificate,
  resources = () => JSON.stringify(resourceList),
) {
  const asked: Asked[] = []
  const tls = { key: serving.keyPem, cert: serving.certificatePem, ca: pki.ca.certificatePem }
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    const { subject, serialNumber: serial } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate()
    const seen = { method, path, headers, subject: subject?.CN, serial, body: Buffer.concat(chunks).toString() }
    response.setHeader('Content-Type', 'application/json')
    if (path === '/apis/custom.metrics.k8s.io/v1beta2') return response.end(resources())
    if (path === '/openapi/v3') return response.end(JSON.stringify({ paths: schemas }))
    if (path === '/openapi/v2') return openApi(seen, response)
    if (path === '/apis') return discovery(seen, response)
    asked.push(seen)
    if (answer !== undefined) return answer(seen, response)
    response.setHeader('X-Adapter', 'yes')
    response.end(JSON.stringify({ kind: 'MetricValueList', apiVersion: 'custom.metrics.k8s.io/v1beta2', items: [] }))
  })
  return { asked, port: await listenForTest(server), server }
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'adapter', namespace: 'metrics' },
  spec: { type: 'ExternalName', externalName: 'localhost' },
}
const metrics = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'metrics' } }
const apiService = (port: number, more: Partial<NonNullable<ApiService['spec']>> = {}): ApiService => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1beta2.custom.metrics.k8s.io' },
  spec: {
    group: 'custom.metrics.k8s.io',
    version: 'v1beta2',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    caBundle: Buffer.from(pki.ca.certificatePem).toString('base64'),
    service: { name: 'adapter', namespace: 'metrics', port },
    ...more,
  },
})
const post = (body: unknown) => ({ method: 'POST', body })

async function startServer(
  port: number,
  more: Partial<NonNullable<ApiService['spec']>> = {},
  expected = 'True',
  proxy = frontProxy,
) {
  const server = await TestServer.start({ frontProxy: proxy })
  onTestFinished(() => server.close())
  await server.call('/api/v1/namespaces', post(metrics))
  await server.call('/api/v1/namespaces/metrics/services', post(service))
  const created = await server.call('/apis/apiregistration.k8s.io/v1/apiservices', post(apiService(port, more)))
  expect(created.code).toBe(201)
  const path =
    '/apis/apiregistration.k8s.io/v1/apiservices?watch=true&fieldSelector=metadata.name=v1beta2.custom.metrics.k8s.io'
  const watch = await server.lines(path)
  for (;;) {
    const { object } = await watch.next()
    const condition = object.status?.conditions?.[0]
    if (condition?.status !== expected) continue
    watch.close()
    return { server, condition }
  }
}

const podsPath = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/qps'

describe('requests for what another server serves', () => {
  it('go there for the user who asks, and come back as they are', async () => {
    const { asked, port } = await startAdapter()
    const { server } = await startServer(port)
    const headers = {
      'X-Remote-User': 'somebody-else',
      'X-Remote-Group': 'system:masters',
      Accept: 'application/json',
      'X-Own': 'kept',
    }
    const answer = await server.call(`${podsPath}?labelSelector=app%3Dweb`, { headers })
    expect([answer.code, answer.headers['x-adapter'], answer.json.kind]).toEqual([200, 'yes', 'MetricValueList'])
    const [only] = asked
    expect(only).toMatchObject({
      method: 'GET',
      path: `${podsPath}?labelSelector=app%3Dweb`,
      subject: 'front-proxy-client',
    })
    expect(only?.headers).toMatchObject({ 'x-remote-user': 'admin', 'x-own': 'kept' })
    expect(only?.headers['x-remote-group']).toBe('system:masters, system:authenticated')
    expect(only?.headers.authorization).toBeUndefined()
    expect(JSON.stringify(only?.headers)).not.toContain(adminToken)
  })

  it('are sent with their body', async () => {
    const { asked, port } = await startAdapter()
    const { server } = await startServer(port)
    await server.call(podsPath, {
      method: 'PATCH',
      body: '[1]',
      headers: { 'Content-Type': 'application/json-patch+json' },
    })
    expect(asked[0]).toMatchObject({ method: 'PATCH', body: '[1]' })
    expect(asked[0]?.headers['content-type']).toBe('application/json-patch+json')
  })

  it('go with the certificate of this moment', async () => {
    const { asked, port } = await startAdapter()
    let pair = issueFrontProxy()
    const { server } = await startServer(port, {}, 'True', async () => pair)
    await server.call(podsPath)
    await server.call(podsPath)
    pair = issueFrontProxy()
    await server.call(podsPath)
    const [first, second, third] = asked.map(({ serial }) => serial)
    expect(second).toBe(first)
    expect(third).toBe(new X509Certificate(pair.certificatePem).serialNumber)
  })

  it('are judged before they go', async () => {
    const { asked, port } = await startAdapter()
    const { server } = await startServer(port)
    const { message } = await server.failure(podsPath, { as: 'anonymous' })
    expect(message).toContain('cannot get resource "pods/qps" in API group "custom.metrics.k8s.io"')
    expect(asked).toEqual([])
  })

  it('come back with the errors of the other server', async () => {
    const { port } = await startAdapter((_asked, response) => {
      response.writeHead(404)
      response.end('{"kind":"Status","code":404,"reason":"NotFound","message":"no such metric"}')
    })
    const { server } = await startServer(port)
    expect(await server.failure(podsPath)).toMatchObject({ code: 404, message: 'no such metric' })
  })

  it('are broken off when their time is over', async () => {
    const heard = Promise.withResolvers<ServerResponse>()
    const { port } = await startAdapter((_asked, response) => heard.resolve(response))
    const { server } = await startServer(port)
    const { code, reason } = await server.failure(`${podsPath}?timeout=100ms`)
    expect([code, reason]).toEqual([504, 'Timeout'])
    const response = await heard.promise
    if (!response.closed) await once(response, 'close')
  })

  it('go on for as long as a log is followed, whatever time others are given', async () => {
    const { port } = await startAdapter((_asked, response) => response.write('one\n'))
    const { server } = await startServer(port)
    const path = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/machines/m'
    const { answer } = await server.lines(`${path}/log?timeout=100ms`)
    const { answer: other } = await server.lines(`${path}/console?timeout=100ms`)
    await expect(once(other.resume(), 'end')).rejects.toThrow('aborted')
    expect([answer.statusCode, answer.destroyed]).toEqual([200, false])
    answer.destroy()
  })

  it('go on for as long as a watch goes', async () => {
    const { port } = await startAdapter((_asked, response) => response.write('{"type":"ADDED","object":{}}\n'))
    const { server } = await startServer(port)
    const watch = await server.lines('/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/widgets?watch=true')
    expect(await watch.next()).toEqual({ type: 'ADDED', object: {} })
    watch.close()
  })

  it('go on though the APIService changes or goes', async () => {
    const watchers: ServerResponse[] = []
    const { port, server: adapter } = await startAdapter((_asked, response) => {
      watchers.push(response)
      response.write('{"type":"ADDED"}\n')
    })
    const { server } = await startServer(port)
    const watch = await server.lines('/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/widgets?watch=true')
    await watch.next()
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io'
    const headers = { 'content-type': 'application/merge-patch+json' }
    await server.call(path, { method: 'PATCH', headers, body: { spec: { versionPriority: 7 } } })
    watchers[0]?.write('{"type":"MODIFIED"}\n')
    expect(await watch.next()).toEqual({ type: 'MODIFIED' })
    await server.call(path, { method: 'DELETE' })
    watchers[0]?.end('{"type":"DELETED"}\n')
    expect(await watch.next()).toEqual({ type: 'DELETED' })
    watch.close()
    // Nothing is asked over its connections any more.
    await expect.poll(() => new Promise((resolve) => adapter.getConnections((_, count) => resolve(count)))).toBe(0)
  })

  it.each<[string, object, string, RegExp]>([
    [
      'nobody listens',
      { service: { name: 'adapter', namespace: 'metrics', port: 1 } },
      'FailedDiscoveryCheck',
      /^failing or missing response from https:\/\/localhost:1\/apis\/custom.metrics.k8s.io\/v1beta2: .*ECONNREFUSED/,
    ],
    ['its certificate is not trusted', { caBundle: undefined }, 'FailedDiscoveryCheck', /certificate/],
    [
      'there is no such service',
      { service: { name: 'other', namespace: 'metrics', port: 443 } },
      'ServiceNotFound',
      /^service\/other in "metrics" is not present$/,
    ],
  ])('are refused where %s', async (_what, more, reason, message) => {
    const { port } = await startAdapter()
    const { server, condition } = await startServer(port, more, 'False')
    expect(condition).toMatchObject({ type: 'Available', reason })
    expect(condition.message).toMatch(message)
    const answer = await server.call(podsPath)
    expect([answer.code, answer.text]).toEqual([503, 'service unavailable\n'])
  })

  it('are answered though its certificate is not trusted where that does not matter', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port, { caBundle: undefined, insecureSkipTLSVerify: true } as object)
    expect((await server.call(podsPath)).code).toBe(200)
  })

  it('are this server’s own again when the APIService is gone', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port)
    await server.call('/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io', { method: 'DELETE' })
    expect((await server.call(podsPath)).code).toBe(404)
  })
})

describe('requests for another protocol', () => {
  const path = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/machines/m/vnc'

  const ask = async (server: TestServer, more: readonly string[] = []) => {
    const socket = await server.connect()
    const lines = [
      `GET ${path}?x=1 HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${adminToken}`,
      'X-Remote-User: somebody-else',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: eA==',
      ...more,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\nhello`)
    return socket
  }

  it('become connections to the other server', async () => {
    const { port, server: adapter } = await startAdapter()
    const asked: IncomingMessage[] = []
    adapter.on('upgrade', (request, socket) => {
      asked.push(request)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: y\r\n\r\n')
      socket.once('data', (piece: Buffer) => socket.end(`${piece} back`))
    })
    const { server } = await startServer(port)
    const answer = await text(await ask(server))
    expect(answer).toContain('HTTP/1.1 101 Switching Protocols\r\n')
    expect(answer).toMatch(/X-Own: y\r\n\r\nhello back$/)
    const [request] = asked
    expect([request?.method, request?.url]).toEqual(['GET', `${path}?x=1`])
    expect(request?.headers).toMatchObject({ 'x-remote-user': 'admin', 'sec-websocket-key': 'eA==' })
    expect(request?.headers.authorization).toBeUndefined()
  })

  it('are refused where the other server refuses them', async () => {
    const { port } = await startAdapter((_asked, response) => response.writeHead(403).end('not you'))
    const { server } = await startServer(port)
    const answer = await text(await ask(server))
    expect(answer).toContain('HTTP/1.1 403 Forbidden\r\n')
    expect(answer).toContain('not you')
  })

  it('end with their client', async () => {
    const { port, server: adapter } = await startAdapter()
    const switched = Promise.withResolvers<Duplex>()
    adapter.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      switched.resolve(socket)
    })
    const { server } = await startServer(port)
    const socket = await ask(server)
    const other = await switched.promise
    await once(socket, 'data')
    socket.destroy()
    if (!other.closed) await once(other.on('error', () => {}).resume(), 'close')
  })

  it('are judged before they go', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port)
    expect(await text(await ask(server, ['Impersonate-User: jane']))).toContain('HTTP/1.1 403 Forbidden\r\n')
  })
})

describe('clients in process', () => {
  const pods: Resource<KubernetesObject> = {
    group: 'custom.metrics.k8s.io',
    version: 'v1beta2',
    kind: 'MetricValueList',
    plural: 'pods',
    namespaced: true,
  }

  it('reach other servers as those over HTTP do, and a virtual clock waits for them', async () => {
    const { asked, port } = await startAdapter()
    const environment = virtualEnvironment()
    const { client } = await startTestCore({ environment, frontProxy })
    await client.create(services, { ...service, metadata: { ...service.metadata, namespace: 'default' } } as never)
    const { spec } = apiService(port)
    const own = { ...apiService(port), spec: { ...spec, service: { name: 'adapter', namespace: 'default', port } } }
    await client.create(apiServices, {
      ...own,
      spec: { ...own.spec, insecureSkipTLSVerify: true, caBundle: undefined },
    } as never)
    await environment.clock.advance('1s')
    const [condition] =
      (await client.get(apiServices, { name: 'v1beta2.custom.metrics.k8s.io' })).status?.conditions ?? []
    expect(condition).toMatchObject({ status: 'True', reason: 'Passed' })
    let text = ''
    const stream = await client.stream(pods, { namespace: 'default', name: '*' }, 'qps', { labelSelector: 'a=b' })
    for await (const piece of stream) text += Buffer.from(piece).toString()
    expect(JSON.parse(text).kind).toBe('MetricValueList')
    expect(asked[0]).toMatchObject({ path: `${podsPath}?labelSelector=a%3Db` })
    expect(asked[0]?.headers['x-remote-user']).toBe('system:apiserver')
    expect((await client.list(pods, { namespace: 'default' })).items).toEqual([])
  })

  it('learn that they cannot be reached', async () => {
    const { client } = await startTestCore({ frontProxy })
    await client.create(apiServices, apiService(1))
    expect(await refusal(client.list(pods))).toMatchObject({
      code: 503,
      message: 'the server is currently unable to handle the request',
    })
  })
})

describe('discovery', () => {
  it('shows what other servers serve', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port)
    const { json: groups } = await server.call('/apis')
    expect(groups.groups.find(({ name }: { name: string }) => name === 'custom.metrics.k8s.io')).toEqual({
      name: 'custom.metrics.k8s.io',
      versions: [{ groupVersion: 'custom.metrics.k8s.io/v1beta2', version: 'v1beta2' }],
      preferredVersion: { groupVersion: 'custom.metrics.k8s.io/v1beta2', version: 'v1beta2' },
    })
    expect((await server.call('/apis/custom.metrics.k8s.io/v1beta2')).json).toEqual(resourceList)
    expect((await server.call('/apis/custom.metrics.k8s.io')).json.versions).toHaveLength(1)
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { json } = await server.call('/apis', { headers: { accept } })
    const item = json.items.find(
      ({ metadata }: { metadata: { name: string } }) => metadata.name === 'custom.metrics.k8s.io',
    )
    expect(item.versions).toMatchObject([
      {
        version: 'v1beta2',
        freshness: 'Current',
        resources: [{ resource: 'pods', scope: 'Namespaced', subresources: [{ subresource: 'qps', verbs: ['get'] }] }],
      },
    ])
  })

  it('leads to the schemas of other servers, which come from there', async () => {
    const path = 'apis/custom.metrics.k8s.io/v1beta2'
    const serverRelativeURL = `/openapi/v3/${path}?hash=ABC`
    const document = { openapi: '3.0.0', info: { title: 'adapter' } }
    const { asked, port } = await startAdapter((_asked, response) => response.end(JSON.stringify(document)), {
      [path]: { serverRelativeURL },
      'apis/other.example.com/v1': { serverRelativeURL: '/openapi/v3/apis/other.example.com/v1?hash=DEF' },
    })
    const { server } = await startServer(port)
    const { paths } = (await server.call('/openapi/v3')).json
    expect(paths[path]).toEqual({ serverRelativeURL })
    expect(paths['apis/apps/v1']).toBeDefined()
    expect(paths['apis/other.example.com/v1']).toBeUndefined()
    expect((await server.call(serverRelativeURL)).json).toEqual(document)
    expect(asked[0]).toMatchObject({ path: serverRelativeURL, headers: { 'x-remote-user': 'admin' } })
  })

  it('shows no schemas of a server that has none', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port)
    const { paths } = (await server.call('/openapi/v3')).json
    expect(Object.keys(paths).filter((each) => each.includes('custom.metrics'))).toEqual([])
  })

  describe('in OpenAPI’s second version', () => {
    const path = '/apis/custom.metrics.k8s.io/v1beta2/qps'
    const get = { responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/Qps' } } } }
    const document = {
      swagger: '2.0',
      paths: { [path]: { get }, '/other': {} },
      definitions: { Qps: { type: 'object' } },
    }
    const paths = async (server: TestServer) => (await server.call('/openapi/v2')).json.paths

    it('has what other servers say, in JSON and in protobuf, until they are gone', async () => {
      const { port } = await startAdapter(undefined, {}, (_asked, response) => response.end(JSON.stringify(document)))
      const { server } = await startServer(port)
      const { json } = await server.call('/openapi/v2')
      expect([json.paths[path], json.paths['/other'], json.definitions.Qps]).toEqual([
        { get },
        undefined,
        { type: 'object' },
      ])
      expect(json.paths['/api/v1/pods']).toBeDefined()
      const accept = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
      expect((await server.call('/openapi/v2', { headers: { accept } })).text).toContain(path)
      const name = 'v1beta2.custom.metrics.k8s.io'
      await server.call(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`, { method: 'DELETE' })
      expect((await paths(server))[path]).toBeUndefined()
    })

    it('is not read again while it is called the same', async () => {
      const seen: unknown[] = []
      const { port } = await startAdapter(undefined, {}, ({ headers }, response) => {
        seen.push(headers['if-none-match'])
        response.setHeader('ETag', '"1"')
        if (headers['if-none-match'] === '"1"') response.writeHead(304).end()
        else response.end(JSON.stringify(document))
      })
      const { server } = await startServer(port)
      // Something that servers behind this one may depend on has changed: they are looked at again.
      await server.call('/api/v1/namespaces/metrics/services', post({ ...service, metadata: { name: 'other' } }))
      await expect.poll(() => seen).toEqual([undefined, '"1"'])
      expect((await paths(server))[path]).toEqual({ get })
    })

    it.each([
      ['no JSON', 'what'],
      [
        'what cannot be written in protobuf',
        JSON.stringify({ ...document, paths: { [path]: { get: { 'no such': 1 } } } }),
      ],
    ])('leaves out %s', async (_what, text) => {
      const { port } = await startAdapter(undefined, {}, (_asked, response) => response.end(text))
      const { server } = await startServer(port)
      expect((await paths(server))[path]).toBeUndefined()
      expect((await server.call(podsPath)).code).toBe(200)
    })
  })

  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const groupsOf = async (server: TestServer): Promise<readonly Group[]> =>
    (await server.call('/apis', { headers: { accept: aggregated } })).json.items
  const versionsOf = async (server: TestServer) =>
    (await groupsOf(server)).find(({ metadata }) => metadata.name === 'custom.metrics.k8s.io')?.versions
  /** Has what depends on the servers behind this one looked at again. */
  const changeSomething = (server: TestServer, name: string) =>
    server.call('/api/v1/namespaces/metrics/services', post({ ...service, metadata: { name } }))

  interface Group {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly { readonly version: string; readonly freshness: string; readonly resources: unknown }[]
  }

  describe('of a server that tells everything at once', () => {
    const metricValues = { group: 'custom.metrics.k8s.io', version: 'v1beta2', kind: 'MetricValueList' }
    const pods = {
      resource: 'pods',
      responseKind: metricValues,
      scope: 'Namespaced',
      singularResource: 'pod',
      verbs: ['get'],
      shortNames: ['mpo'],
      subresources: [
        { subresource: 'qps', responseKind: metricValues, acceptedTypes: [metricValues], verbs: ['create'] },
      ],
    }
    const listOf = (resource: object) => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: [
        { metadata: { name: 'other.example.com' }, versions: [{ version: 'v1', resources: [resource] }] },
        {
          metadata: { name: 'custom.metrics.k8s.io' },
          versions: [{ version: 'v1beta2', freshness: 'Current', resources: [resource], unknown: true }],
        },
      ],
    })
    const answering =
      (list: unknown, contentType = aggregated) =>
      (_asked: Asked, response: ServerResponse) => {
        response.setHeader('Content-Type', contentType)
        response.end(JSON.stringify(list))
      }

    it.each(['v2', 'v2beta1'])('shows it as it says it in %s', async (version) => {
      const seen: unknown[] = []
      const answer = answering(listOf(pods), aggregated.replace('v=v2', `v=${version}`))
      const { port } = await startAdapter(undefined, {}, notThere, (asked, response) => {
        seen.push(asked.headers.accept, asked.headers['x-remote-user'])
        answer(asked, response)
      })
      const { server } = await startServer(port)
      expect(await versionsOf(server)).toEqual([{ version: 'v1beta2', resources: [pods], freshness: 'Current' }])
      expect(seen).toEqual([
        `${aggregated},${aggregated.replace('v=v2', 'v=v2beta1')},application/json`,
        'system:kube-aggregator',
      ])
      expect((await groupsOf(server)).some(({ metadata }) => metadata.name === 'other.example.com')).toBe(false)
      const accept = 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      expect((await server.call('/apis', { headers: { accept } })).text).toContain('mpo')
    })

    it('gives resources a kind that have none: some clients read it unasked', async () => {
      const { responseKind: _kind, ...unkind } = { ...pods, subresources: [{ subresource: 'qps', verbs: ['get'] }] }
      const { port } = await startAdapter(undefined, {}, notThere, answering(listOf(unkind)))
      const { server } = await startServer(port)
      const responseKind = { group: '', version: '', kind: '' }
      const subresources = [{ subresource: 'qps', responseKind, verbs: ['get'] }]
      expect(await versionsOf(server)).toMatchObject([{ resources: [{ ...unkind, responseKind, subresources }] }])
    })

    it('shows a version as empty that it does not tell of', async () => {
      const { port } = await startAdapter(undefined, {}, notThere, answering({ ...listOf(pods), items: [] }))
      const { server } = await startServer(port)
      expect(await versionsOf(server)).toEqual([{ version: 'v1beta2', freshness: 'Current' }])
    })

    it('does not read it again while it is called the same', async () => {
      const seen: unknown[] = []
      const { port } = await startAdapter(undefined, {}, notThere, (asked, response) => {
        const known = asked.headers['if-none-match']
        seen.push(known)
        response.setHeader('ETag', '"1"')
        if (known === '"1"') response.writeHead(304).end()
        else answering(listOf(pods))(asked, response)
      })
      const { server } = await startServer(port)
      await changeSomething(server, 'other')
      await expect.poll(() => seen).toEqual([undefined, '"1"'])
      expect(await versionsOf(server)).toMatchObject([{ resources: [pods], freshness: 'Current' }])
    })

    it.each<[string, (asked: Asked, response: ServerResponse) => void]>([
      ['it tells nothing that can be read', answering({ ...listOf(pods), items: 'none' })],
      ['it says that it cannot tell now', (_asked, response) => response.writeHead(503).end()],
    ])('shows it as stale, and goes on sending requests there, where %s', async (_what, discovery) => {
      const { port } = await startAdapter(undefined, {}, notThere, discovery)
      const { server } = await startServer(port)
      expect(await versionsOf(server)).toEqual([{ version: 'v1beta2', freshness: 'Stale' }])
      expect((await server.call(podsPath)).code).toBe(200)
    })
  })

  it('puts groups and versions of other servers where their APIServices say', async () => {
    const { port } = await startAdapter()
    const { server } = await startServer(port, { groupPriorityMinimum: 17_550, versionPriority: 10 })
    const newer = apiService(port, { version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 20 })
    const metadata = { name: 'v1beta1.custom.metrics.k8s.io' }
    await server.call('/apis/apiregistration.k8s.io/v1/apiservices', post({ ...newer, metadata }))
    const groups = (await groupsOf(server)).map(({ metadata: { name } }) => name)
    const at = groups.indexOf('custom.metrics.k8s.io')
    expect(groups.slice(at - 1, at + 2)).toEqual(['authorization.k8s.io', 'custom.metrics.k8s.io', 'autoscaling'])
    expect((await versionsOf(server))?.map(({ version }) => version)).toEqual(['v1beta1', 'v1beta2'])
    const { json } = await server.call('/apis/custom.metrics.k8s.io')
    expect(json.preferredVersion.version).toBe('v1beta1')
  })

  it('lists them among the paths of the root while there is an APIService', async () => {
    const { server } = await startServer(1, {}, 'False')
    const paths = async (): Promise<readonly string[]> => (await server.call('/')).json.paths
    const remote = ['/apis/custom.metrics.k8s.io', '/apis/custom.metrics.k8s.io/v1beta2']
    expect((await paths()).filter((path) => path.startsWith('/apis/custom.metrics'))).toEqual(remote)
    await server.call('/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io', { method: 'DELETE' })
    await expect.poll(async () => (await paths()).join()).not.toContain('custom.metrics')
  })

  it('shows as stale what cannot be asked', async () => {
    const { server } = await startServer(1, {}, 'False')
    expect(await versionsOf(server)).toEqual([{ version: 'v1beta2', freshness: 'Stale' }])
    expect((await server.call('/apis/custom.metrics.k8s.io/v1beta2')).code).toBe(503)
  })

  it('tells controllers what they can look after, also while its server is away', async () => {
    const of = (name: string, verbs: readonly string[], namespaced = true) => ({ name, namespaced, kind: name, verbs })
    const all = ['create', 'delete', 'get', 'list', 'watch']
    let resources = [of('widgets', all), of('lamps', all, false), of('qps', ['get', 'list'])]
    const answer = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'custom.metrics.k8s.io/v1beta2' }
    const { port, server: adapter } = await startAdapter(undefined, {}, notThere, notThere, certificate, () =>
      JSON.stringify({ ...answer, resources }),
    )
    const { server } = await startServer(port)
    const { aggregator } = server.core
    let changes = 0
    const stop = aggregator.onResourcesChange(() => {
      changes += 1
    })
    const plurals = () => aggregator.resources().map(({ plural, namespaced }) => `${plural} ${namespaced}`)
    expect(plurals()).toEqual(['widgets true', 'lamps false'])
    expect(aggregator.resources()[0]).toMatchObject({
      group: 'custom.metrics.k8s.io',
      version: 'v1beta2',
      kind: 'widgets',
    })
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io'
    const patch = (body: object) =>
      server.call(path, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body })
    resources = [of('widgets', all)]
    await patch({ spec: { versionPriority: 7 } })
    await expect.poll(plurals).toEqual(['widgets true'])
    expect(changes).toBeGreaterThan(0)
    adapter.closeAllConnections()
    adapter.close()
    await patch({ metadata: { labels: { a: 'b' } } })
    expect(plurals()).toEqual(['widgets true'])
    await server.call(path, { method: 'DELETE' })
    expect(plurals()).toEqual([])
    stop()
  })

  it('shows as stale what cannot be asked any more, until it can be', async () => {
    const { port, server: adapter } = await startAdapter()
    const { server } = await startServer(port)
    expect(await versionsOf(server)).toMatchObject([{ freshness: 'Current' }])
    adapter.closeAllConnections()
    await new Promise((resolve) => adapter.close(resolve))
    await changeSomething(server, 'other')
    await expect.poll(() => versionsOf(server)).toEqual([{ version: 'v1beta2', freshness: 'Stale' }])
    await new Promise<void>((resolve) => adapter.listen(port, resolve))
    await changeSomething(server, 'another')
    await expect.poll(() => versionsOf(server)).toMatchObject([{ freshness: 'Current' }])
  })
})

// Go looks for the authority that has signed a certificate, OpenSSL first for whether its issuer has its own name.
describe('a server whose certificate has the name of its authority', () => {
  const authority = createAuthority(environment)
  const namesake = createAuthority(environment)
  const commonName = new X509Certificate(authority.certificatePem).subject.replace('CN=', '')
  const caBundle = Buffer.from(authority.certificatePem).toString('base64')
  const start = (signer = authority) => {
    const serving = issueServingCertificate(environment, signer, { commonName, hosts: ['adapter.metrics.svc'] })
    return startAdapter(undefined, {}, notThere, notThere, serving)
  }

  it('is believed', async () => {
    const { asked, port } = await start()
    const { server } = await startServer(port, { caBundle })
    expect((await server.call(podsPath)).code).toBe(200)
    expect(asked).toHaveLength(1)
  })

  it('is refused where another authority of that name has signed it', async () => {
    const { asked, port } = await start(namesake)
    const { condition } = await startServer(port, { caBundle }, 'False')
    expect(condition.message).toMatch(/failing or missing response from .*certificate/)
    expect(asked).toEqual([])
  })
})

describe('what this server serves itself', () => {
  it('has an APIService for each version of each group, which is available', async () => {
    const { client, core } = await startTestCore()
    const { items } = await client.list(apiServices)
    const served = new Set(core.registries.definitions().map(({ group, version }) => `${version}.${group}`))
    // It is the aggregator itself, and no one aggregates it.
    served.delete('v1.apiregistration.k8s.io')
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual([...served].sort())
    const first = items.find(({ metadata }) => metadata.name === 'v1.')
    expect(first?.spec).toMatchObject({ groupPriorityMinimum: 18_000, versionPriority: 1 })
    const apps = items.find(({ metadata }) => metadata.name === 'v1.apps')
    expect(apps).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    })
  })

  it('may be given to another server, and be taken back', async () => {
    const { port } = await startAdapter()
    const { client } = await startTestCore({ frontProxy })
    const name = 'v1.storage.k8s.io'
    const own = await client.get(apiServices, { name })
    const classes = {
      group: 'storage.k8s.io',
      version: 'v1',
      kind: 'StorageClass',
      plural: 'storageclasses',
      namespaced: false,
    }
    await client.update(apiServices, {
      ...own,
      spec: { ...own.spec, service: apiService(port).spec?.service },
    } as ApiService)
    expect(await refusal(client.list(classes))).toMatchObject({ code: 503 })
    const given = await client.get(apiServices, { name })
    await client.update(apiServices, { ...given, spec: own.spec } as ApiService)
    expect((await client.list(classes)).kind).toBe('StorageClassList')
  })
})

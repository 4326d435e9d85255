import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Resource, roles } from '@coracle/api'
import { realEnvironment, VirtualClock } from '@coracle/environment'
import { createAuthority, issueClientCertificate, issueServingCertificate } from '@coracle/environment/certificates'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ExchangeEvent } from './exchange-trace.ts'
import { createHttpClient, createRestClient, type HttpClient, type HttpClientOptions } from './http-client.ts'
import { createTransport } from './http-transport.ts'
import { createInformer } from './informer.ts'
import { widget, widgets } from './testing/resources.ts'

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

type Answer = (response: ServerResponse, request: Received) => void

let received: Received[]
let answers: Answer[]
let server: ReturnType<typeof createServer>
let client: HttpClient

beforeEach(async () => {
  received = []
  answers = []
  server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url = '', headers } = request
    const seen = { method, url, headers, body: text === '' ? undefined : JSON.parse(text) }
    received.push(seen)
    const answer = answers.shift() ?? json(404, { kind: 'unexpected' })
    answer(response, seen)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  client = connect()
})

afterEach(async () => {
  await client.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function connect(options: Partial<HttpClientOptions> = {}): HttpClient {
  const { port } = server.address() as AddressInfo
  return createHttpClient({ server: `http://127.0.0.1:${port}`, ...realEnvironment(), ...options })
}

function json(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) =>
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }
const status = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message,
})

describe('the nulls that Go writes for what is not there', () => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'a', namespace: 'b' } }
  const sent = { ...role, rules: null }
  const { schema: _schema, ...found } = roles
  const { apiVersion: _apiVersion, kind: _kind, ...item } = sent

  it('are absence to whoever knows the schema', async () => {
    answers.push(json(200, sent), json(200, { ...role, kind: 'RoleList', items: [item] }), json(201, sent))
    expect(await client.get(roles, role.metadata)).toEqual(role)
    expect((await client.list(roles)).items).toEqual([role])
    expect(await client.create(roles, role)).toEqual(role)
  })

  it('are absence in a watch', async () => {
    answers.push((response) => response.writeHead(200).end(`${JSON.stringify({ type: 'ADDED', object: sent })}\n`))
    for await (const { object } of await client.watch(roles)) expect(object).toEqual(role)
  })

  it('are shown to all others', async () => {
    answers.push(json(200, sent))
    expect(await client.get(found, role.metadata)).toEqual(sent)
  })
})

describe('requests', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    [
      'get',
      () => client.get(widgets, { namespace: 'a', name: 'b' }),
      'GET /apis/example.com/v1/namespaces/a/widgets/b',
    ],
    ['get without namespaces', () => client.get(nodes, { name: 'n1' }), 'GET /api/v1/nodes/n1'],
    [
      'get a subresource',
      () => client.get(widgets, { namespace: 'a', name: 'b' }, { subresource: 'scale' }),
      'GET /apis/example.com/v1/namespaces/a/widgets/b/scale',
    ],
    ['names that need escapes', () => client.get(nodes, { name: 'system:x?y' }), 'GET /api/v1/nodes/system%3Ax%3Fy'],
    [
      'create',
      () => client.create(widgets, widget('b'), { dryRun: true, fieldManager: 'm', fieldValidation: 'Strict' }),
      'POST /apis/example.com/v1/namespaces/default/widgets?dryRun=All&fieldManager=m&fieldValidation=Strict',
    ],
    ['update', () => client.update(widgets, widget('b')), 'PUT /apis/example.com/v1/namespaces/default/widgets/b'],
    [
      'update the status',
      () => client.update(widgets, widget('b'), { subresource: 'status' }),
      'PUT /apis/example.com/v1/namespaces/default/widgets/b/status',
    ],
    [
      'post to a subresource',
      () => client.createSubresource(widgets, { namespace: 'a', name: 'b' }, 'binding', {}),
      'POST /apis/example.com/v1/namespaces/a/widgets/b/binding',
    ],
    [
      'delete',
      () => client.delete(widgets, { namespace: 'a', name: 'b' }),
      'DELETE /apis/example.com/v1/namespaces/a/widgets/b',
    ],
    [
      'delete many',
      () => client.deleteCollection(widgets, { namespace: 'a', labelSelector: 'x=y' }),
      'DELETE /apis/example.com/v1/namespaces/a/widgets?labelSelector=x%3Dy',
    ],
  ])('%s', async (_, send, line) => {
    answers.push(json(200, { ...widget('b') }))
    await send()
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([line])
  })

  it.each([
    ['json', 'application/json-patch+json'],
    ['merge', 'application/merge-patch+json'],
    ['strategic', 'application/strategic-merge-patch+json'],
  ] as const)('name the type of a %s patch', async (type, contentType) => {
    answers.push(json(200, widget('b')))
    await client.patch(widgets, { namespace: 'a', name: 'b' }, { type, body: { x: 1 } })
    expect(received[0]).toMatchObject({ method: 'PATCH', body: { x: 1 }, headers: { 'content-type': contentType } })
  })

  it('carry delete options in the body', async () => {
    answers.push(json(200, widget('b')))
    await client.delete(
      widgets,
      { namespace: 'a', name: 'b' },
      { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, dryRun: true },
    )
    expect(received[0]?.body).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      dryRun: ['All'],
    })
  })

  it('say in a header why something is written, and nowhere else', async () => {
    for (let count = 0; count < 3; count += 1) answers.push(json(200, widget('b')))
    const key = { namespace: 'a', name: 'b' }
    await client.patch(widgets, key, { type: 'merge', body: {} }, { because: 'too small' })
    const reconcile = { controller: 'c', object: { apiVersion: 'v1', kind: 'Pod', name: 'p' }, seen: [7] }
    await client.delete(widgets, key, { because: 'zu groß', reconcile })
    await client.delete(widgets, key)
    expect(received.map(({ headers, url }) => [headers['coracle-cause'], url])).toEqual([
      ['{"because":"too small"}', '/apis/example.com/v1/namespaces/a/widgets/b'],
      [
        '{"because":"zu gro\\u00df","reconcile":{"controller":"c","object":{"apiVersion":"v1","kind":"Pod","name":"p"},"seen":[7]}}',
        '/apis/example.com/v1/namespaces/a/widgets/b',
      ],
      [undefined, '/apis/example.com/v1/namespaces/a/widgets/b'],
    ])
    expect(received[1]?.body).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1' })
  })

  it('share connections, deletes with a body too', async () => {
    let connections = 0
    server.on('connection', () => connections++)
    for (let time = 0; time < 10; time++) {
      answers.push(json(200, widget('b')))
      await client.delete(widgets, { namespace: 'a', name: 'b' })
    }
    // A second one is opened where the first is not free again at once.
    expect(connections).toBeLessThanOrEqual(2)
  })

  it('carry the present token', async () => {
    let token = 'one'
    await client.close()
    client = connect({ token: async () => token })
    answers.push(json(200, widget('b')), json(200, widget('b')))
    await client.get(nodes, { name: 'n' })
    token = 'two'
    await client.get(nodes, { name: 'n' })
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
  })

  it('tell which token was not taken', async () => {
    const refused: string[] = []
    await client.close()
    client = connect({ token: 'one', onUnauthorized: (token) => refused.push(token) })
    answers.push(json(401, status(401, 'Unauthorized', 'who are you')))
    await expect(client.get(nodes, { name: 'n' })).rejects.toMatchObject({ code: 401 })
    expect(refused).toEqual(['one'])
  })

  it('tell which token was not taken for a connection', async () => {
    const refused: string[] = []
    await client.close()
    client = connect({ token: 'one', onUnauthorized: (token) => refused.push(token) })
    const unauthorized = json(401, status(401, 'Unauthorized', 'who are you'))
    answers.push(unauthorized, unauthorized)
    await expect(client.openWebSocket('/x', ['v5.channel.k8s.io'])).rejects.toMatchObject({ code: 401 })
    await expect(client.openSpdy('/x', ['v4.channel.k8s.io'])).rejects.toMatchObject({ code: 401 })
    expect(refused).toEqual(['one', 'one'])
  })

  it('go below the path the server is at', async () => {
    const { port } = server.address() as AddressInfo
    await client.close()
    client = connect({ server: `http://127.0.0.1:${port}/clusters/one/` })
    answers.push(json(200, widget('b')))
    await client.get(nodes, { name: 'n' })
    expect(received[0]?.url).toBe('/clusters/one/api/v1/nodes/n')
  })

  it('are not sent when something is missing', async () => {
    expect(() => client.get(widgets, { name: 'b' })).toThrow('a Widget needs a namespace')
    expect(() => client.get(nodes, { name: '' })).toThrow('resource name may not be empty')
    expect(() => connect({ server: 'localhost' })).toThrow("the server's address is no URL")
    expect(received).toEqual([])
  })

  it('end with their signal', async () => {
    const stop = new AbortController()
    answers.push(() => stop.abort(new Error('enough')))
    await expect(client.get(nodes, { name: 'n' }, { signal: stop.signal })).rejects.toThrow()
  })
})

describe('answers', () => {
  it('are frozen, and items of lists have their kind', async () => {
    answers.push(
      json(200, {
        kind: 'WidgetList',
        metadata: { resourceVersion: '7', continue: 't' },
        items: [{ metadata: { name: 'a' } }],
      }),
    )
    const list = await client.list(widgets, { limit: 1, labelSelector: 'a in (b,c)' })
    expect(list.items[0]).toEqual({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } })
    expect(list.metadata).toEqual({ resourceVersion: '7', continue: 't' })
    expect(Object.isFrozen(list.items[0]?.metadata)).toBe(true)
    expect(received[0]?.url).toBe('/apis/example.com/v1/widgets?limit=1&labelSelector=a+in+%28b%2Cc%29')
  })

  it('that are errors become ApiErrors with their Status', async () => {
    answers.push(json(409, status(409, 'AlreadyExists', 'widgets "b" already exists')))
    await expect(client.create(widgets, widget('b'))).rejects.toMatchObject({
      reason: 'AlreadyExists',
      code: 409,
      message: 'widgets "b" already exists',
    })
  })

  it.each([
    [404, 'NotFound', 'the server could not find the requested resource'],
    [401, 'Unauthorized', 'the server has asked for the client to provide credentials'],
    [500, 'InternalError', 'an error on the server ("oops") has prevented the request from succeeding'],
    [418, 'Unknown', 'the server responded with the status code 418 but did not return more information'],
  ])('without a Status become ApiErrors by their code: %i', async (code, reason, message) => {
    answers.push((response) => response.writeHead(code).end('oops'))
    await expect(client.get(nodes, { name: 'n' })).rejects.toMatchObject({ reason, code, message })
  })

  it('that ask to come back later are retried', async () => {
    const busy = json(429, status(429, 'TooManyRequests', 'busy'), { 'retry-after': '0.001' })
    answers.push(busy, busy, json(201, widget('b')))
    await client.create(widgets, widget('b'))
    expect(received).toHaveLength(3)
  })

  it.each([500, 503, 504])('with the code %i are asked for again where the server says when', async (code) => {
    const away = json(code, status(code, 'Away', 'starting'), { 'retry-after': '0.001' })
    answers.push(away, json(200, widget('b')))
    await client.get(nodes, { name: 'n' })
    answers.push(json(code, status(code, 'Away', 'gone')))
    await expect(client.get(nodes, { name: 'n' })).rejects.toMatchObject({ code, message: 'gone' })
    expect(received).toHaveLength(3)
  })

  it('are followed where they lead a read elsewhere within the server, and nowhere else', async () => {
    const leadTo =
      (location: string, code = 301): Answer =>
      (response) =>
        response.writeHead(code, { location }).end('over there')
    const there: Answer = (response) => response.end('there')
    answers.push(leadTo('/proxy/web/'), leadTo('index?a=1', 302), there)
    expect(await client.rawGet('/proxy/web')).toBe('there')
    expect(received.map(({ url }) => url)).toEqual(['/proxy/web', '/proxy/web/', '/proxy/web/index?a=1'])
    for (const location of ['http://127.0.0.1:1/', '//elsewhere/', 'http://[']) {
      answers.push(leadTo(location))
      await expect(client.rawGet('/proxy/web')).rejects.toMatchObject({ code: 301 })
    }
    answers.push(leadTo('/nodes', 307))
    await expect(client.create(widgets, widget('b'))).rejects.toMatchObject({ code: 307 })
    answers.push(...Array<Answer>(20).fill(leadTo('/round')))
    await expect(client.rawGet('/round')).rejects.toMatchObject({ code: 301 })
    expect(received).toHaveLength(3 + 3 + 1 + 11)
  })

  it('are given up where they do not come to an end', async () => {
    const { port } = server.address() as AddressInfo
    const limits = { headersTimeoutMs: 60_000, bodyTimeoutMs: 20 }
    const transport = createTransport({ server: `http://127.0.0.1:${port}` }, realEnvironment(), limits)
    answers.push((response) => response.writeHead(200).write('{'))
    await expect(transport.send({ method: 'GET', path: '/slow' })).rejects.toThrow('Body Timeout')
    await transport.close()
  })

  it('begin in time, but for logs, which may say nothing for long', async () => {
    const { port } = server.address() as AddressInfo
    const limits = { headersTimeoutMs: 20, bodyTimeoutMs: 20 }
    const other = createRestClient(createTransport({ server: `http://127.0.0.1:${port}` }, realEnvironment(), limits))
    const silent = Promise.withResolvers<ServerResponse>()
    answers.push(
      (response) => silent.resolve(response),
      () => {},
    )
    const log = other.stream(nodes, { name: 'n' }, 'log', { follow: 'true' })
    const response = await silent.promise
    await expect(other.get(nodes, { name: 'n' })).rejects.toThrow('Headers Timeout')
    response.end('a line')
    const pieces: Uint8Array[] = []
    for await (const piece of await log) pieces.push(piece)
    expect(`${Buffer.concat(pieces)}`).toBe('a line')
    await other.close()
  })

  it('that are no JSON are said to be none', async () => {
    answers.push((response) => response.end('<html>'))
    await expect(client.get(nodes, { name: 'n' })).rejects.toThrow("the server's answer is no JSON: <html>")
  })

  it('that do not come name the server', async () => {
    // A port that nobody is given by chance.
    const nobody = 'http://127.0.0.1:1'
    const other = connect({ server: nobody })
    await expect(other.get(nodes, { name: 'n' })).rejects.toThrow(`cannot reach ${nobody}: nothing listens there`)
    await other.close()
  })

  it('of a connection that was reset are asked for again when reading, never when writing', async () => {
    const reset: Answer = (response) => response.destroy()
    answers.push(reset, json(200, widget('b')))
    await client.get(nodes, { name: 'n' })
    answers.push(reset)
    await expect(client.create(widgets, widget('b'))).rejects.toThrow('cannot reach')
    expect(received.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
  })

  it('come as raw text and as streams', async () => {
    answers.push(
      (response) => response.end('ok'),
      (response) => {
        response.write('line 1\n')
        response.end('line 2\n')
      },
    )
    expect(await client.rawGet('/readyz?verbose')).toBe('ok')
    let text = ''
    for await (const chunk of await client.stream(widgets, { namespace: 'a', name: 'b' }, 'log', { follow: 'true' }))
      text += Buffer.from(chunk)
    expect(text).toBe('line 1\nline 2\n')
    expect(received.map(({ url }) => url)).toEqual([
      '/readyz?verbose',
      '/apis/example.com/v1/namespaces/a/widgets/b/log?follow=true',
    ])
  })
})

describe('watches', () => {
  const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`

  it('deliver events as they come', async () => {
    let push: (text: string) => void = () => {}
    answers.push((response) => {
      response.flushHeaders()
      push = (text) => response.write(text)
    })
    const watch = await client.watch(widgets, { namespace: 'a', resourceVersion: '5', allowWatchBookmarks: true })
    expect(received[0]?.url).toBe(
      '/apis/example.com/v1/namespaces/a/widgets?watch=true&resourceVersion=5&allowWatchBookmarks=true',
    )
    const events = watch[Symbol.asyncIterator]()
    push(line('ADDED', widget('one')).slice(0, 20))
    push(line('ADDED', widget('one')).slice(20))
    const first = await events.next()
    expect(first.value).toEqual({ type: 'ADDED', object: widget('one') })
    expect(Object.isFrozen(first.value.object.metadata)).toBe(true)
    const second = events.next()
    watch.close()
    expect((await second).done).toBe(true)
  })

  it('say how initial events are to be compared', async () => {
    answers.push((response) => response.end())
    const watch = await client.watch(widgets, { sendInitialEvents: true, allowWatchBookmarks: true })
    for await (const _ of watch) throw new Error('there is none')
    expect(received[0]?.url).toContain(
      'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
    )
  })

  it('reject when the server refuses them', async () => {
    answers.push(json(410, status(410, 'Expired', 'too old resource version: 1 (5)')))
    await expect(client.watch(widgets, { resourceVersion: '1' })).rejects.toMatchObject({ reason: 'Expired' })
  })

  it('throw when the connection breaks', async () => {
    answers.push((response) => {
      response.write(line('ADDED', widget('one')))
      realEnvironment().clock.defer(() => response.destroy())
    })
    const read = async () => {
      for await (const _ of await client.watch(widgets));
    }
    await expect(read()).rejects.toThrow()
  })

  it('feed informers over HTTP as in process', async () => {
    answers.push(
      json(200, { kind: 'WidgetList', metadata: { resourceVersion: '5' }, items: [widget('one')] }),
      (response) => {
        response.write(line('ADDED', widget('two', { metadata: { name: 'two', resourceVersion: '6' } })))
      },
    )
    const informer = createInformer(client, widgets, {}, realEnvironment())
    const told = new Promise<void>((resolve) => {
      informer.addHandler({ add: (object) => (object.metadata.name === 'two' ? resolve() : undefined) })
    })
    informer.start()
    await told
    expect(informer.list().map((object) => object.metadata.name)).toEqual(['one', 'two'])
    expect(received[1]?.url).toMatch(/watch=true.*resourceVersion=5/)
    await informer.stop()
  })
})

describe('discovery', () => {
  const pods = {
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    singular: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    verbs: ['get'],
    subresources: ['log'],
    isPreferredVersion: true,
  }

  it('reads the aggregated form in two requests', async () => {
    const resource = {
      resource: 'pods',
      responseKind: { group: '', version: 'v1', kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      verbs: ['get'],
      subresources: [{ subresource: 'log' }],
    }
    const answer: Answer = (response, { url, headers }) => {
      expect(headers.accept).toContain('g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
      const items = url === '/api' ? [{ versions: [{ version: 'v1', resources: [resource] }] }] : []
      json(200, { kind: 'APIGroupDiscoveryList', items })(response, received[0] as Received)
    }
    answers.push(answer, answer)
    expect(await client.discover()).toEqual([pods])
  })

  it('leaves out a group whose own server does not answer, as long as it may ask at all', async () => {
    let code = 503
    const answer: Answer = (response, { url }) => {
      const groups = ['metrics.k8s.io', 'shop.example'].map((name) => ({ name, versions: [{ version: 'v1' }] }))
      const widgetList = { resources: [{ name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['get'] }] }
      if (url === '/api') json(200, { kind: 'APIVersions', versions: [] })(response, received[0] as Received)
      else if (url === '/apis') json(200, { kind: 'APIGroupList', groups })(response, received[0] as Received)
      else if (url === '/apis/shop.example/v1') json(200, widgetList)(response, received[0] as Received)
      else response.writeHead(code).end('service unavailable')
    }
    answers.push(...Array<Answer>(8).fill(answer))
    expect((await client.discover()).map(({ plural }) => plural)).toEqual(['widgets'])
    code = 403
    await expect(client.discover()).rejects.toMatchObject({ code: 403 })
  })

  it('goes from group to group where the server has no other form', async () => {
    const documents: Readonly<Record<string, unknown>> = {
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/api/v1': {
        resources: [
          {
            name: 'pods',
            singularName: 'pod',
            namespaced: true,
            kind: 'Pod',
            verbs: ['get'],
            shortNames: ['po'],
            categories: ['all'],
          },
          { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] },
        ],
      },
      '/apis': {
        kind: 'APIGroupList',
        groups: [{ name: 'example.com', versions: [{ version: 'v2' }, { version: 'v1' }] }],
      },
      '/apis/example.com/v2': { resources: [] },
      '/apis/example.com/v1': {
        resources: [{ name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', verbs: ['list'] }],
      },
    }
    const answer: Answer = (response, request) => json(200, documents[request.url])(response, request)
    answers.push(...Object.keys(documents).map(() => answer))
    const found = await client.discover()
    expect(found).toHaveLength(2)
    expect(found[0]).toEqual(pods)
    expect(found[1]).toMatchObject({
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
      isPreferredVersion: false,
    })
  })
})

describe('warnings', () => {
  it('are heard, whatever the answer', async () => {
    const heard: string[] = []
    const listening = connect({ onWarning: (text) => heard.push(text) })
    const warning = '299 - "unknown field \\"dat\\"", 299 - "v1 is old"'
    answers.push(json(200, { kind: 'Node', metadata: { name: 'n' } }, { warning }))
    await listening.get(nodes, { name: 'n' })
    expect(heard).toEqual(['unknown field "dat"', 'v1 is old'])
    // As Go writes them: headers are bytes.
    const bytes = Buffer.from('299 - "unknown field \\"datä日\\""').toString('latin1')
    answers.push(json(200, { kind: 'Node', metadata: { name: 'n' } }, { warning: bytes }))
    await listening.get(nodes, { name: 'n' })
    expect(heard.at(-1)).toBe('unknown field "datä日"')
    await listening.close()
  })
})

describe('who makes requests', () => {
  it.each<[string, Partial<HttpClientOptions>, Readonly<Record<string, string>>]>([
    ['a name and a password', { basic: { username: 'a', password: 'b' } }, { authorization: 'Basic YTpi' }],
    ['a token before those', { basic: { username: 'a', password: 'b' }, token: 't' }, { authorization: 'Bearer t' }],
    [
      'somebody else whom they act as',
      { impersonate: { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { 'example.com/scope': ['x', 'y'] } } },
      {
        'impersonate-user': 'jane',
        'impersonate-uid': '7',
        'impersonate-group': 'dev, ops',
        'impersonate-extra-example.com%2fscope': 'x, y',
      },
    ],
  ])('is told by %s', async (_, options, headers) => {
    const other = connect(options)
    answers = [json(200, widget('a'))]
    await other.get(widgets, { namespace: 'a', name: 'a' })
    expect(received[0]?.headers).toMatchObject(headers)
    await other.close()
  })
})

describe('an exchange', () => {
  it('can be followed, without what is secret', async () => {
    const events: ExchangeEvent[] = []
    const other = connect({ token: 'secret', onExchange: (event) => events.push(event) })
    answers = [json(200, { kind: 'Widget' }), json(404, status(404, 'NotFound', 'no widget'))]
    await other.rawGet('/one')
    await other.rawGet('/two').catch(() => {})
    expect(events).toMatchObject([
      {
        type: 'request',
        method: 'GET',
        url: expect.stringMatching(/^http:.*\/one$/),
        headers: { authorization: 'Bearer <masked>' },
      },
      { type: 'response', code: 200, headers: { 'content-type': 'application/json' } },
      { type: 'body', text: '{"kind":"Widget"}' },
      { type: 'request' },
      { type: 'response', code: 404 },
      { type: 'body', text: expect.stringContaining('no widget') },
    ])
    expect(JSON.stringify(events)).not.toContain('secret')
    await other.close()
  })

  it('ends after that time also where the server does not even connect', async () => {
    // It reads, so that it hears when the other side goes, and says nothing.
    const silent = createTcpServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const other = connect({ server: `https://127.0.0.1:${port}`, timeoutMs: 20 })
    await expect(other.rawGet('/slow')).rejects.toThrow('no answer to GET /slow within 20 ms')
    await other.close()
    await new Promise((resolve) => silent.close(resolve))
  })

  it('ends after the time it is given', async () => {
    const clock = new VirtualClock()
    const other = connect({ timeoutMs: 60_000, clock })
    answers = [() => {}, (response) => response.writeHead(200).write('{"type":')]
    const slow = other.rawGet('/slow')
    const watch = async () => {
      for await (const _ of await other.watch(widgets, { namespace: 'a' }));
    }
    await expect.poll(() => received.length).toBe(1)
    const failures = [
      expect(slow).rejects.toThrow('no answer to GET /slow within 60000 ms'),
      expect(watch()).rejects.toThrow('within 60000 ms'),
    ]
    await expect.poll(() => received.length).toBe(2)
    await clock.advance('1m')
    await Promise.all(failures)
    await other.close()
  })
})

it('shows a certificate that was renewed to connections made since, and what is under way goes on', async () => {
  const environment = realEnvironment()
  const ca = createAuthority(environment)
  const serving = issueServingCertificate(environment, ca, { commonName: 'server', hosts: ['127.0.0.1'] })
  const clientPair = (user: string) => {
    const { certificatePem: cert, keyPem: key } = issueClientCertificate(environment, ca, { user, groups: [] })
    return { cert, key }
  }
  const shown: string[] = []
  const watches: ServerResponse[] = []
  const tlsServer = createTlsServer(
    { cert: serving.certificatePem, key: serving.keyPem, ca: ca.certificatePem, requestCert: true },
    (request, response) => {
      shown.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
      if (request.url?.includes('watch') !== true) return void response.end('{}')
      response.flushHeaders()
      watches.push(response)
    },
  ).listen(0, '127.0.0.1')
  await once(tlsServer, 'listening')
  let present = clientPair('first')
  const own = connect({
    server: `https://127.0.0.1:${(tlsServer.address() as AddressInfo).port}`,
    ca: ca.certificatePem,
    ...present,
    tlsNow: async () => present,
  })
  onTestFinished(async () => {
    await own.close()
    tlsServer.closeAllConnections()
    tlsServer.close()
  })
  await own.request({ method: 'GET', path: '/one' })
  const watch = await own.watch(nodes, { resourceVersion: '1' })
  present = clientPair('second')
  await own.request({ method: 'GET', path: '/two' })
  expect(shown).toEqual(['first', 'first', 'second'])
  watches[0]?.write('{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}}\n')
  for await (const { object } of watch) {
    expect(object.metadata?.name).toBe('n')
    break
  }
})

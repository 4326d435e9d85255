import { once } from 'node:events'
import { objectValuesMax } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import {
  type Store,
  StoreOverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
} from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { requestsInFlightMax } from './exchanges.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Readonly<Record<string, string>> = {}) => ({ metadata: { name }, data })
const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({ method: 'POST', body, headers })

/** A server on a store that gives `error` for every transaction, or every look at how far it is, from now on. */
async function onFailing(method: 'commit' | 'latest', error: Error) {
  const real = createMemoryStore()
  let isFailing = false
  const names = ['latest', 'get', 'list', 'pages', 'watch', 'commit', 'compact', 'close'] as const
  const bound = Object.fromEntries(names.map((name) => [name, { value: real[name].bind(real) }]))
  const failing = (...args: readonly never[]) =>
    isFailing ? Promise.reject(error) : (real[method] as (...given: readonly never[]) => unknown)(...args)
  const store: Store = Object.create(real, {
    ...bound,
    [method]: { value: failing },
    shared: { value: true },
  })
  const server = await TestServer.start({ store })
  const fail = (isSo: boolean) => {
    isFailing = isSo
  }
  return { server, fail }
}

const unavailable = new StoreUnavailableError('etcd:2379', 'no server can be reached')
const late = new StoreTimeoutError('etcd:2379', 'Cancelled on client')

describe('a store that cannot work at present', () => {
  it.each([
    [
      'has no room for more',
      new StoreOverloadedError(1, 1),
      429,
      'TooManyRequests',
      'too many requests, please try again later',
    ],
    ['is away', unavailable, 503, 'ServiceUnavailable', unavailable.message],
  ])('and %s lets no write fail for good: the client is told to come back', async (_, error, code, reason, message) => {
    const { server, fail } = await onFailing('commit', error)
    fail(true)
    const refused = await server.call(configMaps, post(configMap('later')))
    expect([refused.code, refused.headers['retry-after'], refused.json]).toEqual([
      code,
      '1',
      expect.objectContaining({ reason, message, details: { retryAfterSeconds: 1 } }),
    ])
    fail(false)
    expect((await server.call(configMaps, post(configMap('later')))).code).toBe(201)
    await server.close()
  })

  it('and does not answer is no reason to send a write again unasked: it may have been carried out', async () => {
    const { server, fail } = await onFailing('commit', late)
    fail(true)
    const refused = await server.call(configMaps, post(configMap('later')))
    expect([refused.code, refused.headers['retry-after'], refused.json]).toEqual([
      504,
      undefined,
      expect.objectContaining({ reason: 'Timeout', message: `Timeout: ${late.message}` }),
    ])
    expect(refused.json).not.toHaveProperty('details.retryAfterSeconds')
    fail(false)
    expect((await server.call(configMaps, post(configMap('later')))).code).toBe(201)
    await server.close()
  })

  it('takes no object that is too large for it', async () => {
    const { server, fail } = await onFailing('commit', new TransactionTooLargeError('request is too large'))
    fail(true)
    expect(await server.failure(configMaps, post(configMap('large')))).toMatchObject({
      code: 413,
      reason: 'RequestEntityTooLarge',
    })
    await server.close()
  })

  it('gives no stale answers: reads fail too, but for those that take any version', async () => {
    const { server, fail } = await onFailing('latest', unavailable)
    await server.call(configMaps, post(configMap('old')))
    fail(true)
    expect((await server.call(`${configMaps}/old`)).code).toBe(503)
    expect((await server.call(configMaps)).code).toBe(503)
    expect((await server.call(`${configMaps}/old?resourceVersion=0`)).code).toBe(200)
    await server.close()
  })
})

describe('a server with as many requests in flight as it takes', () => {
  it('refuses more, and answers health checks all the same', async () => {
    const hanging = Promise.withResolvers<void>()
    const admission: AdmissionPlugin[] = [
      {
        name: 'Hanging',
        mutate: ({ definition }, object) =>
          definition.plural === 'configmaps' ? hanging.promise.then(() => object) : object,
      },
    ]
    const server = await TestServer.start({ admission })
    const socket = await server.connect()
    socket.on('data', () => {})
    const body = JSON.stringify(configMap(''))
    const head = `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\n`
    for (let index = 0; index < requestsInFlightMax; index += 1) {
      const own = body.replace('""', `"hangs-${index}"`)
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${own.length}\r\n\r\n${own}`)
    }
    let refused = await server.call('/version')
    while (refused.code !== 429) refused = await server.call('/version')
    for (const path of ['/livez', '/readyz', '/healthz', '/livez/ping'])
      expect((await server.call(path)).text).toBe('ok')
    hanging.resolve()
    socket.destroy()
    await server.close()
  })
})

it.each([
  ['an object', 'POST', configMaps, 'application/json'],
  ['a patch', 'PATCH', `${configMaps}/a`, 'application/merge-patch+json'],
])('%s of too many values is refused before it is parsed', async (_, method, path, type) => {
  const server = await TestServer.start()
  // It is no JSON, which nobody gets to see.
  const items = '[ ],{},"a,\\",b",7,'.repeat(objectValuesMax / 4)
  const body = `{"data":[${items}]}`
  expect(await server.failure(path, { method, body, headers: { 'content-type': type } })).toMatchObject({
    code: 413,
    reason: 'RequestEntityTooLarge',
  })
  await server.close()
})

it('commas and brackets of texts are no values', async () => {
  const server = await TestServer.start()
  const text = ',[\\"'.repeat(objectValuesMax / 2)
  expect((await server.call(configMaps, post(configMap('commas', { text })))).code).toBe(201)
  await server.close()
})

describe('an answer that nobody takes', () => {
  it('is given up when the request’s time is over', async () => {
    const environment = virtualEnvironment()
    const server = await TestServer.start({ environment })
    // More than all buffers between here and there hold.
    const data = { text: 'x'.repeat(1_000_000) }
    for (let index = 0; index < 16; index++) await server.call(configMaps, post(configMap(`big-${index}`, data)))
    const { answer } = await server.lines(configMaps)
    answer.pause()
    const gone = once(answer, 'error')
    await environment.clock.advance('62s')
    answer.resume()
    expect((await gone)[0]).toMatchObject({ code: 'ECONNRESET' })
    await server.close()
  })
})

describe('YAML', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server.close())
  const yaml = { 'content-type': 'application/yaml' }
  const head = 'metadata: {name: big}\ndata:\n'
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n')

  it('of any size is read the same', async () => {
    const body = `${head}${lines(3_000, (index) => `  key-${index}: "${index}"`)}`
    const { code, json } = await server.call(`${configMaps}?dryRun=All`, post(body, yaml))
    expect([code, Object.keys(json.data).length, json.data['key-2999']]).toEqual([201, 3_000, '2999'])
    const twice = `${body}\n  key-7: again`
    expect(await server.failure(`${configMaps}?fieldValidation=Strict`, post(twice, yaml))).toMatchObject({
      code: 400,
      message: expect.stringContaining('line 3003: key "key-7" already set in map'),
    })
    expect(await server.failure(configMaps, post(`${body}\n  - x`, yaml))).toMatchObject({
      code: 400,
      message: expect.stringMatching(/json parse error: yaml: line 300\d: /),
    })
  })

  it('that takes long holds nobody else up', async () => {
    const order: string[] = []
    const body = `${head}${lines(6_000, (index) => `  key-${index}: "${index}"`)}`
    const slow = server.call(`${configMaps}?dryRun=All`, post(body, yaml)).then(() => order.push('yaml'))
    for (let count = 0; count < 3; count++) {
      await server.call('/version')
      order.push('version')
    }
    await slow
    expect(order).toEqual(['version', 'version', 'version', 'yaml'])
  })

  it.each([
    ['nests too deep', '['.repeat(3_000), 'exceeded max depth'],
    ['nests far too deep', '- '.repeat(30_000), 'exceeded max depth'],
    [
      'stands for far more than it is',
      `a: &a [${'x,'.repeat(50)}]\nb: [${'*a,'.repeat(200)}]`,
      'Excessive alias count',
    ],
  ])('is a BadRequest where it %s', async (_, body, message) => {
    expect(await server.failure(configMaps, post(body, yaml))).toMatchObject({
      code: 400,
      message: expect.stringContaining(message),
    })
  })

  it('may not hold itself', async () => {
    const body = 'metadata: {name: itself}\nextra: &a [*a]\n'
    expect(await server.failure(configMaps, post(body, yaml))).toMatchObject({
      code: 400,
      message: 'exceeded max depth',
    })
  })
})

import { once } from 'node:events'
import { virtualEnvironment } from '@coracle/environment'
import { createMemoryStore, type Store, StoreOverloadedError } from '@coracle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Readonly<Record<string, string>> = {}) => ({ metadata: { name }, data })
const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({ method: 'POST', body, headers })

describe('a store with no room for more', () => {
  it('makes a write wait, not fail: the client is told to come back', async () => {
    const real = createMemoryStore()
    let isFull = false
    const store: Store = Object.create(real, {
      commit: {
        value: (transaction: Parameters<Store['commit']>[0]) =>
          isFull ? Promise.reject(new StoreOverloadedError(1, 1)) : real.commit(transaction),
      },
      ...Object.fromEntries(
        (['latest', 'get', 'list', 'pages', 'watch', 'compact', 'close'] as const).map((name) => [
          name,
          { value: real[name].bind(real) },
        ]),
      ),
    })
    const server = await TestServer.start({ store })
    isFull = true
    const refused = await server.call(configMaps, post(configMap('later')))
    expect([refused.code, refused.headers['retry-after'], refused.json]).toEqual([
      429,
      '1',
      expect.objectContaining({
        reason: 'TooManyRequests',
        message: 'too many requests, please try again later',
        details: { retryAfterSeconds: 1 },
      }),
    ])
    isFull = false
    expect((await server.call(configMaps, post(configMap('later')))).code).toBe(201)
    await server.close()
  })
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

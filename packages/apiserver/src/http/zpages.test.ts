import { parseTime } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const startedMs = parseTime('2026-01-02T03:04:05Z')
let nowMs = startedMs
/** What is drawn next: which of the delimiters stands between names and values. */
let drawn = 0
let server: TestServer
beforeAll(async () => {
  const real = realEnvironment()
  const clock = Object.assign(Object.create(real.clock) as typeof real.clock, { now: () => nowMs })
  const random = { ...real.random, next: () => drawn }
  const environment = { ...real, clock, random }
  server = await TestServer.start({ environment, flags: { listen: '127.0.0.1', 'authorization-mode': '[Node,RBAC]' } })
})
afterAll(() => server.close())

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'
const get = (path: string, accept?: string) => server.call(path, accept === undefined ? {} : { headers: { accept } })
const form = (kind: string, version: string, type = 'application/json') =>
  `${type};v=${version};g=config.k8s.io;as=${kind}`

describe('/statusz', () => {
  it('tells people since when the server runs, and where else to look', async () => {
    nowMs = startedMs + (26 * 3600 + 3 * 60 + 4) * 1000
    drawn = 0
    const { code, headers, text } = await get('/statusz')
    expect([code, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toBe(
      `\nkube-apiserver statusz\n${warning}\n\nStarted: Fri Jan  2 03:04:05 UTC 2026\nUp: 26 hr 03 min 04 sec\nGo version: \nBinary version: 1.36.0+coracle\nEmulation version: 1.36\nPaths: /flagz /healthz /livez /readyz /statusz /version\n`,
    )
    drawn = 0.5
    expect((await get('/statusz', '*/*')).text).toContain('\nUp= 26 hr')
  })

  it('is an object for those who ask for one', async () => {
    const { code, headers, json } = await get('/statusz', form('Statusz', 'v1beta1'))
    expect([code, headers['content-type'], headers.warning]).toEqual([200, 'application/json', undefined])
    expect(json).toEqual({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'kube-apiserver' },
      startTime: '2026-01-02T03:04:05Z',
      uptimeSeconds: 93784,
      goVersion: '',
      binaryVersion: '1.36.0+coracle',
      emulationVersion: '1.36',
      paths: ['/flagz', '/healthz', '/livez', '/readyz', '/statusz', '/version'],
    })
    const { text } = await get('/statusz', form('Statusz', 'v1beta1', 'application/yaml'))
    expect(text).toContain('kind: Statusz\n')
  })

  it('warns those who ask for the former version', async () => {
    const { headers, json } = await get('/statusz', form('Statusz', 'v1alpha1'))
    expect(json.apiVersion).toBe('config.k8s.io/v1alpha1')
    expect(headers.warning).toBe(
      '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."',
    )
  })

  it.each([
    'application/json',
    'application/json;v=v1beta1;g=config.k8s.io',
    form('Statusz', 'v2'),
    form('Flagz', 'v1beta1'),
    form('Statusz', 'v1beta1', 'text/plain'),
  ])('is not there as %s', async (accept) => {
    const { code, json } = await get('/statusz', accept)
    expect([code, json.message]).toEqual([
      406,
      'only the following media types are accepted: application/json, application/yaml, text/plain',
    ])
  })

  it('is the next best that a client takes', async () => {
    const { headers } = await get('/statusz', `${form('Statusz', 'v2')},*/*`)
    expect(headers['content-type']).toBe('text/plain')
  })
})

describe('/flagz', () => {
  it('tells people the flags in the order of their names', async () => {
    drawn = 0.9
    const { headers, text } = await get('/flagz')
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(text).toBe(`\nkube-apiserver flagz\n${warning}\nauthorization-mode [Node,RBAC]\nlisten 127.0.0.1\n`)
  })

  it('is an object for those who ask for one', async () => {
    expect((await get('/flagz', form('Flagz', 'v1beta1'))).json).toEqual({
      kind: 'Flagz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'kube-apiserver' },
      flags: { listen: '127.0.0.1', 'authorization-mode': '[Node,RBAC]' },
    })
  })

  it('is not there where nobody gave any', async () => {
    const other = await TestServer.start()
    expect((await other.call('/flagz')).code).toBe(404)
    expect((await other.call('/')).json.paths).toEqual(expect.arrayContaining(['/statusz']))
    await other.close()
  })
})

it('both are for those alone who have the right', async () => {
  for (const path of ['/statusz', '/flagz']) expect((await server.call(path, { as: 'anonymous' })).code).toBe(403)
})

import { createMetricsRegistry } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const named = (name: string) => ({ metadata: { name } })

let server: TestServer
beforeEach(async () => {
  server = await TestServer.start({ metrics: createMetricsRegistry() })
})
afterEach(() => server.close())

/** The series of a metric that are about ConfigMaps, by the labels that tell them apart: `GET resource 200`. */
async function series(name: string): Promise<Readonly<Record<string, number>>> {
  const { text } = await server.call('/metrics')
  const lines = [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, 'gm'))]
  return Object.fromEntries(
    lines.flatMap(([, labels = '', value]) => {
      const all = Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', is = '']) => [label, is]),
      )
      if (all.resource !== 'configmaps') return []
      const { verb, scope, subresource, dry_run: dryRun, code } = all
      return [[[verb, scope, subresource, dryRun, code].filter(Boolean).join(' '), Number(value)]]
    }),
  )
}

describe('what is counted of requests', () => {
  it('is what is done, to how much, and with which answer', async () => {
    const apply = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' } }
    const merge = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
    const configuration = { apiVersion: 'v1', kind: 'ConfigMap', ...named('b') }
    const calls: readonly (readonly [string, object?])[] = [
      [configMaps, { method: 'POST', body: named('a') }],
      [configMaps, { method: 'POST', body: named('a') }],
      [`${configMaps}?dryRun=All`, { method: 'POST', body: named('c') }],
      [`${configMaps}/a`],
      [`${configMaps}/a`],
      [`${configMaps}/missing`],
      [`${configMaps}/a`, { method: 'PUT', body: { ...named('a'), data: { k: 'v' } } }],
      [`${configMaps}/a`, { ...merge, body: JSON.stringify({ data: { k: 'w' } }) }],
      [`${configMaps}/b?fieldManager=test`, { ...apply, body: JSON.stringify(configuration) }],
      [configMaps],
      ['/api/v1/configmaps'],
      [`${configMaps}?watch=1&timeoutSeconds=1`],
      [`${configMaps}/a`, { method: 'DELETE' }],
      [configMaps, { method: 'DELETE' }],
    ]
    for (const [path, call] of calls) await server.call(path, call)
    const expected = {
      'POST resource 201': 1,
      'POST resource 409': 1,
      'POST resource All 201': 1,
      'GET resource 200': 2,
      'GET resource 404': 1,
      'PUT resource 200': 1,
      'PATCH resource 200': 1,
      'APPLY resource 201': 1,
      'LIST namespace 200': 1,
      'LIST cluster 200': 1,
      'WATCH namespace 200': 1,
      'DELETE resource 200': 1,
      'DELETECOLLECTION namespace 200': 1,
    }
    await expect.poll(() => series('apiserver_request_total')).toEqual(expected)
    expect(await series('apiserver_request_duration_seconds_count')).toMatchObject({
      'POST resource': 2,
      'POST resource All': 1,
      'GET resource': 3,
    })
    expect((await series('apiserver_request_duration_seconds_sum'))['WATCH namespace']).toBeGreaterThan(0.9)
  })

  it('is nothing of what there is not, and of what may not be done', async () => {
    await server.call('/api/v1/namespaces/default/nosuch/a')
    await server.call(`${configMaps}/a/nosuch`)
    await server.call(`${configMaps}/a`, { as: { token: 'wrong' } })
    await server.call(`${configMaps}/a`)
    await expect.poll(() => series('apiserver_request_total')).toEqual({ 'GET resource 404': 1 })
    expect((await server.call('/metrics')).text).not.toContain('nosuch')
  })

  it('says what goes on for long, and what is being answered', async () => {
    const watch = await server.lines(`${configMaps}?watch=1`)
    await expect.poll(() => series('apiserver_longrunning_requests')).toEqual({ 'WATCH namespace': 1 })
    watch.close()
    await expect.poll(() => series('apiserver_longrunning_requests')).toEqual({ 'WATCH namespace': 0 })
    const { text } = await server.call('/metrics')
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 0\n')
    // This very request.
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1\n')
  })
})

it('tells of requests that count as made by somebody else', async () => {
  const asEve = { headers: { 'impersonate-user': 'eve' } }
  await server.call('/version', asEve)
  await server.call('/version', asEve)
  const { text } = await server.call('/metrics')
  expect(text).toContain('apiserver_impersonation_attempts_total{mode="user-info",decision="allowed"} 2\n')
})

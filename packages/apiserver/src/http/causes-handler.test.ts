import type { CauseList } from '@coracle/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMap } from '../testing/test-core.ts'
import { TestServer } from './testing/test-server.ts'

const path = '/apis/coracle.dev/v1/causes'
const configMapsPath = '/api/v1/namespaces/default/configmaps'

describe('the causal record over HTTP', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await TestServer.start()
  })
  afterEach(() => server.close())

  const create = (name: string, headers: Readonly<Record<string, string>> = {}) =>
    server.call(configMapsPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(configMap(name)),
    })
  const get = async (suffix: string, headers: Readonly<Record<string, string>> = {}) => {
    const { code, text } = await server.call(path + suffix, { headers })
    return { code, body: JSON.parse(text) }
  }

  it('is a list, newest first, by object and in pages', async () => {
    await create('a', { 'user-agent': 'kubectl/v1.36' })
    await create('b', { 'audit-id': 'request-7' })
    const { code, body } = await get('?resource=configmaps&namespace=default')
    expect([code, body]).toMatchObject([
      200,
      {
        apiVersion: 'coracle.dev/v1',
        kind: 'CauseList',
        items: [
          { kind: 'Cause', request: { verb: 'create', auditID: 'request-7' }, changes: [{ name: 'b' }] },
          { kind: 'Cause', request: { verb: 'create', userAgent: 'kubectl/v1.36' }, changes: [{ name: 'a' }] },
        ],
      },
    ])
    const { items, metadata } = (await get('?resource=configmaps&namespace=default&limit=1')).body as CauseList
    expect(items.map(({ changes }) => changes[0]?.name)).toEqual(['b'])
    const rest = (await get(`?resource=configmaps&namespace=default&limit=1&continue=${metadata.continue}`))
      .body as CauseList
    expect(rest.items.map(({ changes }) => changes[0]?.name)).toEqual(['a'])
    const since = (await get(`?resource=configmaps&namespace=default&after=${rest.items[0]?.revision}`))
      .body as CauseList
    expect(since.items.map(({ changes }) => changes[0]?.name)).toEqual(['b'])
    const [first] = items
    expect((await get(`/${first?.revision}`)).body).toEqual(first)
    expect((await get(`?revision=${first?.revision}`)).body.items).toEqual([first])
  })

  it('has the reason that a client says in a header', async () => {
    const object = { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'default', name: 'w' }
    const claim = { because: 'the widget wants it', reconcile: { controller: 'widgets', object, seen: [1] } }
    await create('a', { 'coracle-cause': JSON.stringify(claim) })
    expect((await get('?resource=configmaps&namespace=default')).body.items).toMatchObject([
      { ...claim, claimed: true },
    ])
  })

  it('refuses a reason it cannot read, and what it cannot be asked for, and names the field', async () => {
    const refused = async (answer: Promise<{ readonly code: number; readonly text: string }>) => {
      const { code, text } = await answer
      return [code, JSON.parse(text).message]
    }
    expect(await refused(create('a', { 'coracle-cause': '{"because":7}' }))).toEqual([
      400,
      'the header coracle-cause: because must be a text',
    ])
    expect(await refused(server.call(`${path}?limit=x`))).toEqual([400, 'limit: "x" is no whole number above 0'])
    expect(await refused(server.call(`${path}?labelSelector=a%21`))).toEqual([
      400,
      "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
    ])
    expect(await refused(server.call(`${path}?fieldSelector=spec.a%3Db`))).toEqual([
      400,
      '"spec.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ])
    expect((await get('/abc')).code).toBe(400)
    expect((await get('/1000000')).code).toBe(404)
    expect((await server.call(path, { method: 'POST' })).code).toBe(405)
    expect((await get('/1/status')).code).toBe(404)
  })

  it('is selected by labels, of which causes have none, and by names', async () => {
    await create('a')
    await create('b')
    const revisions = async (search: string) =>
      ((await get(`?resource=configmaps&namespace=default&${search}`)).body as CauseList).items.map(
        (each) => each.revision,
      )
    const [newest = 0, older = 0] = await revisions('')
    const all = [newest, older]
    expect(await revisions('labelSelector=app')).toEqual([])
    expect(await revisions(`labelSelector=app&fieldSelector=metadata.name%3D${older}`)).toEqual([])
    expect(await revisions('labelSelector=%21app')).toEqual(all)
    expect(await revisions(`fieldSelector=metadata.name%3D${older}`)).toEqual([older])
    expect(await revisions(`fieldSelector=metadata.name%21%3D${older}`)).toEqual([newest])
    expect(await revisions('fieldSelector=metadata.name%3Dx')).toEqual([])
  })

  it('is a table for kubectl', async () => {
    await create('a', { 'coracle-cause': '{"because":"it was missing"}' })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    const { body } = await get('?resource=configmaps&namespace=default', { accept })
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
    const [{ cells, object }] = body.rows
    expect(cells).toEqual([
      object.metadata.name,
      expect.stringMatching(/^\d+s$/),
      'configmaps/default/a',
      'create',
      expect.any(String),
      'it was missing',
    ])
  })

  it('is found by discovery', async () => {
    const { text } = await server.call('/apis/coracle.dev/v1')
    const resource = { name: 'causes', singularName: 'cause', namespaced: false, kind: 'Cause', verbs: ['get', 'list'] }
    expect(JSON.parse(text)).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'coracle.dev/v1',
      resources: [resource],
    })
    expect((await server.call('/apis')).text).toContain('"coracle.dev"')
  })
})

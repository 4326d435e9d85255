import { customKind } from '@coracle/api/custom'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const crates = (plural: string, group: string) =>
  customKind({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: plural, listKind: `${plural}List`, singular: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  } as never)

let server: TestServer
beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(() => server.close())

const addresses = async (): Promise<Readonly<Record<string, string>>> => {
  const { json } = await server.call('/openapi/v3')
  const paths = json.paths as Record<string, { readonly serverRelativeURL: string }>
  return Object.fromEntries(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]))
}

describe('the documents of /openapi/v3', () => {
  it('stay as they are, under the same address, while kinds of other groups come, change and go', async () => {
    await server.core.kinds.add(crates('barrels', 'cellar.example.com'))
    const before = await addresses()
    await server.core.kinds.add(crates('crates', 'example.com'))
    const { 'apis/example.com/v1': added, ...others } = await addresses()
    expect(added).toMatch(/^\/openapi\/v3\/apis\/example\.com\/v1\?hash=[0-9A-F]{64}$/)
    expect(others).toEqual(before)
    await server.core.kinds.remove('example.com/crates')
    expect(await addresses()).toEqual(before)
  })

  it('are others once a kind of their group has come', async () => {
    await server.core.kinds.add(crates('crates', 'example.com'))
    const { 'apis/example.com/v1': before = '' } = await addresses()
    await server.core.kinds.add(crates('boxes', 'example.com'))
    const { 'apis/example.com/v1': after = '' } = await addresses()
    expect(after).not.toBe(before)
    expect((await server.call(after)).text).toContain('/apis/example.com/v1/boxes')
  })

  it('name strategic patches where there are Go types to merge by, and not for custom kinds', async () => {
    await server.core.kinds.add(crates('crates', 'example.com'))
    const typesOf = async (document: string, path: string): Promise<readonly string[]> => {
      const { json } = await server.call(`/openapi/v3/${document}`)
      return Object.keys(json.paths[path].patch.requestBody.content)
    }
    const [json, merge] = ['application/json-patch+json', 'application/merge-patch+json']
    const [strategic, apply] = ['application/strategic-merge-patch+json', 'application/apply-patch+yaml']
    const crate = '/apis/example.com/v1/namespaces/{namespace}/crates/{name}'
    expect(await typesOf('apis/example.com/v1', crate)).toEqual([json, merge, apply])
    expect(await typesOf('api/v1', '/api/v1/nodes/{name}')).toEqual([json, merge, strategic, apply])
    const { json: v2 } = await server.call('/openapi/v2')
    expect(v2.paths[crate].patch.consumes).toEqual([json, merge, apply])
  })
})

it('what tells of groups has documents of its own, which custom kinds do not change', async () => {
  const before = await addresses()
  expect(before['apis/apps']).toMatch(/^\/openapi\/v3\/apis\/apps\?hash=[0-9A-F]{64}$/)
  await server.core.kinds.add(crates('crates', 'example.com'))
  const { 'apis/example.com/v1': _added, ...after } = await addresses()
  expect(after).toEqual(before)
  const { json } = await server.call(before['apis/apps'] ?? '')
  expect(Object.keys(json.paths)).toEqual(['/apis/apps/'])
  expect((await server.call('/openapi/v3/apis/example.com')).code).toBe(404)
})

it('the version of the server and the keys of its tokens are told of, in OpenAPI 2 and 3', async () => {
  const paths = ['/.well-known/openid-configuration/', '/openid/v1/jwks/', '/version/']
  const { json } = await server.call('/openapi/v2')
  expect(Object.keys(json.paths)).toEqual(expect.arrayContaining(paths))
  const documents = await addresses()
  for (const path of paths) {
    const { json: document } = await server.call(documents[path.slice(1, -1)] ?? '')
    expect(Object.keys(document.paths)).toEqual([path])
  }
  const accept = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  expect((await server.call('/openapi/v2', { headers: { accept } })).text).toContain(
    'getServiceAccountIssuerOpenIDKeyset',
  )
})

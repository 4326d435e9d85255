/** What upstream's apiserver library 0.36.4 answered to the same requests, in its words. */
import { apiVersionOf, configMaps as configMapKind } from '@coracle/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'
import { TestServer } from './testing/test-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const crates = '/apis/example.com/v1/namespaces/default/crates'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  const scale = { specReplicasPath: '.spec.weight', statusReplicasPath: '.status.weight' }
  const version = crateVersion('v1', { storage: true, subresources: { status: {}, scale } })
  await establish(server.core.client(apiServerUser), crateDefinition([version]))
  for (const name of ['a', 'b', 'c']) {
    const metadata = { name }
    await server.call(configMaps, { method: 'POST', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata } })
    await server.call(crates, { method: 'POST', body: { apiVersion: 'example.com/v1', kind: 'Crate', metadata } })
  }
})
afterAll(() => server.close())

describe('a list', () => {
  it.each(['', '?limit=2', '?pretty=true'])('of a built-in kind says once what its items are (%s)', async (query) => {
    const { json } = await server.call(`${configMaps}${query}`)
    expect([json.apiVersion, json.kind]).toEqual(['v1', 'ConfigMapList'])
    expect(json.items.length).toBeGreaterThan(0)
    for (const item of json.items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(['kind']))
    for (const item of json.items) expect(item).toHaveProperty('metadata.name')
    expect(json.items.map(({ apiVersion }: { readonly apiVersion?: string }) => apiVersion)).not.toContain('v1')
  })

  it('of none is empty', async () => {
    expect((await server.call(`${configMaps}?labelSelector=none`)).json.items).toEqual([])
  })

  it.each(['', '?pretty=true'])('of a custom kind says it of each, and that nothing follows (%s)', async (query) => {
    const { json } = await server.call(`${crates}${query}`)
    expect(json.metadata).toMatchObject({ continue: '' })
    expect(json.items[0]).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Crate' })
    expect((await server.call(`${crates}?limit=1`)).json.metadata.continue).not.toBe('')
  })

  it('of any state there is has no pages', async () => {
    const names = async (query: string): Promise<readonly string[]> =>
      (await server.call(`${crates}?${query}`)).json.items.map(
        (item: { metadata: { name: string } }) => item.metadata.name,
      )
    expect(await names('limit=1&resourceVersion=0')).toEqual(['a', 'b', 'c'])
    expect(await names('limit=1')).toEqual(['a'])
  })

  it.each([
    [`${configMaps}?resourceVersion=x`, 400, 'invalid resource version: resourceVersion: Invalid value: "x"'],
    [`${configMaps}?watch=1&resourceVersion=x`, 500, 'resourceVersion: Invalid value: "x": strconv.ParseUint'],
    [
      `${configMaps}?continue=abc`,
      400,
      "continue key is not valid: invalid character 'i' looking for beginning of value",
    ],
    [`${crates}?fieldSelector=spec.size%3D1`, 400, 'field label not supported: spec.size'],
    [`${configMaps}?fieldSelector=spec.size%3D1`, 400, '"spec.size" is not a known field selector: only'],
    [`${configMaps}?timeout=x`, 400, 'invalid timeout specified in the request URL - time: invalid duration "x"'],
    [
      `${configMaps}?timeout=5`,
      400,
      'invalid timeout specified in the request URL - time: missing unit in duration "5"',
    ],
  ])('is refused: %s', async (path, code, message) => {
    expect(await server.failure(path)).toMatchObject({ code, message: expect.stringContaining(message) })
  })
})

describe('a body', () => {
  const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): '
  it.each([
    [
      '{"apiVersion":1,"kind":"ConfigMap"}',
      `${unrecognized}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string ({"apiVersion":1,"kind":"Config ...)`,
    ],
    [
      '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
      `${unrecognized}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`,
    ],
  ])('of no type: %s', async (body, message) => {
    const headers = { 'content-type': 'application/json' }
    expect(await server.failure(configMaps, { method: 'POST', body, headers })).toMatchObject({ code: 400, message })
  })

  const noStruct =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  it.each([
    ['{', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    [
      '[]',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${noStruct}`,
    ],
    [
      '{"kind":"DeleteOptions","apiVersion":1}',
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string",
    ],
    ['{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c'],
    [
      '{"kind":"Pod","apiVersion":"v1"}',
      'no kind "Pod" is registered for version "v1" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [
      '{"gracePeriodSeconds":"x"}',
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
  ])('of options that are none: %s', async (body, message) => {
    const headers = { 'content-type': 'application/json' }
    expect(await server.failure(`${configMaps}/a`, { method: 'DELETE', body, headers })).toMatchObject({
      code: 400,
      message,
    })
  })
})

describe('a patch', () => {
  const notAll = 'error decoding patch: json: cannot unmarshal'
  it.each([
    ['json-patch+json', '{}', '', `${notAll} object into Go value of type []handlers.jsonPatchOp`],
    ['json-patch+json', '[1]', '', `${notAll} number into Go value of type handlers.jsonPatchOp`],
    ['json-patch+json', '[{"op":1}]', '', `${notAll} number into Go struct field jsonPatchOp.op of type string`],
    [
      'json-patch+json',
      '{}',
      'fieldValidation=Ignore',
      'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ],
    ['merge-patch+json', '{', '', 'error decoding patch: unexpected end of JSON input'],
    ['merge-patch+json', '{', 'fieldValidation=Ignore', 'Invalid JSON Patch'],
    ['strategic-merge-patch+json', '{', '', 'unexpected end of JSON input'],
    ['apply-patch+yaml', 'null', 'fieldManager=m', 'invalid object type: /, Kind='],
    [
      'apply-patch+yaml',
      '{"apiVersion":1,"kind":"ConfigMap"}',
      'fieldManager=m',
      'invalid object type: /, Kind=ConfigMap',
    ],
    [
      'apply-patch+yaml',
      '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
      'fieldManager=m',
      'invalid object type: /, Kind=',
    ],
  ])('%s %s %s', async (type, body, query, message) => {
    const headers = { 'content-type': `application/${type}` }
    const answer = await server.failure(`${configMaps}/a?${query}`, { method: 'PATCH', body, headers })
    expect(answer).toMatchObject({ code: 400, message })
  })

  it('that is applied may be YAML that looks like JSON', async () => {
    const body = `{apiVersion: v1, kind: ${configMapKind.kind}, metadata: {name: a}, data: {x: "1"}}`
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const { code, json } = await server.call(`${configMaps}/a?fieldManager=m`, { method: 'PATCH', body, headers })
    expect([code, json.apiVersion, json.data]).toEqual([200, apiVersionOf(configMapKind), { x: '1' }])
  })

  it('with Go types is nothing that custom kinds take, whether the object is there or not', async () => {
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const { code } = await server.failure(`${crates}/none`, { method: 'PATCH', body: '{}', headers })
    expect(code).toBe(415)
  })
})

describe('discovery of a custom kind', () => {
  it('has the order of upstream, and varies with nothing', async () => {
    const { json, headers } = await server.call('/apis/example.com/v1')
    const [crate, ...parts] = json.resources
    const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
    expect(crate).toMatchObject({ name: 'crates', verbs })
    expect(parts.map(({ name }: { readonly name: string }) => name)).toEqual(['crates/status', 'crates/scale'])
    expect(headers).not.toHaveProperty('vary')
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { JsonObject } from '../json.ts'
import { builtinResources } from '../kinds/builtin-kinds.ts'
import { jsonSchemaOfKind, jsonSchemaOfKinds, mergeOpenApiDefinitions, type OpenApiDefinitions } from './json-schema.ts'
import { openApiV3 } from './v3.ts'

const kinds = builtinResources.map(({ group, version, kind }) => ({ group, version, kind }))

const versions = [...new Set(kinds.map(({ group, version }) => `${group}/${version}`))]

const definitions = mergeOpenApiDefinitions(
  versions.map((each) => {
    const [group = '', version = ''] = each.split('/')
    const { components } = openApiV3(builtinResources, group, version) as {
      components: { schemas: OpenApiDefinitions }
    }
    return components.schemas
  }),
)

const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  formats: { 'date-time': true },
})

const all = ajv.compile(jsonSchemaOfKinds(definitions, kinds))
const pod = ajv.compile(jsonSchemaOfKind(definitions, { group: '', version: 'v1', kind: 'Pod' }))

const examples = join(import.meta.dirname, '..', '..', '..', '..', 'examples')

const manifests = readdirSync(examples)
  .filter((name) => /\.(yaml|json)$/.test(name))
  .flatMap((name) =>
    parseAllDocuments(readFileSync(join(examples, name), 'utf8')).map((document) => [name, document.toJS()] as const),
  )
  // The oldest form is converted on the way in, and custom kinds have schemas of their own.
  .filter(([, { apiVersion, kind }]) => kinds.some((each) => kind === each.kind && apiVersionOf(each) === apiVersion))

function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`
}

const podOf = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
  ...more,
})

describe('the JSON Schema of all kinds', () => {
  it.each(manifests)('takes the manifests of %s: %#', (_, manifest) => {
    expect(all(manifest), JSON.stringify(all.errors)).toBe(true)
  })

  it('takes objects in a list', () => {
    const listOf = (...items: readonly JsonObject[]) => ({ apiVersion: 'v1', kind: 'List', items })
    expect(manifests.length).toBeGreaterThan(4)
    expect(all(listOf(podOf({})))).toBe(true)
    expect(all(listOf(podOf({ nope: 1 })))).toBe(false)
  })

  it('takes no object of a kind that is not there', () => {
    expect(all({ apiVersion: 'v1', kind: 'Deployment' })).toBe(false)
    expect(all({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(true)
    expect(all({ kind: 'Pod' })).toBe(false)
  })
})

describe('the JSON Schema of a kind', () => {
  it.each<[string, JsonObject, boolean]>([
    ['a plain pod', podOf({}), true],
    [
      'a number for a port, or its name',
      podOf({ containers: [{ name: 'a', livenessProbe: { httpGet: { port: 'http' } } }] }),
      true,
    ],
    ['amounts as numbers and texts', podOf({ overhead: { cpu: 1, memory: '1Gi' } }), true],
    ['a time that generators leave empty', podOf({}, { metadata: { name: 'a', creationTimestamp: null } }), true],
    ['a field that is not there', podOf({ conatiners: [] }), false],
    ['a field of the wrong type', podOf({ activeDeadlineSeconds: 'soon' }), false],
    ['a number out of range', podOf({ priority: 2 ** 31 }), false],
    ['a value that is none of those allowed', podOf({ restartPolicy: 'Sometimes' }), false],
    ['a required field missing', podOf({ containers: [{ image: 'web:1' }] }), false],
    ['another kind', { ...podOf({}), kind: 'Service' }, false],
  ])('%s', (_, manifest, isGood) => {
    expect(pod(manifest), JSON.stringify(pod.errors)).toBe(isGood)
  })

  it('holds no more definitions than it needs', () => {
    const { definitions: own } = jsonSchemaOfKind(definitions, { group: '', version: 'v1', kind: 'ConfigMap' })
    expect(Object.keys(own as object)).not.toContain('io.k8s.api.core.v1.Pod')
    expect(Object.keys(own as object)).toContain('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  })

  it('is only of kinds that are defined', () => {
    expect(() => jsonSchemaOfKind(definitions, { group: 'x', version: 'v1', kind: 'Y' })).toThrow('kind Y in x/v1')
  })
})

describe('the JSON Schema of a custom kind', () => {
  const widget = (spec: JsonObject) => {
    const schema = {
      type: 'object',
      properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, spec: { type: 'object', ...spec } },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
    }
    const check = ajv.compile(
      jsonSchemaOfKind({ Widget: schema }, { group: 'example.com', version: 'v1', kind: 'Widget' }),
    )
    return (spec: unknown) => check({ apiVersion: 'example.com/v1', kind: 'Widget', spec })
  }
  const field = (schema: JsonObject) => {
    const check = widget({ properties: { a: schema } })
    return (a: unknown) => check({ a })
  }

  it.each<[string, JsonObject, readonly unknown[], readonly unknown[]]>([
    ['a number or a text', { 'x-kubernetes-int-or-string': true }, [1, '1'], [1.5, {}, null]],
    ['what may be null', { type: 'string', nullable: true, enum: ['x'] }, ['x', null], ['y', 1]],
    ['bounds that do not count', { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9 }, [2, 9], [1, 10]],
    ['patterns', { type: 'string', pattern: '^a+$' }, ['aa'], ['b']],
    ['patterns of RE2 that are none here', { type: 'string', pattern: '(?i)^a$' }, ['A', 'b'], [1]],
    [
      'objects with anything in them',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { b: { type: 'string' } } },
      [{ c: 1 }],
      [{ b: 1 }],
    ],
    [
      'objects with these fields alone',
      { type: 'object', properties: { b: { type: 'string' } } },
      [{ b: '' }],
      [{ c: 1 }],
    ],
    ['maps', { type: 'object', additionalProperties: { type: 'integer' } }, [{ c: 1 }], [{ c: '1' }]],
    [
      'embedded objects',
      { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      [{ kind: 'A', metadata: {}, spec: {} }],
      [{ status: {} }],
    ],
    [
      'conditions that close nothing',
      { type: 'object', properties: { b: {}, c: {} }, anyOf: [{ required: ['b'], properties: { b: {} } }] },
      [{ b: 1, c: 1 }],
      [{ c: 1 }],
    ],
  ])('has %s', (_, schema, good, bad) => {
    const check = field(schema)
    for (const value of good) expect(check(value), JSON.stringify(value)).toBe(true)
    for (const value of bad) expect(check(value), JSON.stringify(value)).toBe(false)
  })
})

/**
 * Compares every built-in kind, field for field, with the facts about upstream's API: names, types, formats, what is
 * required, list and map types, keys and patch strategies, and the verbs of every path. `data/README.md` says where the
 * facts come from.
 */
import { describe, expect, it } from 'vitest'
import { builtinResources, unstoredResources } from '../src/kinds/builtin-kinds.ts'
import {
  bindingSchema,
  deleteOptionsSchema,
  evictionSchema,
  scaleSchema,
  statusSchema,
  watchEventSchema,
} from '../src/kinds/index.ts'
import { type KubernetesObject, listSchema } from '../src/meta.ts'
import { apiVersionOf, type ResourceDefinition, type Verb } from '../src/resource.ts'
import type { ListSchema, MapSchema, ObjectSchema, Schema, Union } from '../src/schema/schema.ts'
import { readOpenApiFacts } from './data/extract-openapi-facts.ts'

type Facts = Readonly<Record<string, unknown>>

const facts = readOpenApiFacts()

/** Metrics are an API of another project. */
const resources = [...builtinResources, ...unstoredResources.filter(({ group }) => group !== 'metrics.k8s.io')]

describe('parity with upstream', () => {
  it('has every field of every definition, and no other', () => {
    const schemas: Schema[] = [
      bindingSchema,
      deleteOptionsSchema,
      evictionSchema,
      scaleSchema,
      statusSchema,
      watchEventSchema,
    ]
    for (const { schema } of unstoredResources) if (!schema.name.startsWith('io.k8s.metrics.')) schemas.push(schema)
    for (const { schema } of builtinResources) schemas.push(schema, listSchema(`${schema.name}List`, schema))
    const definitions = definitionsOf(schemas)
    // Every kind alone brings more than one definition: a walk that found few would prove nothing.
    expect(definitions.size).toBeGreaterThan(builtinResources.length * 4)
    expect([...definitions].flatMap(([name, ours]) => differences(name, ours, facts.definitions[name]))).toEqual([])
  })

  it.each(resources.map((each) => [each.plural, each] as const))('offers the verbs of %s', (_, definition) => {
    expect([...definition.verbs].sort()).toEqual(verbsOfPaths(definition))
  })

  it.each(resources.map((each) => [each.plural, each] as const))('has subresources of %s as upstream', (_, each) => {
    const status = { group: each.group, version: each.version, kind: each.kind, verbs: readAndWrite }
    const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: readAndWrite }
    const ours = {
      ...each.subresources,
      ...(each.hasStatus ? { status } : {}),
      ...(each.scale === undefined ? {} : { scale }),
    }
    for (const [name, { group, version, kind, verbs }] of Object.entries(ours)) {
      const path = facts.paths[`${itemPath(each)}/${name}`] ?? {}
      expect([name, [...verbs].sort()]).toEqual([name, Object.keys(path).flatMap(verbOfMethod).sort()])
      const ourKind = `${apiVersionOf({ group, version })}/${kind}`
      for (const upstreamKind of Object.values(path)) expect(upstreamKind).toBe(ourKind)
    }
    expect('scale' in ours).toBe(`${itemPath(each)}/scale` in facts.paths)
    expect('status' in ours).toBe(`${itemPath(each)}/status` in facts.paths)
  })
})

const readAndWrite: readonly Verb[] = ['get', 'patch', 'update']

/** All definitions that are reached from `schemas`, as OpenAPI. */
function definitionsOf(schemas: readonly Schema[]): ReadonlyMap<string, Facts> {
  const found = new Map<string, Facts>()
  const queue = [...schemas]
  for (let schema = queue.pop(); schema !== undefined; schema = queue.pop()) {
    if (schema.type === 'lazy') queue.push(schema.resolve())
    if (schema.type === 'list') queue.push(schema.items)
    if (schema.type === 'map') queue.push(schema.values)
    if (schema.type !== 'object' || found.has(schema.name)) continue
    found.set(schema.name, definitionOf(schema.definition ?? schema))
    queue.push(...Object.values(schema.fields).map((field) => field.schema))
  }
  return found
}

function definitionOf(schema: ObjectSchema): Facts {
  const fields = Object.entries(schema.fields)
  const required = fields
    .filter(([, field]) => field.required || field.requiredInOpenApi === true)
    .map(([name]) => name)
  const properties = fields.map(([name, { schema: of, patchStrategy }]) => [
    name,
    { ...typeOf(of), ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': patchStrategy }) },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...(schema.mapType === undefined ? {} : { 'x-kubernetes-map-type': schema.mapType }),
    ...(schema.unions === undefined ? {} : { 'x-kubernetes-unions': schema.unions.map(unionOf) }),
  }
}

/** Upstream has a name for each member of a union, which is the name of its field in Go. */
const unionOf = ({ fields, discriminator }: Union): Facts => ({
  ...(discriminator === undefined ? {} : { discriminator }),
  'fields-to-discriminateBy': Object.fromEntries(fields.map((name) => [name, name[0]?.toUpperCase() + name.slice(1)])),
})

const reference = (name: string): Facts => ({ $ref: `#/definitions/${name}` })

function typeOf(schema: Schema): Facts {
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return { type: schema.type }
    case 'integer':
    case 'number':
      return { type: schema.type, format: schema.format }
    case 'bytes':
      return defined({ type: 'string', format: 'byte', 'x-kubernetes-list-type': schema.listType })
    case 'int-or-string':
      return reference('io.k8s.apimachinery.pkg.util.intstr.IntOrString')
    case 'quantity':
      return reference('io.k8s.apimachinery.pkg.api.resource.Quantity')
    case 'time':
      return reference(`io.k8s.apimachinery.pkg.apis.meta.v1.${schema.micro ? 'MicroTime' : 'Time'}`)
    case 'any':
      return schema.name === undefined ? (schema.object ? { type: 'object' } : {}) : reference(schema.name)
    case 'list':
      return listTypeOf(schema)
    case 'map':
      return mapTypeOf(schema)
    case 'object':
      if (schema.name === '') return definitionOf(schema)
      return defined({
        ...reference(schema.name),
        'x-kubernetes-map-type': schema.definition === undefined ? undefined : schema.mapType,
      })
    case 'lazy':
      return typeOf(schema.resolve())
  }
}

function listTypeOf({ items, listType, mapKeys, patchStrategy, patchMergeKey }: ListSchema): Facts {
  return defined({
    type: 'array',
    items: typeOf(items),
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': mapKeys,
    'x-kubernetes-patch-strategy': patchStrategy,
    'x-kubernetes-patch-merge-key': patchMergeKey,
  })
}

function mapTypeOf({ values, mapType }: MapSchema): Facts {
  return defined({ type: 'object', additionalProperties: typeOf(values), 'x-kubernetes-map-type': mapType })
}

const defined = (members: Facts): Facts =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** Of what upstream says, what a schema has no part in: the kinds it is registered as. */
const elsewhere = 'x-kubernetes-group-version-kind'

function differences(where: string, ours: unknown, theirs: unknown): readonly string[] {
  if (!isObject(ours) || !isObject(theirs)) {
    const [left, right] = [JSON.stringify(sorted(where, ours)), JSON.stringify(sorted(where, theirs))]
    return left === right ? [] : [`${where}: ours ${left}, upstream ${right}`]
  }
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  keys.delete(elsewhere)
  // An object of no fields: upstream leaves the member out.
  if (isObject(ours.properties) && Object.keys(ours.properties).length === 0 && !('properties' in theirs)) {
    keys.delete('properties')
  }
  return [...keys].flatMap((key) => differences(`${where}.${key}`, ours[key], theirs[key]))
}

const isObject = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The order of required fields means nothing; that of list keys does. */
const sorted = (where: string, value: unknown): unknown =>
  where.endsWith('.required') && Array.isArray(value) ? [...value].sort() : value

const collectionPath = <T extends KubernetesObject>(definition: ResourceDefinition<T>): string => {
  const { group, namespaced, plural } = definition
  return `${group === '' ? '/api' : '/apis'}/${apiVersionOf(definition)}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`
}

const itemPath = <T extends KubernetesObject>(definition: ResourceDefinition<T>): string =>
  `${collectionPath(definition)}/{name}`

/** The verbs upstream has for a resource. The facts speak of watching at paths of their own, which are long deprecated. */
function verbsOfPaths<T extends KubernetesObject>(definition: ResourceDefinition<T>): readonly string[] {
  const collection = Object.keys(facts.paths[collectionPath(definition)] ?? {}).flatMap((method) => {
    if (method === 'get') return ['list']
    return method === 'delete' ? ['deletecollection'] : verbOfMethod(method)
  })
  const item = Object.keys(facts.paths[itemPath(definition)] ?? {}).flatMap(verbOfMethod)
  const watched = collectionPath(definition).replace(/^(\/apis?\/(?:[^/]+\/)?v\d[a-z0-9]*)\//, '$1/watch/')
  return [...collection, ...item, ...(watched in facts.paths ? ['watch'] : [])].sort()
}

function verbOfMethod(method: string): readonly string[] {
  const verbs: Readonly<Record<string, string>> = {
    get: 'get',
    put: 'update',
    patch: 'patch',
    delete: 'delete',
    post: 'create',
  }
  const verb = verbs[method]
  return verb === undefined ? [] : [verb]
}

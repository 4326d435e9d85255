/** How custom kinds are published: in OpenAPI v3 as their definition says, in v2 as far as kubectl can cope with it. */
import { expect, it } from 'vitest'
import { FieldPath } from '../field-path.ts'
import { type OpenApiVersion, openApiDefinitions } from '../openapi/definitions.ts'
import { customKind } from './custom-kind.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { readCustomSchema } from './read-custom-schema.ts'

const names = { group: 'stable.example.com', version: 'v1', kind: 'CronTab' }
const kinds = [names]

function published(props: JsonSchemaProps, version: OpenApiVersion): Readonly<Record<string, unknown>> {
  const { schema } = readCustomSchema(props, FieldPath.of('s'), names)
  return openApiDefinitions([{ schema, kinds }], version)['com.example.stable.v1.CronTab'] ?? {}
}

const spec: JsonSchemaProps = {
  type: 'object',
  description: 'What is wanted.',
  required: ['schedule', 'maybe'],
  'x-kubernetes-validations': [{ rule: 'self.replicas > 0' }],
  properties: {
    schedule: { type: 'string', pattern: '^a$', maxLength: 3, example: 'a', title: 'Schedule' },
    replicas: { type: 'integer', format: 'int32', minimum: 1, default: 1 },
    maybe: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    port: { 'x-kubernetes-int-or-string': true, not: { enum: [0] } },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    },
    labels: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
  },
}
const props: JsonSchemaProps = { type: 'object', description: 'A crontab.', properties: { spec } }

it('shows in v3 what the definition says, with what every object has', () => {
  const { properties, ...rest } = published(props, 'v3') as { readonly properties: Record<string, unknown> }
  expect(rest).toEqual({
    type: 'object',
    description: 'A crontab.',
    'x-kubernetes-group-version-kind': [names],
  })
  expect(Object.keys(properties)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  expect(properties.metadata).toMatchObject({
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
  })
  expect(properties.kind).toMatchObject({ type: 'string' })
  expect(properties.spec).toEqual({
    ...spec,
    properties: {
      ...spec.properties,
      port: {
        'x-kubernetes-int-or-string': true,
        not: { enum: [0] },
        anyOf: [{ type: 'integer' }, { type: 'string' }],
      },
    },
  })
})

it('leaves out of v2 what kubectl cannot cope with, and defaults as upstream', () => {
  const { properties } = published(props, 'v2') as { readonly properties: Record<string, unknown> }
  expect(properties.metadata).toMatchObject({
    $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  })
  expect(properties.spec).toEqual({
    ...spec,
    required: ['schedule'],
    properties: {
      ...spec.properties,
      replicas: { type: 'integer', format: 'int32', minimum: 1 },
      maybe: {},
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      port: { 'x-kubernetes-int-or-string': true },
    },
  })
})

it('names no field in v2 where others are kept, since kubectl would refuse those', () => {
  const anything: JsonSchemaProps = {
    type: 'object',
    description: 'Anything.',
    'x-kubernetes-preserve-unknown-fields': true,
  }
  expect(published(anything, 'v2')).toEqual({ type: 'object', 'x-kubernetes-group-version-kind': [names] })
  expect(published(anything, 'v3')).toMatchObject({ properties: { apiVersion: {}, kind: {}, metadata: {} } })

  const embedded = { ...anything, 'x-kubernetes-embedded-resource': true }
  const { properties } = published({ type: 'object', properties: { embedded } }, 'v2') as {
    readonly properties: Record<string, unknown>
  }
  expect(properties.embedded).toEqual({
    description: 'Anything.',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-embedded-resource': true,
  })
})

const partOf = (part: JsonSchemaProps, version: OpenApiVersion): unknown =>
  (published({ type: 'object', properties: { part } }, version) as { readonly properties: Record<string, unknown> })
    .properties.part

it.each(['v2', 'v3'] as const)('says that an object within another has a kind and a version (%s)', (version) => {
  const embedded: JsonSchemaProps = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    required: ['spec', 'kind'],
    properties: { spec: { type: 'object' } },
  }
  expect(partOf(embedded, version)).toMatchObject({
    required: ['spec', 'kind', 'apiVersion'],
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: {}, spec: { type: 'object' } },
  })
})

it('says of what may be a number or a text that it is one of these, beside any other alternatives', () => {
  const either = { anyOf: [{ type: 'integer' }, { type: 'string' }] }
  const part: JsonSchemaProps = { 'x-kubernetes-int-or-string': true, anyOf: [{ minimum: 1 }, { pattern: 'a' }] }
  expect(partOf(part, 'v3')).toEqual({ ...part, allOf: [either] })
  expect(partOf({ ...part, allOf: [{ maximum: 9 }] }, 'v3')).toEqual({ ...part, allOf: [either, { maximum: 9 }] })
  for (const said of [either, { allOf: [either], anyOf: [{ minimum: 1 }] }])
    expect(partOf({ ...said, 'x-kubernetes-int-or-string': true }, 'v3')).toEqual({
      ...said,
      'x-kubernetes-int-or-string': true,
    })
})

it('requires no key in v2 of a map whose values may be null', () => {
  const part: JsonSchemaProps = {
    type: 'object',
    required: ['a'],
    additionalProperties: { type: 'string', nullable: true },
  }
  expect(partOf(part, 'v2')).toEqual({ type: 'object', additionalProperties: {} })
  expect(partOf(part, 'v3')).toEqual(part)
})

it('describes what every object has in the words people look for', () => {
  const { properties } = published(props, 'v2') as { readonly properties: Record<string, unknown> }
  expect(properties).toMatchObject({
    apiVersion: { description: expect.stringMatching('^APIVersion defines ') },
    metadata: { description: expect.stringMatching("^Standard object's metadata") },
  })
})

it.each(['v2', 'v3'] as const)('names the fields that objects are selected by (%s)', (version) => {
  const selectableFields = [{ jsonPath: '.spec.schedule' }, { jsonPath: '.spec.replicas' }]
  const served = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: props }, selectableFields }
  const { schema } = customKind({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crontabs.stable.example.com' },
    spec: {
      group: names.group,
      scope: 'Namespaced',
      names: { plural: 'crontabs', kind: 'CronTab' },
      versions: [served],
    },
  })
  const definition = openApiDefinitions([{ schema, kinds }], version)['com.example.stable.v1.CronTab']
  expect(definition).toMatchObject({
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.schedule' }, { fieldPath: 'spec.replicas' }],
  })
})

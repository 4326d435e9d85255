import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { kindSchema } from '../meta.ts'
import * as s from '../schema/builders.ts'
import { compile } from '../schema/compile.ts'
import type { ObjectSchema, Schema, StringFormat } from '../schema/schema.ts'
import { checkFormat } from '../string-formats.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { readCustomSchema } from './read-custom-schema.ts'
import { writeCustomSchema } from './write-custom-schema.ts'

const object = (fields: Parameters<typeof s.object>[2], options: Parameters<typeof s.object>[3] = {}) =>
  s.object('', '', fields, options)

const written = (schema: ObjectSchema<never>): JsonSchemaProps => writeCustomSchema(schema as ObjectSchema)

/** How the schema of one field is written. */
const field = (schema: Schema<never> | Schema): JsonSchemaProps | undefined =>
  writeCustomSchema(object({ it: s.optional(schema as Schema, '') }) as ObjectSchema).properties?.it

/** The schema as an API server reads it that is given what was written. */
function served(spec: Parameters<typeof s.object>[2], options: Parameters<typeof s.object>[3] = {}) {
  const kind = kindSchema('', '', { spec: s.required(object(spec, options), 'What is wanted.') })
  const { schema, errors } = readCustomSchema(written(kind as never), FieldPath.of('schema'), {
    group: 'example.com',
    version: 'v1',
    kind: 'Site',
  })
  expect(errors.map(describeFieldError)).toEqual([])
  const { decode, applyDefaults, validate } = compile(schema)
  const whole = (value: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Site',
    metadata: { name: 'a' },
    spec: value,
  })
  const read = (value: object) => applyDefaults(decode(whole(value)).value)
  return {
    decoded: (value: object) => (read(value) as unknown as { readonly spec: unknown }).spec,
    errors: (value: object, old?: object) =>
      validate(read(value), old === undefined ? {} : { old: read(old) }).map(describeFieldError),
  }
}

describe('schemas in TypeScript as CustomResourceDefinitions have them', () => {
  it.each<readonly [string, Schema, JsonSchemaProps]>([
    ['a string', s.string({ minLength: 1, pattern: '^a' }), { type: 'string', minLength: 1, pattern: '^a' }],
    ['one of some', s.enumOf('b', 'a'), { type: 'string', enum: ['b', 'a'] }],
    ['an integer', s.int32({ minimum: 0 }), { type: 'integer', format: 'int32', minimum: 0 }],
    ['a number', s.double(), { type: 'number', format: 'double' }],
    ['a truth value', s.boolean, { type: 'boolean' }],
    ['bytes', s.bytes, { type: 'string', format: 'byte' }],
    ['a time', s.time, { type: 'string', format: 'date-time' }],
    [
      'a number or a text',
      s.intOrString,
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['anything', s.any, { 'x-kubernetes-preserve-unknown-fields': true }],
    ['any object', s.anyObject('', ''), { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    [
      'a list',
      s.list(s.string(), { maxItems: 3 }) as Schema,
      { type: 'array', items: { type: 'string' }, maxItems: 3 },
    ],
    [
      'a list by key',
      s.mapList(object({ name: s.required(s.string(), 'A name.') }), ['name']) as Schema,
      {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string', description: 'A name.' } },
          required: ['name'],
        },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ],
    ['a map', s.stringMap as Schema, { type: 'object', additionalProperties: { type: 'string' } }],
    ['a value that may be null', { ...s.string(), nullable: true }, { type: 'string', nullable: true }],
    [
      'a format and a length of its own',
      s.string({ format: 'label-value', maxLength: 5 }),
      {
        type: 'string',
        maxLength: 5,
        allOf: [{ maxLength: 63, pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$' }],
      },
    ],
  ])('%s', (_, schema, props) => {
    expect(field(schema)).toEqual(props)
  })

  it('say what every object has in the fewest words', () => {
    const schema = kindSchema('', 'A site.', { spec: s.optional(object({}), 'What is wanted.') })
    expect(written(schema as never)).toEqual({
      type: 'object',
      description: 'A site.',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: { type: 'object', description: 'What is wanted.' },
      },
    })
  })

  it('fill in defaults, drop what they do not know, and tell what is wrong', () => {
    const { decoded, errors } = served({
      image: s.required(s.string({ minLength: 1 }), 'The image.'),
      replicas: s.defaulted(s.int32({ minimum: 0 }), 'How many.', 2),
      memory: s.optional(s.quantity, 'How much.'),
    })
    expect(decoded({ image: 'web', other: 1 })).toEqual({ image: 'web', replicas: 2 })
    expect(errors({ image: 'web', memory: '1.5Gi' })).toEqual([])
    expect(errors({ replicas: -1, memory: '1,5 Gi' })).toEqual([
      expect.stringContaining('spec.replicas: Invalid value: -1'),
      expect.stringContaining('spec.memory: Invalid value: "1,5 Gi"'),
      'spec.image: Required value',
    ])
  })

  it('take a default that only says that nothing will do for what it is', () => {
    const text = (more: object) => field(object({ a: s.required(s.string(), '', more) }) as Schema)?.properties?.a
    expect([text({ default: '' }), text({ default: 'x' })]).toEqual([
      { type: 'string' },
      { type: 'string', default: 'x' },
    ])
  })

  it('hold on updates: what is immutable stays, and rules in CEL see the old value', () => {
    const { errors } = served(
      {
        zone: s.optional(s.string({ maxLength: 20 }), 'Where it is.', { immutable: true }),
        replicas: s.optional(s.int32(), 'How many.'),
      },
      { cel: [{ rule: 'self.replicas >= oldSelf.replicas', message: 'never fewer' }] },
    )
    expect(errors({ zone: 'a', replicas: 2 }, { zone: 'a', replicas: 1 })).toEqual([])
    expect(errors({ zone: 'b', replicas: 1 }, { zone: 'a', replicas: 2 })).toEqual([
      expect.stringContaining('never fewer'),
      expect.stringMatching(/^spec.zone: .*: field is immutable$/),
    ])
  })

  it('let at most, or exactly, one of several fields be there', () => {
    const text = s.optional(s.string({ maxLength: 9 }), '')
    const most = served({ a: text, 'b-c': text }, { unions: [{ fields: ['a', 'b-c'] }] })
    expect([{}, { a: '1' }, { 'b-c': '1' }].flatMap((value) => most.errors(value))).toEqual([])
    expect(most.errors({ a: '1', 'b-c': '1' })[0]).toContain('at most one of a, b-c may be set')
    const exactly = served({ a: text, b: text }, { unions: [{ fields: ['a', 'b'], arity: 'exactly-one' }] })
    expect(exactly.errors({ b: '1' })).toEqual([])
    expect(exactly.errors({})[0]).toContain('exactly one of a, b may be set')
  })

  it.each<readonly [string, Schema, string]>([
    ['rules that are functions', object({}, { rules: [() => []] }) as Schema, 'it: rules that are functions'],
    ['keys of maps', s.mapOf(s.string(), { keys: s.string() }) as Schema, 'it: what keys look like'],
  ])('cannot have %s', (_, schema, message) => {
    expect(() => field(schema)).toThrow(message)
  })

  it('cannot contain themselves', () => {
    const tree: Schema = object({ children: s.optional(s.list(s.lazy(() => tree)), '') }) as Schema
    expect(() => field(tree)).toThrow('it.children.[]: a schema that contains itself')
  })
})

describe('formats of strings', () => {
  const formats: readonly StringFormat[] = [
    'dns1123-label',
    'dns1123-subdomain',
    'dns1035-label',
    'qualified-name',
    'label-value',
    'env-var-name',
    'config-map-key',
    'ip',
    'absolute-path',
    'iana-service-name',
  ]

  it.each(formats)('%s accepts the same there', (format) => {
    const { errors } = served({ it: s.required(s.string({ format }), '') })
    const pieces = fc.constantFrom(
      'a',
      'b1',
      '-',
      '--',
      '.',
      '..',
      '/',
      '_',
      'A',
      '9',
      '=',
      ':',
      'é',
      'example.com/',
      '10.0.0.1',
      '::1',
      'x'.repeat(62),
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(errors({ it: text }).length === 0).toBe(checkFormat(format, text).length === 0)
      }),
      { numRuns: 300 },
    )
  })
})

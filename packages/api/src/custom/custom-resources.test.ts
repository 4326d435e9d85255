/** What becomes of custom resources: decoding, defaults and validation in the structural dialect, as upstream has them. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { type CompiledSchema, compile } from '../schema/compile.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { readCustomSchema } from './read-custom-schema.ts'

type Json = Readonly<Record<string, unknown>>

const string: JsonSchemaProps = { type: 'string' }
const integer: JsonSchemaProps = { type: 'integer' }
const intOrString: JsonSchemaProps = { 'x-kubernetes-int-or-string': true }
const object = (
  properties: Readonly<Record<string, JsonSchemaProps>>,
  more: JsonSchemaProps = {},
): JsonSchemaProps => ({
  type: 'object',
  properties,
  ...more,
})
const list = (items: JsonSchemaProps, more: JsonSchemaProps = {}): JsonSchemaProps => ({
  type: 'array',
  items,
  ...more,
})
const mapOf = (values: JsonSchemaProps | true): JsonSchemaProps => ({ type: 'object', additionalProperties: values })
const preserve = { 'x-kubernetes-preserve-unknown-fields': true } as const

function compiled(spec: JsonSchemaProps): CompiledSchema<unknown> {
  const { schema, errors } = readCustomSchema(object({ spec }), FieldPath.of('schema'), {
    group: 'stable.example.com',
    version: 'v1',
    kind: 'CronTab',
  })
  expect(errors.map(describeFieldError)).toEqual([])
  return compile(schema) as CompiledSchema<unknown>
}

const whole = (spec: unknown): Json => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name: 'a' },
  spec,
})

const decoded = (schema: JsonSchemaProps, spec: unknown): unknown =>
  (compiled(schema).decode(whole(spec)).value as Json).spec

const defaulted = (schema: JsonSchemaProps, spec: unknown): unknown => {
  const { decode, applyDefaults } = compiled(schema)
  return (applyDefaults(decode(whole(spec)).value) as Json).spec
}

const errorsOf = (schema: JsonSchemaProps, spec: unknown, old?: unknown): readonly string[] =>
  compiled(schema)
    .validate(whole(spec), old === undefined ? {} : { old: whole(old) })
    .map(describeFieldError)

describe('decoding', () => {
  it.each<[string, JsonSchemaProps, unknown, unknown]>([
    [
      'keeps empty lists, maps and texts',
      object({ l: list(string), m: mapOf(string), s: string }),
      { l: [], m: {}, s: '' },
      { l: [], m: {}, s: '' },
    ],
    ['drops unknown fields', object({ a: string }), { a: 'x', b: 1 }, { a: 'x' }],
    ['drops all fields where none is described', { type: 'object' }, { a: 1 }, {}],
    [
      'keeps unknown fields where told, and drops them further in',
      object({ a: object({}) }, preserve),
      { a: { b: 1 }, c: { d: null } },
      { a: {}, c: { d: null } },
    ],
    ['keeps anything where nothing is said', { ...preserve }, { a: [{ b: null }] }, { a: [{ b: null }] }],
    [
      'prunes the values of maps and elements of lists',
      object({ m: mapOf(object({ a: string })), l: list(object({})) }),
      { m: { x: { a: '', b: 1 } }, l: [{ c: 1 }] },
      { m: { x: { a: '' } }, l: [{}] },
    ],
    [
      'keeps unknown fields of elements of a list that preserves',
      object({ l: list(object({ a: object({}) }), preserve) }),
      { l: [{ a: { b: 1 }, c: 1 }] },
      { l: [{ a: {}, c: 1 }] },
    ],
    [
      'drops nulls of fields that may not be null',
      object({ a: string, b: { ...string, nullable: true } }),
      { a: null, b: null },
      { b: null },
    ],
    ['keeps nulls of lists, to be refused', object({ l: list(string) }), { l: ['a', null] }, { l: ['a', null] }],
    [
      'drops nulls of maps, but not of those that hold anything',
      object({ m: mapOf(string), n: mapOf(true) }),
      { m: { a: null }, n: { a: null } },
      { m: {}, n: { a: null } },
    ],
    [
      'keeps values of the wrong type, to be refused, without their fields',
      object({ a: object({}), l: list(string) }),
      { a: 'x', l: { b: 1 } },
      { a: 'x', l: {} },
    ],
    [
      'drops the fields of what should have none',
      object({ s: string, o: object({}), l: list(string), m: mapOf(true), i: intOrString }),
      { s: { a: 1 }, o: [[{ a: 1 }]], l: [{ a: 1 }], m: { x: { a: 1 }, y: [1, { b: 1 }], z: 1 }, i: { a: 1 } },
      { s: {}, o: [[{}]], l: [{}], m: { x: {}, y: [1, {}], z: 1 }, i: {} },
    ],
    [
      'keeps numbers and texts where either may be',
      object({ a: intOrString, b: intOrString }),
      { a: '25%', b: 3 },
      { a: '25%', b: 3 },
    ],
    [
      'keeps kind and metadata of an embedded resource',
      object({ t: object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true }) }),
      { t: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', foo: 1 }, spec: { x: 1 }, y: 1 } },
      { t: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} } },
    ],
  ])('%s', (_, schema, spec, expected) => {
    expect(decoded(schema, spec)).toEqual(expected)
  })

  it('returns what needs no change as the same reference', () => {
    const value = whole({ a: '', l: [], m: { k: '' } })
    expect(compiled(object({ a: string, l: list(string), m: mapOf(string) })).decode(value).value).toBe(value)
  })

  it('names unknown fields when asked', () => {
    const { decode } = compiled(object({ l: list(object({ a: string })) }))
    const value = whole({ l: [{ a: 'x', b: 1 }] })
    expect(decode(value, { fieldValidation: 'Warn' }).warnings).toEqual(['unknown field "spec.l[0].b"'])
    expect(() => decode(value, { fieldValidation: 'Strict', kind: 'CronTab', version: 'v1' })).toThrow(
      'CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: unknown field "spec.l[0].b"',
    )
  })

  it('names unknown fields of its metadata first, and those in the metadata of what is embedded last', () => {
    const embedded = object({ a: string }, { 'x-kubernetes-embedded-resource': true })
    const { decode } = compiled(object({ a: embedded, b: string }))
    const value = { ...whole({ a: { metadata: { x: 1 }, y: 1 }, z: 1 }), ape: 1, metadata: { name: 'a', odd: 1 } }
    expect(decode(value, { fieldValidation: 'Warn' }).warnings).toEqual(
      ['metadata.odd', 'ape', 'spec.a.y', 'spec.z', 'spec.a.metadata.x'].map((path) => `unknown field "${path}"`),
    )
  })

  it('reads metadata as that of any object', () => {
    const { decode } = compiled(object({}))
    const value = { ...whole({}), metadata: { name: 'a', labels: {}, foo: 1 } }
    expect((decode(value).value as Json).metadata).toEqual({ name: 'a' })
    expect(() => decode({ ...value, metadata: { labels: { a: 1 } } })).toThrow('json: cannot unmarshal number')
  })

  it('refuses more values than an object may hold, known or not', () => {
    const many = Array.from({ length: 100_001 }, () => 1)
    expect(() => decoded({ ...preserve }, many)).toThrow('The object holds more than 100000 values')
    expect(() => decoded(object({ a: list(integer) }), { a: many })).toThrow('The object holds more than 100000 values')
  })

  it('refuses what nests too deep, known or not', () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 300; depth += 1) deep = { a: deep }
    expect(() => decoded({ ...preserve }, deep)).toThrow('exceeded max depth')
    expect(() => decoded(object({ a: { ...preserve } }), { a: deep })).toThrow('exceeded max depth')
  })
})

describe('defaults', () => {
  const port = object({ name: { ...string, default: 'http' }, port: integer })
  it.each<[string, JsonSchemaProps, unknown, unknown]>([
    ['fill in what is absent', object({ a: { ...string, default: 'x' } }), {}, { a: 'x' }],
    ['leave an empty text', object({ a: { ...string, default: 'x' } }), { a: '' }, { a: '' }],
    [
      'leave false and 0',
      object({ a: { type: 'boolean', default: true }, b: { ...integer, default: 3 } }),
      { a: false, b: 0 },
      { a: false, b: 0 },
    ],
    [
      'take the place of a null that may not be there',
      object({ a: { ...string, default: 'x' } }),
      { a: null },
      { a: 'x' },
    ],
    [
      'leave a null that may be there',
      object({ a: { ...string, default: 'x', nullable: true } }),
      { a: null },
      { a: null },
    ],
    [
      'reach into lists and maps',
      object({ l: list(port), m: mapOf(port) }),
      { l: [{}], m: { k: {} } },
      { l: [{ name: 'http' }], m: { k: { name: 'http' } } },
    ],
    ['reach into defaults', object({ p: { ...port, default: { port: 1 } } }), {}, { p: { port: 1, name: 'http' } }],
    ['do not make the objects around them', object({ p: port }), {}, {}],
    [
      'of elements and values replace nulls',
      object({ l: list({ ...string, default: 'x' }), m: mapOf({ ...integer, default: 1 }) }),
      { l: [null], m: { k: null } },
      { l: ['x'], m: { k: 1 } },
    ],
    [
      'of lists, maps and anything are taken as they are',
      object({ l: list(string, { default: ['a'] }), p: { ...preserve, default: { x: null } } }),
      {},
      { l: ['a'], p: { x: null } },
    ],
  ])('%s', (_, schema, spec, expected) => {
    expect(defaulted(schema, spec)).toEqual(expected)
  })

  // As upstream's TestCustomResourceDefaultingOfMetaFields.
  const inMetadata = { name: 'Bar', unknown: 'unknown' }
  const whatever = { apiVersion: 'foos/v1', kind: 'Foo', metadata: inMetadata }
  const typed = { apiVersion: { ...string, default: 'foos/v1' }, kind: { ...string, default: 'Foo' } }
  const metadataOf = (more: JsonSchemaProps) => ({ ...typed, metadata: { type: 'object', ...more } })
  const name = { ...string, default: 'Bar' }
  it.each<[string, JsonSchemaProps, unknown]>([
    ['of its fields', object(metadataOf(object({ name, unknown: name }))), { metadata: {} }],
    ['of all of it', object(metadataOf({ default: inMetadata })), {}],
    ['of the whole object', object({ foo: string }, { default: whatever }), undefined],
  ])('of the metadata of an embedded resource are for what metadata has: %s', (_, props, given) => {
    const t = { ...props, 'x-kubernetes-embedded-resource': true }
    const expected = { apiVersion: 'foos/v1', kind: 'Foo', metadata: { name: 'Bar' } }
    expect(defaulted(object({ t }), { t: given })).toEqual({ t: expected })
    expect(defaulted(object({ t: { ...t, ...preserve } }), { t: given })).toEqual({ t: expected })
  })

  it('of something around an embedded resource are for what metadata has, in lists and maps too', () => {
    const embedded = object({ foo: string }, { 'x-kubernetes-embedded-resource': true })
    const byDefault = { t: whatever, l: [whatever], m: { k: whatever } }
    const a = object({ t: embedded, l: list(embedded), m: mapOf(embedded) }, { default: byDefault })
    const expected = { ...whatever, metadata: { name: 'Bar' } }
    expect(defaulted(object({ a }), {})).toEqual({ a: { t: expected, l: [expected], m: { k: expected } } })
  })

  it('of built-in metadata are those of Go', () => {
    const { decode, applyDefaults } = compiled(object({}))
    const value = { ...whole({}), metadata: { ownerReferences: [{ name: 'a' }] } }
    const { metadata } = applyDefaults(decode(value).value) as { metadata: unknown }
    expect(metadata).toEqual({ ownerReferences: [{ apiVersion: '', kind: '', name: 'a', uid: '' }] })
  })
})

describe('validation', () => {
  const a = (schema: JsonSchemaProps): JsonSchemaProps => object({ a: schema })
  it.each<[string, JsonSchemaProps, unknown, readonly string[]]>([
    [
      'a text for an integer',
      a(integer),
      { a: 'x' },
      ['spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"'],
    ],
    [
      'a fraction for an integer',
      a(integer),
      { a: 1.5 },
      [
        'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.a',
      ],
    ],
    [
      'a value of another type than its format, and what else is wrong with it',
      a({ type: 'integer', format: 'int64', maximum: 1 }),
      { a: 1.5 },
      [
        'spec.a: Invalid value: "float64": spec.a in body must be of type int64: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.a',
        'spec.a: Invalid value: 1.5: spec.a in body should be less than or equal to 1',
      ],
    ],
    [
      'another type than that of a format, by the format',
      a({ ...string, format: 'ipv4' }),
      { a: 1 },
      ['spec.a: Invalid value: "int64": spec.a in body must be of type ipv4: "int64"'],
    ],
    [
      'an integer as a multiple of what is none, which its type makes nothing',
      a({ type: 'number', multipleOf: 0.5 }),
      { a: 2 },
      ['spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0'],
    ],
    [
      'a fraction by bounds as they are, and an integer by what its type makes of them',
      object({ a: { type: 'number', minimum: 1_000_000 }, b: { type: 'number', minimum: 0.5 } }),
      { a: 0.5, b: 0 },
      ['spec.a: Invalid value: 0.5: spec.a in body should be greater than or equal to 1e+06'],
    ],
    [
      'numbers that no integer holds, as numbers',
      a(string),
      { a: 1e21 },
      ['spec.a: Invalid value: "number": spec.a in body must be of type string: "number"'],
    ],
    [
      'once what several alternatives say',
      object({ b: string }, { allOf: [{ required: ['b'] }, { required: ['b'] }] }),
      {},
      [
        'spec.b: Required value',
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      'a list for an object',
      a(object({})),
      { a: [] },
      ['spec.a: Invalid value: "array": spec.a in body must be of type object: "array"'],
    ],
    [
      'a null',
      object({ l: list(string) }),
      { l: [null] },
      ['spec.l[0]: Invalid value: "null": spec.l[0] in body must be of type string: "null"'],
    ],
    [
      'an object for int-or-string',
      a(intOrString),
      { a: {} },
      ['spec.a: Invalid value: "object": spec.a in body must be of type integer,string: "object"'],
    ],
    [
      'a number that is too large',
      a({ ...integer, maximum: 10 }),
      { a: 11 },
      ['spec.a: Invalid value: 11: spec.a in body should be less than or equal to 10'],
    ],
    [
      'a number that is too small',
      a({ ...integer, minimum: 1 }),
      { a: 0 },
      ['spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1'],
    ],
    [
      'a number at a bound that is not included',
      a({ ...integer, minimum: 1, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true }),
      { a: 1 },
      [
        'spec.a: Invalid value: 1: spec.a in body should be greater than 1',
        'spec.a: Invalid value: 1: spec.a in body should be less than 1',
      ],
    ],
    [
      'a number that is no multiple',
      a({ type: 'number', multipleOf: 0.1 }),
      { a: 0.25 },
      ['spec.a: Invalid value: 0.25: spec.a in body should be a multiple of 0.1'],
    ],
    [
      'an integer out of range',
      a({ ...integer, format: 'int32' }),
      { a: 2 ** 31 },
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.a'],
    ],
    [
      'an object that is none of those allowed, with its keys in order',
      a({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, enum: [{ d: 1, c: 1 }] }),
      { a: { z: 1, b: [{ y: 1, x: 2 }] } },
      ['spec.a: Unsupported value: {"b":[{"x":2,"y":1}],"z":1}: supported values: "{\\"c\\":1,\\"d\\":1}"'],
    ],
    [
      'elements with the same keys, which are shown in order',
      a({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['z', 'b'],
        items: { type: 'object', required: ['z', 'b'], properties: { z: string, b: string } },
      }),
      {
        a: [
          { z: '1', b: '2' },
          { z: '1', b: '2' },
        ],
      },
      ['spec.a[1]: Duplicate value: {"b":"2","z":"1"}'],
    ],
    [
      'a number that no 32 bits hold',
      a({ type: 'number', format: 'float' }),
      { a: 3.5e38 },
      ['<nil>: Invalid value: "": Checked value must be of type number with format float in spec.a'],
    ],
    // It is rounded to the largest that there is.
    ['a number that 32 bits just hold', a({ type: 'number', format: 'float' }), { a: 3.4028235e38 }, []],
    [
      'a text that is too long',
      a({ ...string, maxLength: 2 }),
      { a: 'äöü' },
      ['spec.a: Too long: may not be more than 2 bytes'],
    ],
    [
      'a text that is too short',
      a({ ...string, minLength: 2 }),
      { a: '😀' },
      ['spec.a: Invalid value: "😀": spec.a in body should be at least 2 chars long'],
    ],
    [
      'a text that does not match',
      a({ ...string, pattern: '^\\d+$' }),
      { a: 'x1' },
      ['spec.a: Invalid value: "x1": spec.a in body should match \'^\\d+$\''],
    ],
    [
      'a text of another format',
      a({ ...string, format: 'date-time' }),
      { a: 'x' },
      ['spec.a: Invalid value: "x": spec.a in body must be of type date-time: "x"'],
    ],
    [
      'an empty text that an enumeration does not have',
      a({ ...string, enum: ['x', 'y'] }),
      { a: '' },
      ['spec.a: Unsupported value: "": supported values: "x", "y"'],
    ],
    [
      'an object that an enumeration does not have',
      a({ ...object({}), ...preserve, enum: [{ b: 1 }] }),
      { a: { b: 2 } },
      ['spec.a: Unsupported value: {"b":2}: supported values: "{\\"b\\":1}"'],
    ],
    ['a missing field', a({ ...object({ b: string }), required: ['b'] }), { a: {} }, ['spec.a.b: Required value']],
    [
      'too few elements',
      a(list(string, { minItems: 2 })),
      { a: ['x'] },
      ['spec.a: Invalid value: 1: spec.a in body should have at least 2 items'],
    ],
    [
      'too many elements',
      a(list(string, { maxItems: 1 })),
      { a: ['x', 'y'] },
      ['spec.a: Too many: 2: must have at most 1 item'],
    ],
    [
      'too few properties',
      a({ ...mapOf(string), minProperties: 1 }),
      { a: {} },
      ['spec.a: Invalid value: 0: spec.a in body should have at least 1 properties'],
    ],
    [
      'too many properties',
      a({ ...mapOf(string), maxProperties: 1 }),
      { a: { x: '', y: '' } },
      ['spec.a: Too many: 2: must have at most 1 item'],
    ],
    [
      'a value of a map',
      a(mapOf(integer)),
      { a: { k: 'x' } },
      ['spec.a.k: Invalid value: "string": spec.a.k in body must be of type integer: "string"'],
    ],
    [
      'a set with duplicates',
      a(list(string, { 'x-kubernetes-list-type': 'set' })),
      { a: ['x', 'y', 'x', 'x'] },
      ['spec.a[2]: Duplicate value: "x"'],
    ],
    [
      'a map list with duplicates',
      a(
        list(
          { ...object({ n: string, p: integer }), required: ['n', 'p'] },
          { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n', 'p'] },
        ),
      ),
      {
        a: [
          { n: 'x', p: 1 },
          { n: 'x', p: 2 },
          { p: 1, n: 'x' },
        ],
      },
      ['spec.a[2]: Duplicate value: {"n":"x","p":1}'],
    ],
    [
      'none of several',
      a({ ...object({ b: string, c: string }), oneOf: [{ required: ['b'] }, { required: ['c'] }] }),
      { a: {} },
      [
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid',
        'spec.a.b: Required value',
      ],
    ],
    [
      'more than one of several',
      a({ ...object({ b: string, c: string }), oneOf: [{ required: ['b'] }, { required: ['c'] }] }),
      { a: { b: '', c: '' } },
      ['<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'none of any, with the errors of the closest',
      a({
        ...object({ b: integer, c: integer }),
        anyOf: [{ required: ['d'] }, { properties: { b: { minimum: 1 }, c: { minimum: 1 } }, required: ['b'] }],
      }),
      { a: { b: 1, c: 0 } },
      [
        '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
        'spec.a.c: Invalid value: 0: spec.a.c in body should be greater than or equal to 1',
      ],
    ],
    [
      'not all of all',
      a({ ...string, allOf: [{ minLength: 1 }, { pattern: '^x' }] }),
      { a: 'y' },
      [
        'spec.a: Invalid value: "y": spec.a in body should match \'^x\'',
        '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf)',
      ],
    ],
    [
      'what must not be',
      a({ ...string, not: { enum: ['x'] } }),
      { a: 'x' },
      ['<nil>: Invalid value: "": "spec.a" must not validate the schema (not)'],
    ],
    [
      'an embedded resource without its kind, with wrong labels',
      a({ ...object({ x: string }), 'x-kubernetes-embedded-resource': true }),
      { a: { apiVersion: 'v1', metadata: { labels: { '-': 'x' } } } },
      [
        'spec.a.kind: Required value',
        "spec.a.metadata.labels: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'metadata of an embedded resource that its definition does not allow',
      a({
        ...object({
          metadata: object({ name: { ...string, maxLength: 2 }, labels: object({}, { required: ['app'] }) }),
        }),
        'x-kubernetes-embedded-resource': true,
      }),
      { a: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'abc', labels: {} } } },
      ['spec.a.metadata.name: Too long: may not be more than 2 bytes', 'spec.a.metadata.labels.app: Required value'],
    ],
  ])('refuses %s', (_, schema, spec, expected) => {
    expect(errorsOf(schema, spec)).toEqual(expected)
  })

  it.each<[string, JsonSchemaProps, unknown]>([
    ['either form of int-or-string', object({ a: intOrString, b: intOrString }), { a: 'x', b: 1 }],
    ['an integer as a number', a({ type: 'number' }), { a: 1 }],
    ['a null that is allowed', a({ ...string, nullable: true }), { a: null }],
    ['a required text that is empty', object({ a: string }, { required: ['a'] }), { a: '' }],
    ['formats nobody knows', a({ ...string, format: 'fancy' }), { a: 'x' }],
    ['an exact multiple of a fraction', a({ type: 'number', multipleOf: 0.1 }), { a: 0.3 }],
    ['one of any', a({ ...intOrString, anyOf: [{ type: 'integer' }, { type: 'string' }] }), { a: 'x' }],
    ['an enumeration of numbers', a({ ...integer, enum: [1, 2] }), { a: 2 }],
  ])('accepts %s', (_, schema, spec) => {
    expect(errorsOf(schema, spec)).toEqual([])
  })

  it.each<[string, JsonSchemaProps, unknown, readonly string[]]>([
    [
      'an object, what it lacks after what is wrong within it',
      object({ a: { type: 'integer', minimum: 1 }, b: string }, { required: ['b'], maxProperties: 0 }),
      { a: 0 },
      ['spec: Too many: 1', 'spec.a: Invalid value: 0: spec.a in body should be', 'spec.b: Required value'],
    ],
    [
      'a list, its length and whether it is allowed after its elements',
      a(list({ type: 'integer', minimum: 1 }, { minItems: 2, enum: [[2]] })),
      { a: [0] },
      [
        'spec.a[0]: Invalid value: 0: spec.a[0] in body should be',
        'spec.a: Invalid value: 1: spec.a in body should have',
        'spec.a: Unsupported value: [0]',
      ],
    ],
    [
      'an alternative likewise',
      object(
        { a: integer, b: string },
        { allOf: [{ required: ['b'], maxProperties: 0, properties: { a: { minimum: 1 } } }] },
      ),
      { a: 0 },
      [
        'spec: Too many: 1',
        'spec.a: Invalid value: 0: spec.a in body should be',
        'spec.b: Required value',
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      'a value, its type before all else',
      a({ type: 'string', maxLength: 1, enum: ['x'] }),
      { a: 'yy' },
      ['spec.a: Too long', 'spec.a: Unsupported value: "yy"'],
    ],
  ])('tells in the order of kube-openapi what is wrong with %s', (_, schema, spec, expected) => {
    expect(errorsOf(schema, spec)).toEqual(expected.map((each) => expect.stringContaining(each)))
  })

  it('is read once, for whoever checks it and whoever serves it', () => {
    const props = object({ spec: object({ a: string }) })
    const names = { group: 'a.b', version: 'v1', kind: 'C' }
    const { schema } = readCustomSchema(props, FieldPath.of('checked'), names)
    expect(readCustomSchema(props, FieldPath.root, names).schema).toBe(schema)
    expect(readCustomSchema(props, FieldPath.root, { ...names, kind: 'D' }).schema.name).toBe('b.a.v1.D')
  })

  it('is told anew what is wrong with it, by where it stands', () => {
    const props = object({ spec: { ...string, pattern: '(' } })
    const names = { group: 'a.b', version: 'v1', kind: 'C' }
    const fieldsOf = (path: string) =>
      readCustomSchema(props, FieldPath.of(path), names).errors.map(({ field }) => field)
    expect([fieldsOf('x'), fieldsOf('y')]).toEqual([['x.properties[spec].pattern'], ['y.properties[spec].pattern']])
  })

  it('restricts names where the schema does', () => {
    const props = object({ metadata: object({ name: { ...string, maxLength: 2 } }) })
    const { schema, errors } = readCustomSchema(props, FieldPath.of('s'), { group: 'a.b', version: 'v1', kind: 'C' })
    const value = { apiVersion: 'a.b/v1', kind: 'C', metadata: { name: 'abc' } }
    expect(errors).toEqual([])
    expect(compile(schema).validate(value).map(describeFieldError)).toEqual([
      'metadata.name: Too long: may not be more than 2 bytes',
    ])
  })

  describe('of updates', () => {
    const short = { ...string, maxLength: 1 }
    const named = list(
      { ...object({ name: string, value: short }), required: ['name'] },
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    )
    it.each<[string, JsonSchemaProps, unknown, unknown, readonly string[]]>([
      [
        'leaves alone what has not changed',
        object({ a: short, b: string }),
        { a: 'xx', b: '1' },
        { a: 'xx', b: '2' },
        [],
      ],
      [
        'checks what has',
        object({ a: short, b: string }),
        { a: 'xx', b: '1' },
        { a: 'yy', b: '1' },
        ['spec.a: Too long: may not be more than 1 byte'],
      ],
      [
        'finds elements of map lists by their keys',
        object({ l: named }),
        { l: [{ name: 'a', value: 'xx' }, { name: 'b' }] },
        { l: [{ name: 'b' }, { name: 'a', value: 'xx' }] },
        [],
      ],
      [
        'does not find elements of other lists',
        object({ l: list(short) }),
        { l: ['xx'] },
        { l: ['xx', 'y'] },
        ['spec.l[0]: Too long: may not be more than 1 byte'],
      ],
      [
        'leaves lists alone that are as they were',
        object({ l: list(short), b: string }),
        { l: ['xx'], b: '1' },
        { l: ['xx'], b: '2' },
        [],
      ],
      [
        'leaves alternatives alone that were wrong already',
        object({ o: { ...object({ a: string }), oneOf: [{ required: ['a'] }] }, b: string }),
        { o: {}, b: '1' },
        { o: {}, b: '2' },
        [],
      ],
      [
        'allows duplicates where there were some',
        object({ l: list(string, { 'x-kubernetes-list-type': 'set' }) }),
        { l: ['a', 'a'] },
        { l: ['a', 'a', 'b'] },
        [],
      ],
    ])('%s', (_, schema, old, spec, expected) => {
      expect(errorsOf(schema, spec, old)).toEqual(expected)
    })

    it('checks the version and kind of the object itself even where they are as they were', () => {
      const is = (text: string): JsonSchemaProps => ({ ...string, pattern: `^${text}$` })
      const embedded = { ...object({ apiVersion: is('b/v1') }), 'x-kubernetes-embedded-resource': true } as const
      const props = object({ apiVersion: is('a.b/v2'), kind: is('D'), spec: object({ a: string, b: embedded }) })
      const { schema, errors } = readCustomSchema(props, FieldPath.of('s'), { group: 'a.b', version: 'v1', kind: 'C' })
      expect(errors).toEqual([])
      const objectWith = (a: string) => ({
        apiVersion: 'a.b/v1',
        kind: 'C',
        metadata: { name: 'c' },
        spec: { a, b: { apiVersion: 'b/v2', kind: 'E' } },
      })
      const check = (a: string) =>
        compile(schema)
          .validate(objectWith(a), { old: objectWith('1') })
          .map(describeFieldError)
      expect(check('2')).toEqual([
        `apiVersion: Invalid value: "a.b/v1": apiVersion in body should match '^a.b/v2$'`,
        `kind: Invalid value: "C": kind in body should match '^D$'`,
      ])
    })

    it('checks the object as a whole even where nothing changes', () => {
      const props = { ...object({ spec: object({ a: short }) }), required: ['spec', 'more'] }
      const { schema, errors } = readCustomSchema(props, FieldPath.of('s'), { group: 'a.b', version: 'v1', kind: 'C' })
      expect(errors).toEqual([])
      const { validate: check } = compile(schema) as CompiledSchema<unknown>
      const old = whole({ a: 'xx' })
      for (const value of [old, structuredClone(old)]) {
        expect(check(value, { old }).map(describeFieldError)).toEqual(['more: Required value'])
      }
    })
  })
})

const isObjectInPlaceOfAnother = /^\S+: Invalid value: "object": \S+ in body must be of type (?!object)/

describe('for any schema and value', () => {
  const scalar: fc.Arbitrary<JsonSchemaProps> = fc.constantFrom<JsonSchemaProps>(
    string,
    integer,
    intOrString,
    preserve,
    { ...string, default: 'x' },
    { ...integer, nullable: true },
    { type: 'boolean', default: false, nullable: true },
  )
  const { node } = fc.letrec<{ node: JsonSchemaProps }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node')).map((properties) => object(properties)),
      tie('node').map((items) => list(items)),
      tie('node').map((values) => mapOf(values)),
    ),
  }))
  const value = fc.object({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    withNullPrototype: false,
    values: [fc.integer(), fc.string(), fc.boolean(), fc.constant(null)],
  })

  it('pruning and defaulting twice is doing it once, and never changes what it gets', () => {
    fc.assert(
      fc.property(node, value, (schema, spec) => {
        const { decode, applyDefaults } = compiled(schema)
        const frozen = JSON.stringify(spec)
        const once = decode(whole(spec)).value
        expect(decode(once).value).toBe(once)
        const complete = applyDefaults(once)
        expect(applyDefaults(complete)).toBe(complete)
        expect(decode(complete).value).toBe(complete)
        expect(JSON.stringify(spec)).toBe(frozen)
      }),
    )
  })

  it('an update that changes nothing is refused for objects alone in the place of something else', () => {
    fc.assert(
      fc.property(node, value, (schema, spec) => {
        const told = errorsOf(schema, structuredClone(spec), spec)
        expect(told.filter((each) => !isObjectInPlaceOfAnother.test(each))).toEqual([])
        // The same, however it is known that nothing changes.
        expect(errorsOf(schema, spec, spec)).toEqual(told)
      }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { readCustomSchema } from './read-custom-schema.ts'

const names = { group: 'stable.example.com', version: 'v1', kind: 'CronTab' }
const string: JsonSchemaProps = { type: 'string' }
const spec = (schema: JsonSchemaProps): JsonSchemaProps => ({ type: 'object', properties: { spec: schema } })

function errorsOf(props: JsonSchemaProps): readonly string[] {
  return readCustomSchema(props, FieldPath.of('s'), names).errors.map(describeFieldError)
}

it('accepts schemas that state every type once', () => {
  const schemas: readonly JsonSchemaProps[] = [
    { type: 'object' },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    spec({ 'x-kubernetes-preserve-unknown-fields': true }),
    spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], minimum: 1 }),
    spec({
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }],
    }),
    // Only alternatives of the whole are compared with what stands outside them.
    spec({ type: 'object', not: { properties: { b: { minimum: 1 } } } }),
    spec({ type: 'object', properties: { a: string, b: string }, oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } },
    },
    spec({ type: 'object', additionalProperties: true }),
    spec({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: string } },
    }),
  ]
  expect(schemas.flatMap(errorsOf)).toEqual([])
})

const at = 's.properties[spec]'

it.each<[string, JsonSchemaProps, readonly string[]]>([
  ['no type at the root', {}, ['s.type: Required value: must not be empty at the root']],
  ['another type at the root', string, ['s.type: Invalid value: "string": must be object at the root']],
  ['no type of a field', spec({}), [`${at}.type: Required value: must not be empty for specified object fields`]],
  [
    'no type of items',
    spec({ type: 'array', items: {} }),
    [`${at}.items.type: Required value: must not be empty for specified array items`],
  ],
  ['no items', spec({ type: 'array' }), [`${at}.items: Required value: must be specified`]],
  [
    'unknown and null types',
    { type: 'object', properties: { a: { type: 'integr' }, b: { type: 'null' } } },
    [
      's.properties[a].type: Unsupported value: "integr": supported values: "array", "boolean", "integer", "number", "object", "string"',
      's.properties[b].type: Forbidden: type cannot be set to null, use nullable as an alternative',
      's.properties[b].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [
    'structure in an alternative',
    spec({ ...string, anyOf: [{ type: 'string', description: 'x', default: 'a', nullable: true }] }),
    [
      `${at}.anyOf[0].default: Forbidden: must be undefined to be structural`,
      `${at}.anyOf[0].description: Forbidden: must be empty to be structural`,
      `${at}.anyOf[0].nullable: Forbidden: must be false to be structural`,
      `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
  ],
  [
    'a field that only an alternative of the whole has',
    { ...spec(string), not: { properties: { other: { minimum: 1 } } } },
    ['s.properties[other]: Required value: because it is defined in s.not.properties[other]'],
  ],
  [
    'more than names in metadata',
    { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
    [
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    'apiVersion that is no string',
    { type: 'object', properties: { apiVersion: { type: 'integer' } } },
    ['s.properties[apiVersion].type: Invalid value: "integer": must be string'],
  ],
  [
    'an embedded resource without fields',
    spec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    [
      `${at}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
    ],
  ],
  [
    'int-or-string that preserves',
    spec({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
    [
      `${at}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  ],
  [
    'what RE2 has not',
    spec({ type: 'string', pattern: '(?=a)b' }),
    [
      `${at}.pattern: Invalid value: "(?=a)b": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
    ],
  ],
  [
    'keywords that are not supported',
    spec({ type: 'string', $ref: '#/x', uniqueItems: true, definitions: {}, id: 'x' }),
    [
      `${at}.id: Forbidden: id is not supported`,
      `${at}.$ref: Forbidden: $ref is not supported`,
      `${at}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
  [
    'fields and any others at once',
    spec({ type: 'object', properties: { a: string }, additionalProperties: string }),
    [`${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  ],
  [
    'defaults of what every object has',
    { type: 'object', properties: { kind: { type: 'string', default: 'x' } } },
    ['s.properties[kind].default: Forbidden: must not be set in top-level kind'],
  ],
  [
    'null at the root',
    { type: 'object', nullable: true },
    ['s.nullable: Forbidden: nullable cannot be true at the root'],
  ],
  [
    'a map list whose key may be absent',
    spec({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'port'],
      items: { type: 'object', nullable: true, properties: { name: { type: 'string', nullable: true } } },
    }),
    [
      `${at}.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map`,
      `${at}.items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      `${at}.items.properties[name].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
      `${at}.x-kubernetes-list-map-keys: Invalid value: ["name","port"]: entries must all be names of item properties`,
    ],
  ],
  [
    'a set of lists or maps that are not atomic',
    spec({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }),
    [
      `${at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  ],
  [
    'a list type on what is no list',
    spec({ type: 'string', 'x-kubernetes-list-type': 'bag' }),
    [
      `${at}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
      `${at}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`,
    ],
  ],
])('refuses %s', (_, props, expected) => {
  expect([...errorsOf(props)].sort()).toEqual([...expected].sort())
})

it.each<[string, JsonSchemaProps, readonly string[]]>([
  [
    'of another type',
    spec({ type: 'integer', default: 'x' }),
    [`${at}.default: Invalid value: "string":  in body must be of type integer: "string"`],
  ],
  [
    'that do not fit',
    spec({
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string', maxLength: 1, default: 'xx' } } },
    }),
    [`${at}.properties[a].items.default: Too long: may not be more than 1 byte`],
  ],
  [
    'with unknown fields',
    spec({ type: 'object', properties: { a: string }, default: { b: 1, a: 'x' } }),
    [`${at}.default: Invalid value: {"a":"x","b":1}: must not have unknown fields`],
  ],
  [
    'of maps, whose keys stand behind a dot',
    spec({ type: 'object', additionalProperties: { type: 'integer', maximum: 1 }, default: { k: 3 } }),
    [`${at}.default.k: Invalid value: 3: .k in body should be less than or equal to 1`],
  ],
])('refuses defaults %s', (_, props, expected) => {
  expect(errorsOf(props)).toEqual(expected)
})

it('accepts defaults that are as the schema describes', () => {
  const schema = spec({
    type: 'object',
    properties: { a: { ...string, nullable: true, default: 'x' } },
    default: { a: null },
  })
  expect(errorsOf(schema)).toEqual([])
})

it('accepts any default of an int-or-string, as the apiextensions server 1.36.4 does', () => {
  const port: JsonSchemaProps = { 'x-kubernetes-int-or-string': true, default: 1.5 }
  expect(errorsOf(spec(port))).toEqual([])
  expect(errorsOf(spec({ type: 'array', items: port, default: [[], 'x'] }))).toEqual([])
  expect(errorsOf(spec({ type: 'object', properties: { port }, default: { port: {} } }))).toEqual([])
})

it("does not look at defaults of maps' values, as the apiextensions server 1.36.4 does not", () => {
  const values: JsonSchemaProps = { type: 'integer', minimum: 1, default: 0 }
  expect(errorsOf(spec({ type: 'object', additionalProperties: values }))).toEqual([])
})

describe('defaults in objects of the API, as the apiextensions server 1.36.4 answers', () => {
  const resource = (more: JsonSchemaProps): JsonSchemaProps =>
    spec({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      ...more,
    })
  const pod = { apiVersion: 'v1', kind: 'Pod' }
  const label =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
  it.each<[JsonSchemaProps, readonly string[]]>([
    [{ default: pod }, []],
    [{ default: {} }, [`${at}.default.apiVersion: Required value`, `${at}.default.kind: Required value`]],
    [
      { default: { ...pod, apiVersion: 'a/b/c' } },
      [`${at}.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`],
    ],
    [{ default: { ...pod, metadata: { unheard: 1 } } }, []],
    [
      { default: { ...pod, metadata: { labels: { a: 1 } } } },
      [
        `${at}.default.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`,
      ],
    ],
    [
      { properties: { kind: { type: 'string', default: '%' } } },
      [
        `${at}.properties[kind].default: Invalid value: "%": must result in valid metadata: kind: Invalid value: "%": may have mixed case, but should otherwise match: ${label}`,
      ],
    ],
    [{ properties: { metadata: { type: 'object', default: { name: 'a' } } } }, []],
    // What is no text is told by itself.
    [{ default: { apiVersion: 42 } }, [`${at}.default.apiVersion: Invalid value: 42: must be a string`]],
    [{ default: { apiVersion: 'v1', kind: {} } }, [`${at}.default.kind: Invalid value: {}: must be a string`]],
    [
      { properties: { apiVersion: { type: 'string', default: 42 } } },
      [
        `${at}.properties[apiVersion].default: Invalid value: 42: must result in valid metadata: apiVersion: Invalid value: 42: must be a string`,
      ],
    ],
  ])('%j', (more, expected) => {
    expect(errorsOf(resource(more))).toEqual(expected)
  })
})

it.each<[JsonSchemaProps, readonly string[]]>([
  [
    { type: 'array', items: string, default: [1] },
    [`${at}.default.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"`],
  ],
  [
    { ...string, anyOf: [{ enum: ['a'] }, { enum: ['b'] }], default: 'c' },
    [
      `${at}.default: Invalid value: "": "" must validate at least one schema (anyOf)`,
      `${at}.default: Unsupported value: "c": supported values: "a"`,
    ],
  ],
  [
    {
      type: 'integer',
      default: 1,
      'x-kubernetes-validations': [{ rule: 'oldSelf.orValue(0) == 0', optionalOldSelf: true }],
    },
    [`${at}.default: Invalid value: 1: failed rule: oldSelf.orValue(0) == 0`],
  ],
])('names what is wrong with a default by itself, as the apiextensions server 1.36.4 does: %j', (schema, expected) => {
  expect(errorsOf(spec(schema))).toEqual(expected)
})

it.each<[string, JsonSchemaProps, readonly string[]]>([
  [
    'what is no schema that can be read, where nothing else is wrong',
    spec({ type: 'string', $schema: 'x' }),
    [`s: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
  ],
  [
    'items of several schemas',
    spec({ type: 'array', items: [string] }),
    [`${at}.items: Forbidden: items must be a schema object and not an array`],
  ],
  [
    'rules that say something wrong beside their expressions',
    spec({
      ...string,
      'x-kubernetes-validations': [
        { rule: 'true', message: ' ' },
        { rule: 'true\n', messageExpression: ' ' },
        { rule: 'true', reason: 'Other' as 'FieldValueInvalid', fieldPath: 'a' },
      ],
    }),
    [
      `${at}.x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified`,
      `${at}.x-kubernetes-validations[1].messageExpression: Required value: messageExpression must be non-empty if specified`,
      `${at}.x-kubernetes-validations[2].reason: Unsupported value: "Other": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      `${at}.x-kubernetes-validations[2].fieldPath: Invalid value: "a": must be a valid path`,
    ],
  ],
  [
    'a rule beside a part in which something else is wrong, and none around it',
    {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'nothing' }],
      properties: {
        a: { ...string, 'x-kubernetes-validations': [{ rule: '1' }] },
        b: { ...string, uniqueItems: true },
      },
    },
    [
      's.properties[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      's.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
    ],
  ],
])('refuses %s, as the apiextensions server 1.36.4 does', (_, props, expected) => {
  expect(errorsOf(props)).toEqual(expected)
})

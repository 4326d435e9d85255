import { expect, it } from 'vitest'
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
      `${at}.definitions: Forbidden: definitions is not supported`,
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
      `${at}.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  ],
  [
    'a list type on what is no list',
    spec({ type: 'string', 'x-kubernetes-list-type': 'bag' }),
    [
      `${at}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
      `${at}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "map", "set"`,
    ],
  ],
])('refuses %s', (_, props, expected) => {
  expect([...errorsOf(props)].sort()).toEqual([...expected].sort())
})

it.each<[string, JsonSchemaProps, readonly string[]]>([
  [
    'of another type',
    spec({ type: 'integer', default: 'x' }),
    [`${at}.default: Invalid value: "string": ${at}.default in body must be of type integer: "string"`],
  ],
  [
    'that do not fit',
    spec({
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string', maxLength: 1, default: 'xx' } } },
    }),
    [`${at}.properties[a].items.default: Too long: may not be more than 1 bytes`],
  ],
  [
    'with unknown fields',
    spec({ type: 'object', properties: { a: string }, default: { a: 'x', b: 1 } }),
    [`${at}.default: Invalid value: {"a":"x","b":1}: must not have unknown fields`],
  ],
  [
    "of maps' values",
    spec({ type: 'object', additionalProperties: { type: 'integer', minimum: 1, default: 0 } }),
    [
      `${at}.additionalProperties.default: Invalid value: 0: ${at}.additionalProperties.default in body should be greater than or equal to 1`,
    ],
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

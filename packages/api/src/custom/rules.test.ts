/** Rules of custom resources: what they may ask, what is refused when they are written, and what when they do not hold. */
import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { compile } from '../schema/compile.ts'
import type { CelRule } from '../schema/schema.ts'
import { escapeName } from './cel-types.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { readCustomSchema } from './read-custom-schema.ts'

const names = { group: 'stable.example.com', version: 'v1', kind: 'CronTab' }
const integer: JsonSchemaProps = { type: 'integer' }
const short: JsonSchemaProps = { type: 'string', maxLength: 10 }
const withRules = (schema: JsonSchemaProps, ...rules: readonly (string | CelRule)[]): JsonSchemaProps => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const object = (
  properties: Readonly<Record<string, JsonSchemaProps>>,
  more: JsonSchemaProps = {},
): JsonSchemaProps => ({
  type: 'object',
  properties,
  ...more,
})
const read = (spec: JsonSchemaProps) => readCustomSchema(object({ spec }), FieldPath.of('s'), names)
const whole = (spec: unknown) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name: 'a' },
  spec,
})

function errorsOf(schema: JsonSchemaProps, spec: unknown, old?: unknown): readonly string[] {
  const { schema: kind, errors } = read(schema)
  expect(errors.map(describeFieldError)).toEqual([])
  const options = old === undefined ? {} : { old: whole(old) }
  return compile(kind)
    .validate(whole(spec), options)
    .map((error) => `${error.isTolerated === true ? '(tolerated) ' : ''}${describeFieldError(error)}`)
}

const scale = object({ replicas: integer, max: integer, name: short })

// What kube-apiserver 1.36 makes of it: behind an optional nothing is known of the schema.
describe('a value from before that is optional', () => {
  const texts: JsonSchemaProps = { type: 'array', maxItems: 4, items: short }
  const named: JsonSchemaProps = {
    type: 'array',
    maxItems: 3,
    items: object({ k: short, v: { type: 'number' } }, { required: ['k'] }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }
  const schema = object({
    t: { type: 'string', format: 'date-time' },
    n: integer,
    if: integer,
    set: { ...texts, 'x-kubernetes-list-type': 'set' },
    l: named,
  })
  const before = { t: '2020-01-01T00:00:00Z', n: 1, if: 2, set: ['a', 'b'], l: [{ k: 'a', v: 1 }, { k: 'b' }] }
  const after = { ...before, set: ['b', 'a'], l: [{ k: 'b' }, { k: 'a', v: 1 }] }
  const failed = (rule: string): string => `spec: Invalid value: failed rule: ${rule}`
  const rejected = (problem: string, rule: string): string => `spec: Invalid value: "object": ${problem}: ${rule}`
  const noFunction = 'call arguments did not match a supported operator, function or macro signature for rule'

  it.each<[rule: string, errors: (rule: string) => readonly string[]]>([
    ['oldSelf.value().n == self.n && has(oldSelf.value().n)', () => []],
    ['type(oldSelf.value().t) == string', () => []],
    ['oldSelf.value().t == self.t', (rule) => [failed(rule)]],
    ['oldSelf.value().set == self.set', (rule) => [failed(rule)]],
    ['self.set == oldSelf.value().set', () => []],
    ['oldSelf.value().l == self.l', (rule) => [failed(rule)]],
    ['self.l == oldSelf.value().l', () => []],
    ['(oldSelf.value().l + self.l).size() == 4', () => []],
    ['type(oldSelf.value().l[0].v) == double', (rule) => [failed(rule)]],
    ['oldSelf.value().__if__ == 2', (rule) => [rejected('no such key: __if__ evaluating rule', rule)]],
    [
      'oldSelf.value().t.getFullYear() == 2020',
      (rule) => [rejected(`'no such overload: getFullYear(string)': ${noFunction}`, rule)],
    ],
  ])('%s', (rule, errors) => {
    expect(errorsOf(withRules(schema, { rule, optionalOldSelf: true }), after, before)).toEqual(errors(rule))
  })

  it.each<[string, string, boolean, string]>([
    ['no optional in messages', "oldSelf.value().n == 1 ? 'was 1' : 'was more'", true, 'no'],
    ['what it is in messages of other rules', "oldSelf.n == 1 ? 'was 1' : 'was more'", false, 'was 1'],
  ])('is %s', (_, messageExpression, optionalOldSelf, message) => {
    const rule = optionalOldSelf ? 'oldSelf.value().n > self.n' : 'oldSelf.n > self.n'
    const optional = optionalOldSelf ? { optionalOldSelf } : {}
    const rules = withRules(schema, { rule, message: 'no', messageExpression, ...optional })
    expect(errorsOf(rules, after, before)).toEqual([`spec: Invalid value: ${message}`])
  })

  it('is not there for messages where no rule asks for it', () => {
    const messageExpression = "oldSelf.n == 1 ? 'was 1' : 'was more'"
    const rules = withRules(schema, { rule: 'self.n > 1', message: 'no', messageExpression })
    expect(errorsOf(rules, { ...after, n: 0 }, before)).toEqual(['spec: Invalid value: no'])
  })

  it('is a time where it is one itself', () => {
    const t: JsonSchemaProps = withRules(
      { type: 'string', format: 'date-time' },
      { rule: 'oldSelf.value() == self', optionalOldSelf: true },
    )
    expect(errorsOf(object({ t }), { t: before.t }, { t: before.t })).toEqual([])
  })
})

describe('lists, maps and objects of a resource', () => {
  const list: JsonSchemaProps = { type: 'array', maxItems: 3, items: short }
  const schema = object({
    l: list,
    set: { ...list, 'x-kubernetes-list-type': 'set' },
    m: { type: 'object', maxProperties: 3, additionalProperties: integer },
    o: object({ x: short }),
    ol: { type: 'array', maxItems: 3, items: object({ x: short }) },
  })
  const value = { l: ['a'], set: ['a', 'b'], m: { a: 1 }, o: { x: 'q' }, ol: [{ x: 'q' }] }
  const noOverload = (rule: string): string =>
    `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`

  it.each([
    "dyn(self.l) == dyn('a')",
    "dyn(self.set) == dyn('a')",
    'dyn(self.m) == dyn(1)',
    "dyn(self.o) == dyn('x')",
    "dyn('a') in dyn(self.ol)",
  ])('cannot be compared with what is none: %s', (rule) => {
    expect(errorsOf(withRules(schema, rule), value)).toEqual([noOverload(rule)])
  })

  it.each([
    "!(dyn('a') == dyn(self.l))",
    "dyn(self.l) != dyn('a')",
    'dyn(self.l) != null',
    "!(dyn(self.l) in [dyn('a')])",
    "dyn(self.m) == dyn({'a': 1}) && dyn({'a': 1}) == dyn(self.m)",
    "dyn(self.o) == dyn({'x': 'q'}) && dyn({'x': 'q'}) == dyn(self.o)",
    "dyn(self.o) != dyn({'x': 'q', 'y': 'q'}) && dyn({'y': 'q'}) != dyn(self.o)",
    "self.set == ['b', 'a'] && ['b', 'a'] != self.set",
    "self.l + ['b'] == ['a', 'b'] && self.l != ['b']",
    'type(self.o) == map && type(self.m) == map',
  ])('are compared as they are: %s', (rule) => {
    expect(errorsOf(withRules(schema, rule), value)).toEqual([])
  })

  it('of two places are not of one type', () => {
    const two = object({
      a: schema,
      b: object({ m: { type: 'object', maxProperties: 3, additionalProperties: schema } }),
    })
    const rules = ['self.a == self.b', 'self.a.ol == self.b.m', 'self.a.o == self.a.o']
    const texts = read(withRules(two, ...rules)).errors.map(describeFieldError)
    const problems = texts.map((text) => /applied to '(.*)'/.exec(text)?.[1])
    expect(problems).toEqual(['(object.a, object.b)', '(list(object.a.ol.@idx), map(string, object.b.m.@elem))'])
  })
})

describe('a rule that does not hold', () => {
  it.each<[string, JsonSchemaProps, unknown, readonly string[]]>([
    [
      'is shown',
      withRules(scale, 'self.replicas <= self.max'),
      { replicas: 2, max: 1 },
      ['spec: Invalid value: failed rule: self.replicas <= self.max'],
    ],
    [
      'has its own message',
      withRules(scale, { rule: 'self.replicas <= self.max', message: 'too many' }),
      { replicas: 2, max: 1 },
      ['spec: Invalid value: too many'],
    ],
    [
      'makes its message',
      withRules(scale, {
        rule: 'self.replicas <= self.max',
        messageExpression: "'%d > %d'.format([self.replicas, self.max])",
      }),
      { replicas: 2, max: 1 },
      ['spec: Invalid value: 2 > 1'],
    ],
    [
      'falls back where the message cannot be made',
      withRules(scale, { rule: 'self.replicas <= 1', message: 'no', messageExpression: 'self.name' }),
      { replicas: 2 },
      ['spec: Invalid value: no'],
    ],
    [
      'says where and why',
      withRules(scale, {
        rule: 'has(self.name)',
        message: 'name it',
        reason: 'FieldValueRequired',
        fieldPath: '.name',
      }),
      {},
      ['spec.name: Required value: name it'],
    ],
    [
      'is told of a value by its type',
      object({ name: withRules(short, "self.startsWith('a')") }),
      { name: 'b' },
      ['spec.name: Invalid value: "b": failed rule: self.startsWith(\'a\')'],
    ],
    [
      'is told of elements and values',
      object({
        l: { type: 'array', maxItems: 3, items: withRules(integer, 'self > 0') },
        m: { type: 'object', maxProperties: 3, additionalProperties: withRules(integer, 'self > 0') },
      }),
      { l: [1, 0], m: { a: 0 } },
      ['spec.l[1]: Invalid value: 0: failed rule: self > 0', 'spec.m[a]: Invalid value: 0: failed rule: self > 0'],
    ],
    [
      'is not the only one',
      withRules(scale, 'self.replicas > 1', 'self.max > 1'),
      { replicas: 1, max: 1 },
      ['spec: Invalid value: failed rule: self.replicas > 1', 'spec: Invalid value: failed rule: self.max > 1'],
    ],
    [
      'names what is not there',
      withRules(scale, 'self.replicas > 1'),
      {},
      ['spec: Invalid value: "object": no such key: replicas evaluating rule: self.replicas > 1'],
    ],
    [
      'tells a text that is no duration by what it should become',
      withRules(short, "duration(self) > duration('1s')"),
      'x',
      [
        "spec: Invalid value: \"string\": type conversion error from 'string' to 'google.protobuf.Duration' evaluating rule: duration(self) > duration('1s')",
      ],
    ],
    [
      'is asked of a map of anything, of which it knows no key',
      withRules({ type: 'object', additionalProperties: true }, 'false'),
      { a: 1 },
      ['spec: Invalid value: failed rule: false'],
    ],
    [
      'is not asked where the object is not what it should be',
      withRules(scale, 'self.replicas > 1'),
      { replicas: 'x' },
      [
        'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    ],
    [
      'that runs too long ends all',
      withRules(
        object({ l: { type: 'array', maxItems: 500, items: integer } }),
        'self.l.all(a, self.l.all(b, a == b || a != b))',
        'false',
      ),
      { l: Array.from({ length: 500 }, (_, index) => index) },
      [
        'spec: Invalid value: "object": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(a, self.l.all(b, a == b || a != b))',
      ],
    ],
  ])('%s', (_, schema, spec, expected) => {
    expect(errorsOf(schema, spec)).toEqual(expected)
  })
})

it.each<[string, JsonSchemaProps, unknown]>([
  ['integers of 64 bits', withRules(scale, 'self.replicas + 1 == 4'), { replicas: 3 }],
  [
    'fields with names that are words of the language',
    withRules(
      object({ namespace: short, 'a-b': integer, x__y: integer }),
      "self.__namespace__ == 'n' && self.a__dash__b == 1 && self.x__underscores__y == 2",
    ),
    { namespace: 'n', 'a-b': 1, x__y: 2 },
  ],
  [
    'numbers or texts',
    withRules(
      object({ port: { 'x-kubernetes-int-or-string': true } }),
      "type(self.port) == int ? self.port > 0 : self.port.endsWith('%')",
    ),
    { port: '5%' },
  ],
  [
    'times',
    withRules(
      object({ from: { type: 'string', format: 'date-time' }, span: { type: 'string', format: 'duration' } }),
      "self.from + self.span == timestamp('2024-01-01T01:00:00Z')",
    ),
    { from: '2024-01-01T00:00:00Z', span: '1h' },
  ],
  [
    'nulls that may be there, as fields that are not',
    withRules(object({ a: { ...short, nullable: true } }), '!has(self.a)'),
    { a: null },
  ],
  [
    'sets in any order',
    withRules(
      object({ a: { type: 'array', maxItems: 5, items: short, 'x-kubernetes-list-type': 'set' } }),
      "self.a == ['y', 'x']",
    ),
    { a: ['x', 'y'] },
  ],
  [
    'names of the whole object',
    withRules(
      object({ t: object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true }) }),
      "self.t.metadata.name == 'a' && self.t.kind == 'Pod'",
    ),
    { t: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} } },
  ],
  ['optionals', withRules(scale, 'self.?replicas.orValue(1) == 1 && !self.?max.hasValue()'), {}],
  [
    'libraries',
    withRules(
      object({ q: short, ip: short, v: short }),
      "quantity(self.q).isLessThan(quantity('2Gi')) && cidr('10.0.0.0/8').containsIP(self.ip) && semver(self.v).major() == 1 && self.v.find('[0-9]+$') == '3' && [1, 2].sum() == 3 && url('https://a:1/b').getHost() == 'a:1'",
    ),
    { q: '1Gi', ip: '10.1.2.3', v: '1.2.3' },
  ],
])('rules can ask about %s', (_, schema, spec) => {
  expect(errorsOf(schema, spec)).toEqual([])
})

it('rules of the whole can ask about names', () => {
  const props = withRules(object({}), "self.metadata.name.startsWith('x')")
  const { schema } = readCustomSchema(props, FieldPath.of('s'), names)
  expect(compile(schema).validate(whole({})).map(describeFieldError)).toEqual([
    "Invalid value: failed rule: self.metadata.name.startsWith('x')",
  ])
})

describe('of updates', () => {
  const fixed = object({ a: withRules(short, 'self == oldSelf') })
  const named: JsonSchemaProps = {
    type: 'array',
    maxItems: 5,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: withRules(object({ name: short, v: integer }, { required: ['name'] }), 'self.v >= oldSelf.v'),
  }
  it.each<[string, JsonSchemaProps, unknown, unknown, readonly string[]]>([
    [
      'a rule about a change is asked',
      fixed,
      { a: 'x' },
      { a: 'y' },
      ['spec.a: Invalid value: "y": failed rule: self == oldSelf'],
    ],
    ['it is not where there was nothing before', fixed, {}, { a: 'y' }, []],
    [
      'what is not described is a change as well',
      object({
        a: withRules({ ...object({ b: short }), 'x-kubernetes-preserve-unknown-fields': true }, 'self == oldSelf'),
      }),
      { a: { b: 'x', other: [1] } },
      { a: { b: 'x', other: [2] } },
      ['spec.a: Invalid value: failed rule: self == oldSelf'],
    ],
    [
      'so is one of an object that holds whatever there is',
      withRules(object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }), 'self.a == oldSelf.a'),
      { a: { x: 1 } },
      { a: {} },
      ['spec: Invalid value: failed rule: self.a == oldSelf.a'],
    ],
    [
      'and a field that is null now',
      withRules(object({ a: { ...short, nullable: true } }), 'self == oldSelf'),
      {},
      { a: null },
      ['spec: Invalid value: failed rule: self == oldSelf'],
    ],
    [
      'but not the same as before',
      withRules(object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }), 'self == oldSelf'),
      { a: { x: [{ y: 1 }] } },
      { a: { x: [{ y: 1 }] } },
      [],
    ],
    [
      'it is where it says it can tell',
      object({ a: withRules(short, { rule: "oldSelf.hasValue() || self == 'x'", optionalOldSelf: true }) }),
      {},
      { a: 'y' },
      ['spec.a: Invalid value: "y": failed rule: oldSelf.hasValue() || self == \'x\''],
    ],
    [
      'elements are found by their keys',
      object({ l: named }),
      {
        l: [
          { name: 'a', v: 2 },
          { name: 'b', v: 5 },
        ],
      },
      {
        l: [
          { name: 'b', v: 4 },
          { name: 'a', v: 2 },
          { name: 'c', v: 1 },
        ],
      },
      ['spec.l[0]: Invalid value: failed rule: self.v >= oldSelf.v'],
    ],
    [
      'what was wrong before may stay',
      object({ a: withRules(short, "self == 'x'"), b: integer }),
      { a: 'y', b: 1 },
      { a: 'y', b: 2 },
      ['(tolerated) spec.a: Invalid value: "y": failed rule: self == \'x\''],
    ],
    [
      'what has changed may not be wrong',
      object({ a: withRules(short, "self == 'x'") }),
      { a: 'y' },
      { a: 'z' },
      ['spec.a: Invalid value: "z": failed rule: self == \'x\''],
    ],
  ])('%s', (_, schema, old, spec, expected) => {
    expect(errorsOf(schema, spec, old)).toEqual(expected)
  })
})

describe('a definition is refused', () => {
  const at = 's.properties[spec].x-kubernetes-validations[0]'
  // As the apiextensions server 1.36.4 shows a rule.
  const shown = (rule: string) =>
    `{"Rule":"${rule}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`
  it.each<[string, JsonSchemaProps, readonly string[]]>([
    [
      'for a field that is not there',
      withRules(scale, 'self.foo > 1'),
      [
        `${at}.rule: Invalid value: ${shown('self.foo \\u003e 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'foo'\n | self.foo > 1\n | ....^`,
      ],
    ],
    [
      'for types that do not fit',
      withRules(scale, "self.replicas == 'x'"),
      [
        `${at}.rule: Invalid value: ${shown("self.replicas == 'x'")}: compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(int, string)'\n | self.replicas == 'x'\n | ..............^`,
      ],
    ],
    [
      'for a text that would be null',
      withRules(object({ a: { ...short, nullable: true } }), 'self.a == null'),
      [
        `${at}.rule: Invalid value: ${shown('self.a == null')}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(string, null)'\n | self.a == null\n | .......^`,
      ],
    ],
    [
      'for a list of texts and numbers',
      withRules(scale, "[1, 'a'].size() > 0"),
      [
        `${at}.rule: Invalid value: ${shown("[1, 'a'].size() \\u003e 0")}: compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a'].size() > 0\n | ....^`,
      ],
    ],
    [
      'for a list of texts and of what may be anything, but for one that is to be formatted',
      withRules(scale, "['a', dyn(1)].size() > 0", "'%s-%d'.format(['a', 1]) == 'a-1'"),
      [
        `${at}.rule: Invalid value: ${shown("['a', dyn(1)].size() \\u003e 0")}: compilation failed: ERROR: <input>:1:10: expected type 'string' but found 'dyn'\n | ['a', dyn(1)].size() > 0\n | .........^`,
      ],
    ],
    [
      'for a rule that is no question',
      withRules(scale, 'self.replicas'),
      [`${at}.rule: Invalid value: ${shown('self.replicas')}: cel expression must evaluate to a bool`],
    ],
    [
      'for what constants cannot be',
      withRules(scale, "self.replicas == int('x')", {
        rule: 'true',
        messageExpression: "string(int('x'))",
      }),
      [
        `${at}.rule: Invalid value: ${shown("self.replicas == int('x')")}: program instantiation failed: type conversion error from 'string' to 'int'`,
        expect.stringContaining(
          ": messageExpression instantiation failed: type conversion error from 'string' to 'int'",
        ),
      ],
    ],
    ['for an empty rule', withRules(scale, ' '), [`${at}.rule: Required value: rule is not specified`]],
    [
      'for a name nobody knows',
      withRules(scale, 'other'),
      [
        `${at}.rule: Invalid value: ${shown('other')}: compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^`,
      ],
    ],
    [
      'for a message of several lines',
      withRules(scale, { rule: 'true', message: 'a\nb' }),
      [`${at}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      'for a path that is not there',
      withRules(scale, { rule: 'true', fieldPath: '.foo' }),
      [`${at}.fieldPath: Invalid value: ".foo": must be a valid path`],
    ],
    [
      'for a list of which nothing is known',
      withRules({ type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } }, 'true'),
      [
        's.properties[spec].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      ],
    ],
    [
      'for a change where elements cannot be found again',
      object({ l: { type: 'array', maxItems: 3, items: withRules(short, 'self == oldSelf') } }),
      [
        's.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[spec].properties[l]',
      ],
    ],
    [
      'for a cost without bounds',
      withRules(
        object({ l: { type: 'array', items: { type: 'string' } } }),
        'self.l.all(a, self.l.all(b, a.contains(b)))',
      ),
      [
        `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
        `${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        's: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      ],
    ],
  ])('%s', (_, schema, expected) => {
    expect(read(schema).errors.map(describeFieldError)).toEqual(expected)
  })
})

it('the cost of a rule counts as often as its place may be in an object', () => {
  const items = withRules({ type: 'string', maxLength: 1000 }, "self.matches('^[a-z]+$')")
  const forbidden = (more: JsonSchemaProps): readonly string[] =>
    read(object({ l: { type: 'array', items, ...more } })).errors.map(({ type, field }) => `${type} ${field}`)
  const at = 's.properties[spec].properties[l].items.x-kubernetes-validations[0].rule'
  expect(forbidden({ maxItems: 100 })).toEqual([])
  expect(forbidden({ maxItems: 50_000 })).toEqual([`FieldValueForbidden ${at}`])
  expect(forbidden({})).toEqual([`FieldValueForbidden ${at}`, `FieldValueForbidden ${at}`, 'FieldValueForbidden s'])
})

describe('costs are counted as upstream counts them, so that its users’ definitions are accepted', () => {
  const errorsOf = (schema: JsonSchemaProps): readonly string[] => read(schema).errors.map(describeFieldError)
  const list = (items: JsonSchemaProps): JsonSchemaProps => ({ type: 'array', items })

  it('in lists without bounds a rule runs no more often than its objects fit into a request', () => {
    const signing = withRules(
      object({ id: { type: 'string' }, role: { type: 'string' } }),
      '!has(self.id) || has(self.role)',
    )
    const receivers = list(object({ targets: list(object({ signing })) }))
    expect(errorsOf(object({ receivers }))).toEqual([])
  })

  it('keys of maps cost nothing', () => {
    const labels: JsonSchemaProps = {
      type: 'object',
      maxProperties: 16,
      additionalProperties: { type: 'string', maxLength: 4096 },
    }
    const pattern = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(/)?)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$'
    expect(errorsOf(withRules(labels, `self.all(key, key.matches('${pattern}'))`))).toEqual([])
    expect(errorsOf(withRules(labels, "self.all(key, key.split('/')[0].size() < 253)"))).toEqual([])
  })

  it('what is taken from a part of a text is as long as the value of the rule', () => {
    const rule = "self.split('/')[0].matches('^[a-z]+$')"
    expect(errorsOf(withRules({ type: 'string', maxLength: 253 }, rule))).toEqual([])
  })
})

it('a field is asked about by its name where that is a reserved word, and by its escaped name', () => {
  const named = object({ namespace: { type: 'string' } })
  for (const name of ['namespace', '__namespace__']) {
    const ruled = withRules(named, `!has(self.${name}) || self.${name} == 'a'`)
    expect([errorsOf(ruled, {}), errorsOf(ruled, { namespace: 'a' })]).toEqual([[], []])
    expect(errorsOf(ruled, { namespace: 'b' })).toHaveLength(1)
  }
})

it('a default that breaks a rule is refused', () => {
  const schema = object({ a: withRules({ ...short, default: 'y' }, "self == 'x'") })
  expect(read(schema).errors.map(describeFieldError)).toEqual([
    's.properties[spec].properties[a].default: Invalid value: "y": failed rule: self == \'x\'',
  ])
})

it.each([
  ['namespace', '__namespace__'],
  ['foo__bar', 'foo__underscores__bar'],
  ['foo.bar', 'foo__dot__bar'],
  ['foo-bar', 'foo__dash__bar'],
  ['foo/bar', 'foo__slash__bar'],
  ['1a', undefined],
  ['$x', undefined],
])('the field %s is called %s', (name, escaped) => {
  expect(escapeName(name)).toBe(escaped)
})

describe('a definition that was stored although a rule of it', () => {
  const problemsOf = (schema: JsonSchemaProps, spec: unknown, old?: unknown): readonly string[] => {
    const { schema: kind, errors } = read(schema)
    expect(errors).toHaveLength(1)
    const options = old === undefined ? {} : { old: whole(old) }
    return compile(kind).validate(whole(spec), options).map(describeFieldError)
  }
  const unreadable =
    'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field \'wait\'\n | self.wait > 1\n | ....^'

  it('cannot be read refuses whatever it is about, changed or not', () => {
    const broken = withRules(scale, 'self.wait > 1', 'self.replicas <= self.max')
    expect(problemsOf(broken, { replicas: 2, max: 1 })).toEqual([
      unreadable,
      'spec: Invalid value: failed rule: self.replicas <= self.max',
    ])
    expect(problemsOf(broken, { replicas: 1, max: 1 }, { replicas: 1, max: 1 })).toEqual([unreadable])
    expect(problemsOf(broken, undefined)).toEqual([])
  })

  it('says neither yes nor no refuses all the same', () => {
    expect(problemsOf(withRules(scale, 'self.max'), { max: 1 })).toEqual([
      'spec: Invalid value: "object": rule compile error: cel expression must evaluate to a bool',
    ])
  })

  it('has a message that cannot be read asks nevertheless, without it', () => {
    const rule = { rule: 'self.replicas <= self.max', messageExpression: 'self.wait' }
    expect(problemsOf(withRules(scale, rule), { replicas: 2, max: 1 })).toEqual([
      'spec: Invalid value: failed rule: self.replicas <= self.max',
    ])
    expect(problemsOf(withRules(scale, rule), { replicas: 1, max: 1 })).toEqual([])
  })
})

describe('a root without a type', () => {
  const root: JsonSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true, properties: { a: integer } }
  const problems = (schema: JsonSchemaProps): readonly string[] =>
    readCustomSchema(schema, FieldPath.of('s'), names).errors.map(describeFieldError)

  it('may have no rules', () => {
    expect(problems(withRules(root, 'self.a > 0'))).toEqual([
      's.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ])
    expect(problems(withRules({ ...root, type: 'object' }, 'self.a > 0'))).toEqual([])
    expect(problems(withRules(root))).toEqual([])
  })
})

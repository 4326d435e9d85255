import { describe, expect, it } from 'vitest'
import { describeFieldError, forbiddenField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { type Widget, widget, widgetSpec } from '../testing/sample-kind.ts'
import { enumOf, int32, list, mapList, mapOf, object, optional, pointer, required, string } from './builders.ts'
import { compile } from './compile.ts'
import type { Schema } from './schema.ts'

type Spec = NonNullable<Widget['spec']>
const part = { name: 'a' }
const path = FieldPath.of('spec')
const errorsOf = (spec: Spec, old?: Spec): readonly string[] =>
  compile(widgetSpec).validate(spec, { path, old }).map(describeFieldError)

describe('validate', () => {
  it.each<[Spec, readonly string[]]>([
    [{ parts: [part] }, []],
    [{ parts: [] }, []],
    [{} as Spec, ['spec.parts: Required value']],
    [{ parts: [{ name: '' }] }, ['spec.parts[0].name: Required value']],
    [{ parts: [{ name: 'a.b' }] }, ['spec.parts[0].name: Invalid value: "a.b": must not contain dots']],
    [{ parts: [part], replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      { parts: [{ name: 'a', ports: [{ number: 0 }] }] },
      ['spec.parts[0].ports[0].number: Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      { parts: [{ name: 'a', ports: [{ number: 1, protocol: 'tcp' as 'TCP' }] }] },
      ['spec.parts[0].ports[0].protocol: Unsupported value: "tcp": supported values: "TCP", "UDP"'],
    ],
    [{ parts: [part, part] }, ['spec.parts[1].name: Duplicate value: "a"']],
    [
      {
        parts: [
          {
            name: 'a',
            ports: [
              { number: 1, protocol: 'TCP' },
              { number: 1, protocol: 'TCP' },
            ],
          },
        ],
      },
      ['spec.parts[0].ports[1]: Duplicate value: {"number":1,"protocol":"TCP"}'],
    ],
    [
      {
        parts: [
          {
            name: 'a',
            ports: [
              { number: 1, protocol: 'TCP' },
              { number: 1, protocol: 'UDP' },
            ],
          },
        ],
      },
      [],
    ],
    [{ parts: [part], tags: ['x', 'y', 'x'] }, ['spec.tags[2]: Duplicate value: "x"']],
    [{ parts: [part], steps: ['1', '2', '3', '4', '5', '6'] }, ['spec.steps: Too many: 6: must have at most 5 items']],
    [{ parts: [part], note: '12345678901' }, ['spec.note: Too long: may not be more than 10 bytes']],
    [
      { parts: [part], sources: [{ name: 'v' }] },
      ['spec.sources[0]: Invalid value: "": must specify one of: `secret`, `empty`'],
    ],
    [
      { parts: [part], sources: [{ name: 'v', secret: {}, empty: {} }] },
      ['spec.sources[0]: Invalid value: "{secret, empty}": must specify exactly one of: `secret`, `empty`'],
    ],
  ])('%j', (spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors)
  })

  const errorsUnder = (schema: Schema, value: unknown): readonly string[] =>
    compile(schema as Schema<unknown>)
      .validate(value)
      .map(describeFieldError)

  it.each<[string, Schema, unknown, readonly string[]]>([
    ['short', string({ minLength: 2 }), 'a', ['at: Invalid value: "a": at in body should be at least 2 chars long']],
    ['long enough', string({ minLength: 2 }), 'ab', []],
    ['counted by characters', string({ minLength: 2, maxLength: 2 }), '😀😀', []],
    ['short, though of two units', string({ minLength: 2 }), '😀', [expect.stringContaining('at least 2 chars long')]],
    ['long', string({ maxLength: 2 }), '😀😀😀', ['at: Too long: may not be more than 2 bytes']],
    ['of a format, or not set', string({ format: 'dns1123-label' }), '', []],
    ['found in it', string({ pattern: 'b' }), 'abc', []],
    ['not found in it', string({ pattern: '^b' }), 'abc', ['at: Invalid value: "abc": at in body should match \'^b\'']],
    ['read by characters', string({ pattern: '^.$' }), '😀', []],
    ['long enough', list(string(), { minItems: 2 }), ['a', 'b'], []],
    [
      'short',
      list(string(), { minItems: 2 }),
      ['a'],
      ['at: Invalid value: 1: at in body should have at least 2 items'],
    ],
  ])('measures texts and lists: %s', (_, schema, value, errors) => {
    expect(errorsUnder(object('O', '', { at: optional(schema, '') }), { at: value })).toEqual(errors)
  })

  it('looks only at the first of alternatives that is there, and at all other fields', () => {
    const size = optional(int32({ minimum: 1 }), '')
    const schema = object('A', '', { b: size, a: size, other: size }, { alternatives: ['a', 'b'] })
    const fields = (value: object) => errorsUnder(schema, value).map((each) => each.split(':')[0])
    expect(fields({ a: 0, b: 0, other: 0 })).toEqual(['a', 'other'])
    expect(fields({ a: 1, b: 0 })).toEqual([])
    expect(fields({ b: 0, other: 0 })).toEqual(['b', 'other'])
  })

  it('refuses an empty text that was chosen where it is none of the values', () => {
    const schema = object('E', '', {
      chosen: pointer(enumOf('X', 'Y'), ''),
      left: optional(enumOf('X', 'Y'), ''),
      empty: pointer(enumOf('X', ''), ''),
      text: pointer(string(), ''),
      count: pointer(int32({ minimum: 0 }), ''),
    })
    expect(errorsUnder(schema, { chosen: '', left: '', empty: '', text: '', count: 0 })).toEqual([
      'chosen: Unsupported value: "": supported values: "X", "Y"',
    ])
    expect(errorsUnder(schema, { chosen: 'Y', left: 'Z', empty: 'X' })).toEqual([
      'left: Unsupported value: "Z": supported values: "X", "Y"',
    ])
  })

  it('takes at most one of the fields of a union that need not be there', () => {
    const either = object(
      'U',
      '',
      { a: optional(int32(), ''), b: optional(int32(), '') },
      { unions: [{ fields: ['a', 'b'], arity: 'at-most-one' }] },
    )
    expect(errorsUnder(either, {})).toEqual([])
    expect(errorsUnder(either, { b: 1 })).toEqual([])
    expect(errorsUnder(either, { a: 1, b: null })).toEqual([])
    expect(errorsUnder(either, { a: 1, b: 1 })).toEqual([
      expect.stringContaining('Invalid value: "{a, b}": must specify at most one of: `a`, `b`'),
    ])
  })

  it('leaves a union to rules where these check it', () => {
    const fields = { a: optional(int32(), ''), b: optional(int32(), '') }
    const either = object('U', '', fields, { unions: [{ fields: ['a', 'b'], arity: 'exactly-one', checked: false }] })
    expect([errorsUnder(either, {}), errorsUnder(either, { a: 1, b: 1 })]).toEqual([[], []])
  })

  it('names every error, in the order of the fields', () => {
    expect(errorsOf({ replicas: -1, parts: [{ name: '' }], tags: ['a', 'a'] })).toEqual([
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.parts[0].name: Required value',
      'spec.tags[1]: Duplicate value: "a"',
    ])
  })

  it('lets immutable fields be set once, not changed or taken away', () => {
    expect(errorsOf({ parts: [part], selector: { a: '1' } }, { parts: [part] })).toEqual([])
    expect(errorsOf({ parts: [part], selector: { a: '1' } }, { parts: [part], selector: { a: '1' } })).toEqual([])
    expect(errorsOf({ parts: [part], selector: { a: '2' } }, { parts: [part], selector: { a: '1' } })).toEqual([
      'spec.selector: Invalid value: {"a":"2"}: field is immutable',
    ])
    expect(errorsOf({ parts: [part] }, { parts: [part], selector: { a: '1' } })).toEqual([
      'spec.selector: Invalid value: null: field is immutable',
    ])
  })

  it('finds the former element of a list by its keys, not by its place', () => {
    const element = object('E', '', { name: required(string(), ''), fixed: optional(int32(), '', { immutable: true }) })
    const schema = object('L', '', { list: required(mapList(element, ['name']), '') })
    const old = {
      list: [
        { name: 'a', fixed: 1 },
        { name: 'b', fixed: 2 },
      ],
    }
    const moved = {
      list: [
        { name: 'b', fixed: 2 },
        { name: 'a', fixed: 3 },
      ],
    }
    expect(compile(schema).validate(moved, { old }).map(describeFieldError)).toEqual([
      'list[1].fixed: Invalid value: 3: field is immutable',
    ])
  })

  it('calls rules with the value, its path and the former value, after the fields', () => {
    const grows = object(
      'G',
      '',
      { size: required(int32({ maximum: 5 }), '') },
      {
        rules: [
          (value, { path, old }) =>
            old !== undefined && value.size < old.size ? [forbiddenField(path.field('size'), 'may not shrink')] : [],
        ],
      },
    )
    const schema = object('O', '', { inner: optional(grows, '') })
    expect(
      compile(schema)
        .validate({ inner: { size: 6 } }, { old: { inner: { size: 7 } } })
        .map(describeFieldError),
    ).toEqual([
      'inner.size: Invalid value: 6: must be less than or equal to 5',
      'inner.size: Forbidden: may not shrink',
    ])
  })

  it('checks keys and values of maps', () => {
    const schema = object('M', '', {
      map: optional(mapOf(int32({ minimum: 1 }), { keys: string({ format: 'config-map-key' }) as never }), ''),
    })
    const errors = compile(schema)
      .validate({ map: { '..': 1, ok: 0 } })
      .map(describeFieldError)
    expect(errors).toEqual([
      'map: Invalid value: "..": must not be \'..\'',
      'map[ok]: Invalid value: 0: must be greater than or equal to 1',
    ])
  })

  it('accepts elements with the same keys where the list allows them', () => {
    const element = object('E', '', { name: required(string(), '') })
    const schema = object('L', '', { env: required(mapList(element, ['name'], { duplicates: 'allowed' }), '') })
    expect(compile(schema).validate({ env: [{ name: 'a' }, { name: 'a' }] })).toEqual([])
  })

  it('takes a discriminator to name the one member that may be there', () => {
    const schema = object(
      'D',
      '',
      {
        type: optional(enumOf('Fast', 'Slow'), ''),
        fast: optional(object('', '', {}), ''),
        slow: optional(object('', '', {}), ''),
      },
      { unions: [{ fields: ['fast', 'slow'], discriminator: 'type', arity: 'exactly-one' }] },
    )
    const messages = (value: object): readonly string[] =>
      compile(schema as Schema<object>)
        .validate(value)
        .map(describeFieldError)
    expect(messages({ type: 'Fast', fast: {} })).toEqual([])
    expect(messages({ type: 'Fast', slow: {} })).toEqual([
      'slow: Invalid value: "": may only be specified when `type` is "Slow"',
      'fast: Invalid value: "": must be specified when `type` is "Fast"',
    ])
    expect(messages({ type: 'Fast' })).toEqual(['fast: Invalid value: "": must be specified when `type` is "Fast"'])
  })

  it('takes a discriminator for no demand where none of the members need be there', () => {
    const schema = object(
      'D',
      '',
      { type: optional(string(), ''), fast: optional(object('', '', {}), '') },
      { unions: [{ fields: ['fast'], discriminator: 'type' }] },
    )
    expect(errorsUnder(schema, { type: 'Fast' })).toEqual([])
    expect(errorsUnder(schema, { fast: {} })).toEqual([
      'fast: Invalid value: "": may only be specified when `type` is "Fast"',
    ])
  })

  it('follows schemas that contain themselves', () => {
    interface Node {
      readonly size?: number | undefined
      readonly next?: Node | undefined
    }
    const node: Schema<Node> = object('N', '', {
      size: optional(int32({ minimum: 0 }), ''),
      next: optional({ type: 'lazy', resolve: () => node } as Schema<Node>, ''),
    })
    expect(
      compile(node)
        .validate({ next: { next: { size: -1 } } })
        .map((each) => each.field),
    ).toEqual(['next.next.size'])
  })

  it('is silent about a good object', () => {
    const object = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { parts: [part] } }
    expect(compile(widget).validate(object, { old: object })).toEqual([])
  })
})

describe('an update', () => {
  const part = object('', '', { size: optional(int32({ minimum: 1 }), '') })
  const whole = object('', '', { kept: optional(part, ''), changed: optional(part, '') })

  it('is not refused for what it leaves as it was', () => {
    const kept = { size: 0 }
    const old = { kept, changed: { size: 1 } }
    expect(compile(whole).validate({ kept, changed: { size: 2 } }, { old })).toEqual([])
    expect(compile(whole).validate({ kept: { size: -1 }, changed: { size: 2 } }, { old })).toHaveLength(1)
  })
})

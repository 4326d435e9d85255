import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../freeze.ts'
import { arbitraryOf } from '../testing/arbitrary.ts'
import { widget, widgetSpec } from '../testing/sample-kind.ts'
import { bytes, object, optional, string } from './builders.ts'
import { compile } from './compile.ts'
import type { ObjectSchema } from './schema.ts'
import { addStructuralDialect } from './structural/dialect.ts'

const decode = (spec: unknown): unknown =>
  compile(widget).decode({ apiVersion: 'example.test/v1', kind: 'Widget', spec }).value.spec

describe('decode', () => {
  it('returns a decoded value as it is', () => {
    fc.assert(
      fc.property(arbitraryOf(widget), (value) => {
        const frozen = deepFreeze(value)
        expect(compile(widget).decode(frozen).value).toBe(frozen)
      }),
      { numRuns: 50 },
    )
  })

  it('takes over what a known object has in the same place, and only that', () => {
    const spec = { paused: true, replicas: 1, parts: [] }
    const known = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'a' }, spec }
    const decoded = compile(widget).decode({ ...known, metadata: { name: 'b' } }, { known }).value
    expect(decoded.spec).toBe(spec)
    expect(compile(widget).decode({ ...known, status: spec }, { known }).value.status).toEqual({ replicas: 1 })
    expect(compile(widget).decode({ ...known, spec: { ...spec } }, { known }).value.spec).not.toBe(spec)
  })

  it('brings fields into the order of the schema', () => {
    expect(JSON.stringify(decode({ paused: true, parts: [{ image: 'i', name: 'a' }], replicas: 1 }))).toBe(
      '{"replicas":1,"parts":[{"name":"a","image":"i"}],"paused":true}',
    )
  })

  it('drops nulls, and empty lists and maps of optional fields', () => {
    expect(decode({ replicas: null, parts: [], tags: [], selector: {}, strategy: {} })).toEqual({
      parts: [],
      strategy: {},
    })
  })

  it('keeps null where it is a value', () => {
    expect(decode({ parts: [], note: null })).toEqual({ parts: [], note: null })
  })

  it('makes of nulls in lists and maps what Go makes of them', () => {
    expect(decode({ parts: [], steps: ['a', null], selector: { a: null } })).toEqual({
      parts: [],
      steps: ['a', ''],
      selector: { a: '' },
    })
  })

  it.each([' 500m', '500m \u00a0', '\u2003500m'])('takes the amount %j without white space around it', (budget) => {
    expect(decode({ budget })).toEqual({ budget: '500m' })
  })

  it.each(['5 00m', '\t500m', '500m\n', ' '])('takes no amount %j', (budget) => {
    expect(() => decode({ budget })).toThrow('quantities must match the regular expression')
  })

  it('makes quantities and times canonical', () => {
    const spec = {
      parts: [{ name: 'a', limits: { cpu: 0.5, memory: '1024Mi' } }],
      budget: '0.1',
      startTime: '2026-01-01T01:00:00+01:00',
      renewTime: '2026-01-01T01:00:00.000000+01:00',
    }
    expect(decode(spec)).toEqual({
      parts: [{ name: 'a', limits: { cpu: '500m', memory: '1Gi' } }],
      budget: '100m',
      startTime: '2026-01-01T00:00:00Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
    })
  })

  it('shares what it does not change', () => {
    const parts = [{ name: 'a' }]
    const decoded = decode({ parts, budget: '0.1' }) as { parts: unknown }
    expect(decoded.parts).toBe(parts)
  })

  it('follows schemas that contain themselves', () => {
    const tree = { label: 'root', branches: [{ label: 'leaf', unknown: 1 }] }
    expect(decode({ parts: [], tree })).toEqual({
      parts: [],
      tree: { label: 'root', branches: [{ label: 'leaf' }] },
    })
  })

  it('takes base64 with line breaks, and large amounts of it', () => {
    expect(decode({ parts: [], data: { a: 'YW\nJj' } })).toEqual({ parts: [], data: { a: 'YWJj' } })
    expect(decode({ parts: [], data: { a: 'YW\r\nJj', b: 'YQ==', c: 'YWI=' } })).toEqual({
      parts: [],
      data: { a: 'YWJj', b: 'YQ==', c: 'YWI=' },
    })
    const large = 'YWJj'.repeat(500_000)
    expect(decode({ parts: [], data: { a: large } })).toEqual({ parts: [], data: { a: large } })
  })

  it('takes __proto__ for a key like any other', () => {
    const selector: unknown = JSON.parse('{"__proto__": "x", "a": null}')
    const decoded = decode({ parts: [], selector }) as { selector: object }
    expect(Object.keys(decoded.selector)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(decoded.selector)).toBe(Object.prototype)
  })

  it('keeps unknown fields where the schema says so', () => {
    const open = object('Open', '', { a: optional(string(), '') }, { preserveUnknownFields: true })
    const value = { a: 'x', b: { c: [1, null] } }
    expect(compile(open).decode(value).value).toBe(value)
    const text = (given: object) => JSON.stringify(compile(open).decode(given).value)
    expect(text({ b: 1, a: 'x', c: null })).toBe('{"a":"x","b":1,"c":null}')
    expect(text({ b: 1, a: null })).toBe('{"b":1}')
  })
})

describe('unknown fields', () => {
  const value = {
    apiVersion: 'example.test/v1',
    kind: 'Widget',
    spec: { parts: [{ name: 'a', imagee: 'i' }], foo: 1 },
    constructor: 1,
  }

  it('are dropped in silence unless asked', () => {
    const { value: decoded, warnings } = compile(widget).decode(value)
    expect(decoded.spec).toEqual({ parts: [{ name: 'a' }] })
    expect(Object.keys(decoded)).toEqual(['apiVersion', 'kind', 'spec'])
    expect(warnings).toEqual([])
  })

  it('are named by path in warnings', () => {
    expect(compile(widget).decode(value, { fieldValidation: 'Warn' }).warnings).toEqual([
      'unknown field "spec.parts[0].imagee"',
      'unknown field "spec.foo"',
      'unknown field "constructor"',
    ])
  })

  it('are quoted as Go does, but for those of custom kinds', () => {
    const odd = { ...value, spec: { 'a"\u0001': 1 } }
    const warnings = (schema: ObjectSchema) => compile(schema).decode(odd, { fieldValidation: 'Warn' }).warnings
    expect(warnings(widget as ObjectSchema)).toContain('unknown field "spec.a\\"\\x01"')
    addStructuralDialect()
    const custom: ObjectSchema = { ...(widget as ObjectSchema), dialect: 'structural' }
    expect(warnings(custom)).toContain('unknown field "spec.a"\u0001"')
  })

  it('are an error in strict mode', () => {
    expect(() => compile(widget).decode(value, { fieldValidation: 'Strict' })).toThrow(
      expect.objectContaining({
        code: 400,
        message:
          'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.parts[0].imagee", unknown field "spec.foo", unknown field "constructor"',
      }),
    )
  })
})

describe('wrong types', () => {
  const head = 'Widget in version "v1" cannot be handled as a Widget: '
  it.each<[unknown, string]>([
    [{ replicas: '3' }, 'json: cannot unmarshal string into Go struct field WidgetSpec.spec.replicas of type int32'],
    [
      { replicas: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field WidgetSpec.spec.replicas of type int32',
    ],
    [
      { replicas: 2 ** 31 },
      'json: cannot unmarshal number 2147483648 into Go struct field WidgetSpec.spec.replicas of type int32',
    ],
    [
      { replicas: -(2 ** 31) - 1 },
      'json: cannot unmarshal number -2147483649 into Go struct field WidgetSpec.spec.replicas of type int32',
    ],
    [{ size: true }, 'json: cannot unmarshal bool into Go struct field WidgetSpec.spec.size of type int64'],
    [{ paused: 'true' }, 'json: cannot unmarshal string into Go struct field WidgetSpec.spec.paused of type bool'],
    [{ parts: {} }, 'json: cannot unmarshal object into Go struct field WidgetSpec.spec.parts of type []v1.Part'],
    [
      { parts: [{ name: 7 }] },
      'json: cannot unmarshal number into Go struct field Part.spec.parts.name of type string',
    ],
    [
      { selector: [] },
      'json: cannot unmarshal array into Go struct field WidgetSpec.spec.selector of type map[string]string',
    ],
    [
      { selector: { a: 1 } },
      'json: cannot unmarshal number into Go struct field WidgetSpec.spec.selector of type string',
    ],
    [7, 'json: cannot unmarshal number into Go struct field Widget.spec of type v1.WidgetSpec'],
    [{ budget: 'much' }, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    [{ startTime: 'now' }, 'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"'],
    [{ renewTime: 'now' }, 'parsing time "now" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "now" as "2006"'],
    [{ weight: '1' }, 'json: cannot unmarshal string into Go struct field WidgetSpec.spec.weight of type float64'],
    [{ startTime: 1 }, 'json: cannot unmarshal number into Go struct field WidgetSpec.spec.startTime of type string'],
    [{ data: { a: 'a*b=' } }, 'illegal base64 data at input byte 1'],
    [{ data: { a: 'YWJ' } }, 'illegal base64 data at input byte 0'],
    [{ data: { a: 7 } }, 'json: cannot unmarshal number into Go struct field WidgetSpec.spec.data of type []uint8'],
    [
      { strategy: { rolling: { surge: true } } },
      'json: cannot unmarshal bool into Go struct field .spec.strategy.rolling.surge of type int32',
    ],
    [
      { strategy: { rolling: { surge: 2 ** 31 } } },
      'json: cannot unmarshal number 2147483648 into Go struct field .spec.strategy.rolling.surge of type int32',
    ],
    [
      { strategy: { rolling: { surge: 0.5 } } },
      'json: cannot unmarshal number 0.5 into Go struct field .spec.strategy.rolling.surge of type int32',
    ],
  ])('refuses %j', (spec, message) => {
    expect(() => decode(spec)).toThrow(
      expect.objectContaining({ code: 400, reason: 'BadRequest', message: head + message }),
    )
  })

  it.each([-(2 ** 31), 2 ** 31 - 1])('takes %i for an int32', (replicas) => {
    expect(decode({ parts: [], replicas })).toEqual({ parts: [], replicas })
  })

  it('keeps whatever a type of Go that decodes itself gets', () => {
    expect(decode({ config: 'x' })).toMatchObject({ config: 'x' })
  })

  it.each([
    ['!', 0],
    ['YW!J', 2],
    ['YWJjYQ', 4],
    ['YWJjY', 4],
    // Padding that comes too early, is too short, or is followed by something.
    ['=', 0],
    ['YWJj=', 4],
    ['YWJjY===', 5],
    ['YQ=', 3],
    ['YQ=a', 2],
    ['YQ==YQ==', 4],
    ['YWI=YWI=', 4],
    ['YWI==', 4],
    // Line breaks are passed over, and count.
    ['YW\nJ', 1],
    ['YQ=\r\na', 4],
    ['YQ=\n', 4],
    ['\nYQ==\n!', 6],
  ])('says where Go stops to read base64: %j', (a, position) => {
    expect(() => decode({ data: { a } })).toThrow(`illegal base64 data at input byte ${position}`)
  })

  it('refuses what is no object at all', () => {
    expect(() => compile(widget).decode([])).toThrow(
      `${head}json: cannot unmarshal array into Go value of type v1.Widget`,
    )
  })

  it('names another kind where it is told to', () => {
    expect(() => compile(widgetSpec).decode([], { kind: 'Thing', version: 'v2' })).toThrow(
      'Thing in version "v2" cannot be handled as a Thing',
    )
  })

  it.each(['tree', 'extra'])('refuses to follow %s without end', (field) => {
    let value: unknown = {}
    for (let depth = 0; depth < 5000; depth += 1) value = { branches: [value] }
    expect(() => decode({ [field]: value })).toThrow('exceeded max depth')
  })
})

describe('a value with several mistakes', () => {
  const refusal = (spec: object): string => {
    try {
      decode(spec)
      return 'none'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  it('is told by the first of them', () => {
    expect(refusal({ parts: 'x', startTime: 5 })).toContain(
      'cannot unmarshal number into Go struct field WidgetSpec.spec.startTime of type string',
    )
    expect(refusal({ parts: 'x', count: 'y' })).toContain('cannot unmarshal string into Go struct field')
  })

  it('is told by a quantity or a time before all others, which Go’s decoder goes on after', () => {
    expect(refusal({ parts: 'x', budget: '!' })).toContain('quantities must match the regular expression')
    expect(refusal({ parts: 'x', startTime: 'y' })).toContain('parsing time "y"')
  })
})

describe('bytes as a list of numbers, which Go’s decoder takes too', () => {
  const decoded = (data: unknown): unknown => {
    const schema = object('v1.Holder', '', { data: optional(bytes, '') })
    return compile(schema).decode({ data }).value.data
  }

  it('are the same as in base64', () => {
    expect(decoded([104, 105, null])).toBe(Buffer.from('hi\0').toString('base64'))
    expect(decoded([0, 255])).toBe('AP8=')
    expect(decoded([])).toBeUndefined()
  })

  it.each([[[256]], [[-1]], [[1.5]], [['a']]])('are refused where one is no byte: %j', (data) => {
    expect(() => decoded(data)).toThrow('of type uint8')
  })
})

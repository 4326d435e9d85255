import { describe, expect, it } from 'vitest'
import { customResourceDefinitions } from '../../kinds/index.ts'
import { any, double, int32, int64, intOrString, mapOf, object, optional, quantity, string } from '../builders.ts'
import { compile } from '../compile.ts'
import { jsonReaderOf, parseJsonOf } from './numbers.ts'

const schema = object('io.example.v1.Sample', 'One field of each type that a number may be.', {
  count: optional(int32(), ''),
  long: optional(int64(), ''),
  share: optional(intOrString, ''),
  amounts: optional(mapOf(quantity), ''),
  ratio: optional(double(), ''),
  name: optional(string(), ''),
  raw: optional(any, ''),
})

const { decode } = compile(schema)
const read = (text: string) => decode(parseJsonOf(schema, text), { kind: '' }).value

describe('numbers of a built-in kind', () => {
  it.each(['1.0', '1e2', '-1.50', '1E+2', '99999999999999999999', '1e999'])('%s is no integer', (text) => {
    const refused = (field: string, type: string) =>
      `json: cannot unmarshal number ${text} into Go struct field Sample.${field} of type ${type}`
    expect(() => read(`{"count":${text}}`)).toThrow(refused('count', 'int32'))
    expect(() => read(`{"long":${text}}`)).toThrow(refused('long', 'int64'))
    expect(() => read(`{"share":${text}}`)).toThrow(refused('share', 'int32'))
  })

  it.each([
    ['{"count":-0,"long":9007199254740991}', { long: 9007199254740991 }],
    ['{"long":9007199254740993}', { long: 9007199254740992 }],
    ['{"long":9223372036854775807}', { long: 2 ** 63 - 1024 }],
    ['{"long":-9223372036854775808}', { long: -(2 ** 63) }],
    ['{"share":-2147483648}', { share: -2147483648 }],
    ['{"ratio":1.0}', { ratio: 1 }],
    ['{"ratio":9007199254740993}', { ratio: 9007199254740992 }],
  ])('%s is read', (text, value) => {
    expect(read(text)).toEqual(value)
  })

  it('may be the largest of 64 bits, and come back as they were held', () => {
    const first = read('{"long":9223372036854775807}')
    expect(read(JSON.stringify(first))).toEqual(first)
    expect(decode({ long: 2n ** 63n - 1n }).value).toEqual(first)
    expect(() => decode({ long: 2n ** 63n })).toThrow('cannot unmarshal number 9223372036854775808 into')
  })

  it('are amounts as they are written', () => {
    expect(read('{"amounts":{"a":1e3,"b":1.50,"c":0.0000001,"d":1000000000000000000000}}')).toEqual({
      amounts: { a: '1e3', b: '1500m', c: '100n', d: '1000E' },
    })
  })

  it('are kept as they are written where any JSON may be, as far as Go keeps them', () => {
    const raw = '{"a":[9007199254740993,{"b":-9223372036854775808}],"c":1.50}'
    expect(JSON.stringify(read(`{"raw":${raw}}`))).toBe(
      '{"raw":{"a":[9007199254740993,{"b":-9223372036854775808}],"c":1.5}}',
    )
    expect(() => read('{"raw":{"a":1e999}}')).toThrow(
      'json: cannot unmarshal number 1e999 into Go value of type float64',
    )
  })

  it('are of no type but a number where another is wanted', () => {
    for (const text of ['1.0', '9007199254740993']) {
      expect(() => read(`{"name":${text}}`)).toThrow(
        'cannot unmarshal number into Go struct field Sample.name of type string',
      )
    }
    expect(read('{"unknown":[1.0]}')).toEqual({})
  })
})

describe('what was written of a kind', () => {
  it('is read with whole numbers as they are where any JSON may be, and with plain ones elsewhere', () => {
    const text = '{"long":9007199254740993,"raw":{"long":9007199254740993}}'
    expect(jsonReaderOf(schema)(text)).toEqual({ long: 9007199254740992, raw: { long: 9007199254740993n } })
  })

  it('has them so in schemas within a schema', () => {
    const items = '{"maxLength":9007199254740993,"default":9007199254740993}'
    const read = jsonReaderOf(customResourceDefinitions.schema)(
      `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"items":${items},"additionalProperties":${items}}}}]}}`,
    )
    const exact = { maxLength: 9007199254740993n, default: 9007199254740993n }
    expect(read).toEqual({
      spec: { versions: [{ schema: { openAPIV3Schema: { items: exact, additionalProperties: exact } } }] },
    })
  })
})

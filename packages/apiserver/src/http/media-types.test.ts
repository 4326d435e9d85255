import { configMaps } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { bodyFormatOf, clausePartsMax, clausesMax, clausesOf, patchTypeOf } from './media-types.ts'

const custom = { schema: { ...configMaps.schema, dialect: 'structural' as const } }

describe('content types of bodies', () => {
  it('takes JSON, YAML, and nothing said for JSON', () => {
    expect(bodyFormatOf(undefined)).toBe('json')
    expect(bodyFormatOf('application/json; charset=utf-8')).toBe('json')
    expect(bodyFormatOf('application/yaml')).toBe('yaml')
  })

  it('names what it takes when it gets something else', () => {
    expect(() => bodyFormatOf('text/plain')).toThrow(
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
    expect(() => bodyFormatOf(';;')).toThrow('unknown format')
    expect(() => patchTypeOf('application/apply-patch+cbor', custom)).toThrow(
      'accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
    expect(() => patchTypeOf('text/plain', configMaps)).toThrow('415: Unsupported Media Type')
  })

  it.each([
    'APPLICATION/JSON',
    'application/json;',
    'application/json ; a = b',
    'application/json; a="b;\\"c"',
    'application/json; a=b; A=b',
  ])('reads %s as Go does', (type) => expect(bodyFormatOf(type)).toBe('json'))

  it.each([
    'application/json; charset',
    'application/json; charset=',
    'application/json; =x',
    'application/json;;',
    'application/json; a=b; a=c',
    'application/json; a="b',
    'application/json; a=b c',
    'application/json x',
    'application/json/x',
    ';a=b',
  ])('refuses %s, which is malformed', (type) => expect(() => bodyFormatOf(type)).toThrow('unknown format'))

  it('compares the types of patches letter by letter', () => {
    expect(patchTypeOf('application/merge-patch+json;;', custom)).toBe('merge')
    expect(() => patchTypeOf('Application/merge-patch+json', custom)).toThrow('unknown format')
  })
})

describe('what a client accepts', () => {
  it('counts for nothing where its quality is no number', () => {
    expect(clausesOf('application/yaml;q=x,application/json').map(({ type }) => type)).toEqual([
      'application/json',
      'application/yaml',
    ])
  })

  it('may have spaces around it, and no tabs', () => {
    expect(clausesOf(' text/plain ; a = b ;c; d=e=f')).toEqual([
      { type: 'text/plain', parameters: new Map([['a', 'b']]), quality: 1 },
    ])
    expect(clausesOf('text/plain\t;a=b')[0]?.type).toBe('text/plain\t')
  })

  it('may have any number of spaces within', () => {
    const before = process.cpuUsage()
    expect(clausesOf(`a${' '.repeat(100_000)}b`)).toHaveLength(1)
    // A look at the rest for each of them takes fifteen seconds.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000)
  })

  it('is read to a bound', () => {
    expect(clausesOf('a,'.repeat(100_000))).toHaveLength(clausesMax)
    const parts = Array.from({ length: 1_000 }, (_, index) => `;p${index}=x`)
    expect(clausesOf(`a${parts.join('')}`)[0]?.parameters.size).toBe(clausePartsMax - 1)
  })
})

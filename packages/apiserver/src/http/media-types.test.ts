import { configMaps } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { bodyFormatOf, patchTypeOf } from './media-types.ts'

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
})

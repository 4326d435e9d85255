import { builtinResources, type JsonObject } from '@coracle/api'
import { openApiV2 } from '@coracle/api/openapi'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { encodeOpenApiV2 } from './openapi-protobuf.ts'

/** Fields of a message by number, each with its contents in order: numbers, or texts of the bytes. */
function fieldsOf(bytes: Buffer): Map<number, (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>()
  let at = 0
  const varint = (): number => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const length = varint()
    const value = tag % 8 === 2 ? bytes.subarray(at, at + length) : length
    if (tag % 8 === 2) at += length
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

/** The message at a path of field numbers, each the first of its number. */
function at(bytes: Buffer, ...path: readonly number[]): Buffer {
  return path.reduce((message, number) => {
    const [field] = fieldsOf(message).get(number) ?? []
    if (!Buffer.isBuffer(field)) throw new Error(`no message in field ${number}`)
    return field
  }, bytes)
}

const definition = (schema: JsonObject) => encodeOpenApiV2({ swagger: '2.0', definitions: { 'a.b.C': schema } })

describe('a Swagger document in protobuf', () => {
  it('has its definitions as pairs of name and schema', () => {
    const bytes = definition({ description: 'Ünï', type: 'object', required: ['x', 'y'] })
    expect(at(bytes, 1).toString()).toBe('2.0')
    const [document, entry] = [9, 1]
    expect(at(bytes, document, entry, 1).toString()).toBe('a.b.C')
    const schema = at(bytes, document, entry, 2)
    expect(at(schema, 4).toString()).toBe('Ünï')
    expect(at(schema, 22, 1).toString()).toBe('object')
    expect(fieldsOf(schema).get(19)?.map(String)).toEqual(['x', 'y'])
  })

  it('has properties, items and references within, and extensions as YAML', () => {
    const items = { $ref: '#/definitions/d.E' }
    const list = { type: 'array', items, 'x-kubernetes-list-map-keys': ['name'] }
    const bytes = definition({ properties: { list, map: { additionalProperties: { format: 'int32' } } } })
    const [first, second] = fieldsOf(at(bytes, 9, 1, 2, 25)).get(1) as Buffer[]
    expect(at(first as Buffer, 2, 23, 1, 1).toString()).toBe('#/definitions/d.E')
    expect(at(first as Buffer, 2, 31, 1).toString()).toBe('x-kubernetes-list-map-keys')
    expect(at(first as Buffer, 2, 31, 2, 2).toString()).toBe('- name\n')
    expect(at(second as Buffer, 2, 21, 1, 2).toString()).toBe('int32')
  })

  it.each([
    [[{ fieldPath: 'spec.color' }, { fieldPath: 'spec.size' }], '- fieldPath: spec.color\n- fieldPath: spec.size\n'],
    [[{ version: 'v1', group: '', kind: 'Pod' }], '- group: ""\n  kind: Pod\n  version: v1\n'],
    [{ a: [1, 'x'], b: { c: true } }, 'a:\n    - 1\n    - x\nb:\n    c: true\n'],
    ['true', '"true"\n'],
    ['has: a colon', '"has: a colon"\n'],
    [{}, '{}\n'],
    [null, 'null\n'],
    [false, 'false\n'],
  ])('has %j in blocks of YAML', (value, yaml) => {
    const written = at(definition({ 'x-any': value }), 9, 1, 2, 31, 2, 2).toString()
    expect(written).toBe(yaml)
    expect(parse(written)).toEqual(value)
  })

  it('has lengths of several bytes', () => {
    const description = 'x'.repeat(20_000)
    expect(at(definition({ description }), 9, 1, 2, 4).toString()).toBe(description)
  })

  it('has parameters by where they are', () => {
    const parameters = [
      { name: 'body', in: 'body', required: true, schema: { type: 'object' } },
      { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
    ]
    const bytes = encodeOpenApiV2({ paths: { '/x': { patch: { parameters } } } })
    const operation = at(bytes, 8, 2, 2, 8)
    const [body, query] = fieldsOf(operation).get(8) as Buffer[]
    expect(at(body as Buffer, 1, 1, 2).toString()).toBe('body')
    expect(fieldsOf(at(body as Buffer, 1, 1)).get(4)).toEqual([1])
    expect(at(query as Buffer, 1, 2, 3, 4).toString()).toBe('dryRun')
  })

  it('leaves nothing out in silence', () => {
    expect(() => definition({ nullable: true })).toThrow('nullable')
    expect(encodeOpenApiV2(openApiV2(builtinResources)).length).toBeGreaterThan(100_000)
  })
})

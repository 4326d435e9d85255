import { describe, expect, it } from 'vitest'
import { complete, decode, encode, message } from './message.ts'

const inner = message({ key: [1, 'bytes'], revision: [2, 'int64'] })
const outer = message({
  name: [1, 'string'],
  count: [2, 'int32'],
  isWhole: [3, 'bool'],
  one: [4, inner],
  many: [5, [inner]],
  revision: [16, 'int64'],
})
const key = Uint8Array.of(1, 2, 3)

describe('a protobuf message', () => {
  it('looks on the wire as protobuf says', () => {
    expect([...encode(inner, { key, revision: 300 })]).toEqual([0x0a, 3, 1, 2, 3, 0x10, 0xac, 0x02])
    expect([...encode(outer, { name: 'é', count: 5, isWhole: true })]).toEqual([0x0a, 2, 0xc3, 0xa9, 0x10, 5, 0x18, 1])
    expect([...encode(outer, { one: { revision: 1 }, many: [{}, { revision: 2 }] })]).toEqual([
      ...[0x22, 2, 0x10, 1],
      ...[0x2a, 0],
      ...[0x2a, 2, 0x10, 2],
    ])
    expect([...encode(outer, { revision: 1 })]).toEqual([0x80, 1, 1])
  })

  it('is read as it was written', () => {
    const value = {
      name: 'web',
      count: -1,
      isWhole: true,
      one: { key, revision: 2 ** 53 - 1 },
      many: [
        { key, revision: 1 },
        { key: new Uint8Array(), revision: 0 },
      ],
      revision: 7,
    }
    expect(decode(outer, encode(outer, value))).toEqual(value)
  })

  it('has the zero value of its type for what is absent', () => {
    expect(decode(outer, encode(outer, { name: undefined as unknown as string }))).toEqual({
      name: '',
      count: 0,
      isWhole: false,
      one: undefined,
      many: [],
      revision: 0,
    })
    expect(decode(inner, new Uint8Array())).toEqual({ key: new Uint8Array(), revision: 0 })
  })

  it('is the same where it is completed without being sent', () => {
    for (const value of [{}, { name: 'web', one: { revision: 2 }, many: [{}, { key }] }])
      expect(complete(outer, value)).toEqual(decode(outer, encode(outer, value)))
    const type = message({ names: [1, ['string']], labels: [3, 'map'] })
    for (const value of [{}, { names: ['a'], labels: { a: 'b' } }])
      expect(complete(type, value)).toEqual(decode(type, encode(type, value)))
  })

  it('may have fields that are not named here', () => {
    const more = message({ ...outer.fields, other: [9, 'string'], others: [10, [inner]] })
    const bytes = encode(more, { name: 'web', other: 'x', others: [{ revision: 1 }], revision: 7 })
    expect(decode(outer, bytes)).toMatchObject({ name: 'web', revision: 7 })
    expect(decode(outer, bytes)).not.toHaveProperty('other')
    expect(encode(outer, { unknown: 1 } as object)).toHaveLength(0)
  })

  it('does not hold on to the bytes it was read from', () => {
    const bytes = encode(inner, { key })
    const read = decode(inner, bytes)
    bytes.fill(0)
    expect(read.key).toEqual(key)
  })

  it('is refused where it is cut short', () => {
    const bytes = encode(inner, { key, revision: 300 })
    expect(() => decode(inner, bytes.subarray(0, 3))).toThrow()
  })

  it('has lists of numbers and texts, and maps', () => {
    const type = message({
      names: [1, ['string']],
      groups: [2, ['int64']],
      labels: [3, 'map'],
      attempt: [4, 'uint32'],
      size: [5, 'uint64'],
      share: [6, 'double'],
      shares: [7, ['double']],
    })
    const value = {
      names: ['a', 'b'],
      groups: [1, 300],
      labels: { app: 'web', empty: '' },
      attempt: 4_000_000_000,
      size: 2 ** 40,
      share: 12.5,
      shares: [0.25, -1],
    }
    expect(decode(type, encode(type, value))).toEqual(value)
    expect([...encode(type, { labels: { a: 'b' } })]).toEqual([0x1a, 6, 0x0a, 1, 0x61, 0x12, 1, 0x62])
    const packed = Uint8Array.of(0x12, 3, 1, 0xac, 2)
    expect(decode(type, packed).groups).toEqual([1, 300])
    const nothing = { names: [], groups: [], labels: {}, attempt: 0, size: 0, share: 0, shares: [] }
    expect(decode(type, new Uint8Array())).toEqual(nothing)
    expect([...encode(type, { share: 1 })]).toEqual([0x31, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f])
  })

  it('takes any key of a map for one', () => {
    const type = message({ labels: [1, 'map'] })
    const labels = JSON.parse('{"__proto__":"x"}')
    expect(Object.keys(decode(type, encode(type, { labels })).labels)).toEqual(['__proto__'])
  })
})

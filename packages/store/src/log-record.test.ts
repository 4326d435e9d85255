import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeChunk,
  decodeEntry,
  decodeEvents,
  decodeRevision,
  encodeChunk,
  encodeEvents,
  encodeRevision,
  isEntryWhole,
} from './log-record.ts'
import type { StoreEvent } from './store.ts'

const seed = 42
const revision = fc.nat({ max: 2 ** 31 })
const value = fc.uint8Array({ maxLength: 50 })
const change = {
  key: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((key) => key.isWellFormed()),
  value,
  revision,
  createRevision: revision,
  previousRevision: revision,
}
const event: fc.Arbitrary<StoreEvent> = fc.oneof(
  fc.record({ type: fc.constant('put'), ...change }),
  fc.record({ type: fc.constant('put'), ...change, previousValue: value }),
  fc.record({ type: fc.constant('put'), ...change, note: value }),
  fc.record({ type: fc.constant('put'), ...change, previousValue: value, note: value }),
  fc.record({ type: fc.constant('delete'), ...change, note: value }),
  fc.record({ type: fc.constant('delete'), ...change }),
)
const events = fc.array(event, { minLength: 1, maxLength: 5 })

/** `bytes` with one bit of it the other way round. */
function withFlippedBit(bytes: Uint8Array, position: number): Uint8Array {
  const wrong = Uint8Array.from(bytes)
  const bit = position % (bytes.length * 8)
  wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return wrong
}

describe('changes on disk', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(events, (written) => {
        expect(decodeEvents(encodeEvents(written, seed).bytes)).toEqual(written)
      }),
    )
  })

  it('hold the entry of each, which knows its key', () => {
    fc.assert(
      fc.property(event, (written) => {
        const [entry = new Uint8Array(0)] = encodeEvents([written], seed).entries
        const key = Buffer.from(written.key)
        expect(isEntryWhole(key, entry, seed)).toBe(true)
        const { value, revision: modRevision, createRevision } = written
        expect(decodeEntry(written.key, entry)).toEqual({ key: written.key, value, modRevision, createRevision })
        expect(isEntryWhole(Buffer.concat([key, key]), entry, seed)).toBe(false)
        expect(isEntryWhole(key, entry, seed + 1)).toBe(false)
      }),
    )
  })

  it('show a bit that is wrong in an entry, its key or its checksum', () => {
    fc.assert(
      fc.property(event, fc.nat(), (written, position) => {
        const [entry = new Uint8Array(0)] = encodeEvents([written], seed).entries
        const key = Buffer.from(written.key)
        expect(isEntryWhole(key, withFlippedBit(entry, position), seed)).toBe(false)
        expect(isEntryWhole(withFlippedBit(key, position), entry, seed)).toBe(false)
      }),
    )
  })

  it('show an entry that is too short to be one', () => {
    for (let length = 0; length < 20; length++) {
      expect(isEntryWhole(Buffer.from('k'), new Uint8Array(length), seed)).toBe(false)
    }
  })

  it('stay together in stretches of the log', () => {
    fc.assert(
      fc.property(events, events, revision, revision, fc.nat(), (first, second, after, last, position) => {
        const parts = [first, second].map((each) => encodeEvents(each, seed).bytes)
        const chunk = encodeChunk(after, last, parts, seed)
        const key = encodeRevision(last)
        expect(decodeChunk(key, chunk, seed)).toEqual({ after, last, events: [...first, ...second] })
        expect(decodeChunk(key, withFlippedBit(chunk, position), seed)).toBeUndefined()
        expect(decodeChunk(withFlippedBit(key, position), chunk, seed)).toBeUndefined()
        expect(decodeChunk(key, chunk.subarray(0, position % chunk.length), seed)).toBeUndefined()
      }),
    )
  })

  it('are refused where they are cut short', () => {
    const [event] = fc.sample(fc.record({ type: fc.constant('put'), ...change }), 1) as [StoreEvent]
    const { bytes } = encodeEvents([event, event], seed)
    expect(() => decodeEvents(bytes.subarray(0, bytes.length - 1))).toThrow()
  })

  it('may change nothing', () => {
    const chunk = encodeChunk(3, 4, [], seed)
    expect(decodeChunk(encodeRevision(4), chunk, seed)).toEqual({ after: 3, last: 4, events: [] })
  })
})

it('orders revisions as their keys are ordered', () => {
  const any = fc.nat({ max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(any, any, (a, b) => {
      expect(Math.sign(Buffer.compare(encodeRevision(a), encodeRevision(b)))).toBe(Math.sign(a - b))
      expect(decodeRevision(encodeRevision(a))).toBe(a)
    }),
  )
})

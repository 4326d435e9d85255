import type { StoreEvent } from '@coracle/store'
import { describe, expect, it } from 'vitest'
import { InFlightWrites } from './in-flight-writes.ts'

const key = 'default/a'
const storeKey = `/registry/core/pods/${key}`
const value = Buffer.from('{}')
const write = (previousRevision: number, more: object = {}) => ({
  key,
  storeKey,
  previousRevision,
  put: { type: 'put', key: storeKey, value, byteLength: 2 } as const,
  object: undefined,
  owners: [],
  ...more,
})
const event = (previousRevision: number, more: Partial<StoreEvent> = {}): StoreEvent => ({
  type: 'put',
  key: storeKey,
  value: Buffer.from(value),
  revision: 9,
  createRevision: 1,
  previousRevision,
  ...more,
})

describe('a write on its way', () => {
  it('is the cause of the event that replaces the same revision with the same bytes', () => {
    const writes = new InFlightWrites()
    const first = writes.begin(write(3))
    const second = writes.begin(write(4))
    expect(writes.take(event(4))).toBe(second)
    expect(writes.take(event(3, { value }))).toBe(first)
  })

  it.each([
    ['of another revision', event(4)],
    ['with other bytes', event(3, { value: Buffer.from('[]') })],
    ['that deletes', event(3, { type: 'delete' })],
  ])('is not the cause of an event %s', (_, other) => {
    const writes = new InFlightWrites()
    const begun = writes.begin(write(3))
    expect(writes.take(other)).toBeUndefined()
    expect(writes.take({ ...event(3), key: '/registry/core/pods/default/b' })).toBeUndefined()
    expect(writes.take(event(3))).toBe(begun)
  })

  it('that deletes is the cause of a delete alone', () => {
    const writes = new InFlightWrites()
    const begun = writes.begin(write(3, { put: undefined }))
    expect(writes.take(event(3))).toBeUndefined()
    expect(writes.take(event(3, { type: 'delete' }))).toBe(begun)
  })

  it('knows its own change by its token, whatever the bytes, which nobody has to make for it', () => {
    const writes = new InFlightWrites()
    const lazily = (token: object) => ({
      ...write(3),
      put: {
        type: 'put' as const,
        key,
        token,
        byteLength: 2,
        get value(): Uint8Array {
          return expect.unreachable('nobody asked for it')
        },
      },
    })
    const [token, other] = [{}, {}]
    const begun = writes.begin(lazily(token))
    expect(writes.take(event(3, { token: other }))).toBeUndefined()
    expect(writes.take(event(3, { token }))).toBe(begun)
  })

  it('is forgotten with its event, or when it failed; others of its key stay', () => {
    const writes = new InFlightWrites()
    const taken = writes.begin(write(3))
    const failed = writes.begin(write(3))
    const kept = writes.begin(write(5))
    expect(writes.take(event(3))).toBe(taken)
    writes.end(failed)
    writes.end(failed)
    expect(writes.take(event(3))).toBeUndefined()
    expect(writes.take(event(5))).toBe(kept)
    writes.end(kept)
    expect(writes.take(event(5))).toBeUndefined()
  })
})

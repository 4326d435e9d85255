import { describe, expect, it } from 'vitest'
import { lazyChange, lazyEntryAfter } from './lazy-values.ts'
import type { Entry, Operation } from './store.ts'

const bytes = (value: number) => new Uint8Array([value])
const before: Entry = { key: 'k', value: bytes(1), modRevision: 4, createRevision: 2 }
const put: Operation = { type: 'put', key: 'k', value: bytes(2) }

describe('a lazy change', () => {
  it('of a new key begins it', () => {
    const change = lazyChange(put, 7, undefined, {})
    expect(change).toMatchObject({ type: 'put', key: 'k', revision: 7, createRevision: 7, previousRevision: 0 })
    expect(change.value).toEqual(bytes(2))
  })

  it('of a key that was there says what it follows', () => {
    expect(lazyChange(put, 7, before, {})).toMatchObject({ createRevision: 2, previousRevision: 4 })
  })

  it('that deletes has the last value', () => {
    const change = lazyChange({ type: 'delete', key: 'k' }, 7, before, {})
    expect([change.type, change.value]).toEqual(['delete', bytes(1)])
    expect(lazyEntryAfter(change)).toBeUndefined()
  })

  it('carries what it is given', () => {
    const token = {}
    const change = lazyChange({ ...put, token }, 7, before, { previous: before, note: bytes(9) })
    expect([change.previousValue, change.note, change.token]).toEqual([bytes(1), bytes(9), token])
    const { previousValue, note, token: none } = lazyChange(put, 7, before, {})
    expect([previousValue, note, none]).toEqual([undefined, undefined, undefined])
  })
})

it('the value before a lazy change is made when somebody asks for it', () => {
  let made = 0
  const lazy: Operation = {
    type: 'put',
    key: 'k',
    lazy: true,
    get value() {
      made += 1
      return bytes(3)
    },
  }
  const previous = lazyEntryAfter(lazyChange(lazy, 6, before, {})) as Entry
  const change = lazyChange(put, 7, previous, { previous })
  expect(made).toBe(0)
  expect(change.previousValue).toEqual(bytes(3))
})

it('the entry after a lazy change is what the change makes of the key', () => {
  const entry = lazyEntryAfter(lazyChange(put, 7, before, {}))
  expect(entry).toMatchObject({ key: 'k', modRevision: 7, createRevision: 2 })
  expect(entry?.value).toEqual(bytes(2))
})

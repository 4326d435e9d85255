import { expect, it } from 'vitest'
import { pagesOf } from './pages.ts'

/** How many entries each page of a listing of `count` has. */
const sizesOf = (count: number, entriesMax: number) => {
  const entry = { key: 'k', value: new Uint8Array(0), modRevision: 1, createRevision: 1 }
  const listing = { revision: 7, entries: Array.from({ length: count }, () => entry) }
  return [...pagesOf(listing, entriesMax)].map(({ revision, entries }) => {
    expect(revision).toBe(7)
    return entries.length
  })
}

it.each([
  [0, 3, [0]],
  [1, 3, [1]],
  [3, 3, [3]],
  [6, 3, [3, 3]],
  [7, 3, [3, 3, 1]],
  [2, 1, [1, 1]],
])('%d entries in pages of %d are %j', (count, entriesMax, sizes) => {
  expect(sizesOf(count, entriesMax)).toEqual(sizes)
})

it.each([0, -1])('a page of %d entries is refused', (entriesMax) => {
  expect(() => sizesOf(1, entriesMax)).toThrow(`not a size of a page: ${entriesMax}`)
})

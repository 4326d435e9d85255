import { expect, it } from 'vitest'
import { ChunkKeys } from './chunk-keys.ts'

it('tells the chunks that a compaction makes superfluous, and goes on without them', () => {
  const keys = new ChunkKeys()
  for (const key of [2, 5, 9]) keys.push(key)
  expect(keys.upTo(1)).toEqual([])
  expect(keys.upTo(5)).toEqual([2, 5])
  keys.drop(1)
  expect(keys.all()).toEqual([5, 9])
  expect(keys.upTo(8)).toEqual([5])
  keys.drop(1)
  keys.push(12)
  expect(keys.all()).toEqual([9, 12])
  keys.drop(2)
  expect(keys.all()).toEqual([])
  expect(keys.upTo(20)).toEqual([])
})

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { readTimeIndex, TimeIndex } from './time-index.ts'
import { TimeIndexReader } from './time-index-reader.ts'

function indexed(entries: number) {
  const path = join(temporaryDirectory(), '0.log.times')
  const index = new TimeIndex(path)
  for (let entry = 1; entry <= entries; entry += 1) index.add({ end: entry * 10, timeMs: entry })
  return { path, index, reader: new TimeIndexReader(path) }
}

it('is read once, and then what is added to it', () => {
  const { path, index, reader } = indexed(3)
  const [first] = reader.read()
  expect(reader.read()).toEqual(readTimeIndex(path))
  index.add({ end: 40, timeMs: 4 })
  index.add({ end: 50, timeMs: 5 })
  const entries = reader.read()
  expect(entries).toEqual(readTimeIndex(path))
  expect(entries).toHaveLength(5)
  // It is the very one that was read before: nobody has looked at it again.
  expect(entries[0]).toBe(first)
})

it('is read as a whole where it was written anew, or has gone', () => {
  const { path, index, reader } = indexed(3)
  expect(reader.read()).toHaveLength(3)
  index.trim(15)
  index.add({ end: 40, timeMs: 4 })
  index.trim(25)
  index.add({ end: 50, timeMs: 5 })
  expect(reader.read()).toEqual(readTimeIndex(path))
  rmSync(path)
  expect(reader.read()).toEqual([])
})

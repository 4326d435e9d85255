import { expect, it } from 'vitest'
import { fnv1a } from './fnv1a.ts'

it.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
  ['ü', 0x119dd44a],
])('hashes %j as everybody does', (text, hash) => {
  expect(fnv1a(text)).toBe(hash)
})

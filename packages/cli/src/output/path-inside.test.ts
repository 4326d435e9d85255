import { expect, it } from 'vitest'
import { pathInside } from './path-inside.ts'

it.each([
  ['/a/b', 'c/d.txt', '/a/b/c/d.txt'],
  ['/a/b/', 'c/../d', '/a/b/d'],
  ['/', 'a', '/a'],
])('has in %s a file %s', (directory, name, path) => {
  expect(pathInside(directory, name)).toBe(path)
})

it.each(['../c', '..', '.', '', 'c/../../b-and-more', '../b'])('has no file %j', (name) => {
  expect(() => pathInside('/a/b', name)).toThrow('the server has a name that leads out of /a/b')
})

import { expect, it } from 'vitest'
import { isTrue } from './query-values.ts'

it.each([
  [undefined, false],
  [null, false],
  ['false', false],
  // As Python's client writes it.
  ['False', false],
  ['FALSE', false],
  ['0', false],
  ['', true],
  ['true', true],
  ['True', true],
  ['1', true],
  ['no', true],
])('reads %j in a query as %s', (text, expected) => {
  expect(isTrue(text)).toBe(expected)
})

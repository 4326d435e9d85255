import { expect, it } from 'vitest'
import { compileCel } from '../program.ts'
import { types } from '../types.ts'

const trimmed = (text: string): unknown => {
  const compiled = compileCel('text.trim()', new Map([['text', types.string]]))
  if ('problem' in compiled) return compiled.problem
  const result = compiled.program.run(new Map([['text', text]]), 1_000_000)
  return 'value' in result ? result.value : result.error
}

it.each([
  [' \t\na b\u0085\u00a0', 'a b'],
  [' \u3000 ', ''],
  // Go's unicode does not take it for white space.
  [' \ufeff a', '\ufeff a'],
  [' \u{1f600} ', '\u{1f600}'],
])('trims %j as Go does', (text, expected) => {
  expect(trimmed(text)).toBe(expected)
})

it('trims a text at once, however much white space is within', () => {
  const text = `a${' '.repeat(100_000)}b`
  expect(trimmed(` ${text} `)).toBe(text)
})

it.each([
  ["'tacocat'.indexOf('a', 30)", -1n],
  ["'tacocat'.indexOf('a', 7)", -1n],
  ["'tacocat'.indexOf('', 9)", 9n],
  ["'tacocat'.indexOf('a', -1)", 'index out of range: -1'],
  ["'hello mellow'.lastIndexOf('ello', 20)", -1n],
  ["'hello mellow'.lastIndexOf('ello', 6)", 1n],
  ["'hello mellow'.lastIndexOf('ello')", 7n],
  ["'hello mellow'.lastIndexOf('')", 12n],
  ["'hello mellow'.lastIndexOf('ello', -1)", 'index out of range: -1'],
])('looks for texts as cel-go does: %s', (expression, expected) => {
  const compiled = compileCel(expression, new Map())
  if ('problem' in compiled) throw new Error(compiled.problem)
  const result = compiled.program.run(new Map(), 1_000_000)
  expect('value' in result ? result.value : result.error).toBe(expected)
})

it.each([
  // Nothing is found where what was found before has ended.
  ["'abck12'.findAll('(a|b)*').size()", 5n],
  ["'ääxx'.findAll('x*').size()", 3n],
  ["'aXbXc'.findAll('X*', 2) == ['', 'X']", true],
  // A character is replaced as a whole, even where it is two units.
  ["'ä😀'.replace('', '-')", '-ä-😀-'],
  ["'ä😀'.replace('', '-', 2)", '-ä-😀'],
  ["'tacocat'.substring(9, 5)", 'invalid substring range. start: 9, end: 5'],
  ["'tacocat'.substring(9)", 'index out of range: 9'],
])('finds and replaces as cel-go does: %s', (expression, expected) => {
  const compiled = compileCel(expression, new Map())
  if ('problem' in compiled) throw new Error(compiled.problem)
  const result = compiled.program.run(new Map(), 1_000_000)
  expect('value' in result ? result.value : result.error).toBe(expected)
})

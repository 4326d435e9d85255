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

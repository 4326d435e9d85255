import { expect, it } from 'vitest'
import { compileCel } from '../program.ts'
import { types } from '../types.ts'

const compiled = compileCel('text.trim()', new Map([['text', types.string]]))

function trimmed(text: string): unknown {
  if ('problem' in compiled) throw new Error(compiled.problem)
  const outcome = compiled.program.run(new Map([['text', text]]), 1_000_000)
  return 'value' in outcome ? outcome.value : outcome.error
}

it.each([
  ['', ''],
  [' \t\u0085\u00a0a b\n\u2028', 'a b'],
  ['   ', ''],
  [' \ufeff a \ufeff ', '\ufeff a \ufeff'],
])('trims %j as Go does', (text, expected) => {
  expect(trimmed(text)).toBe(expected)
})

it('trims a text with very many spaces within in one pass', { timeout: 2_000 }, () => {
  const text = `a${' '.repeat(60_000)}b`
  expect(trimmed(text)).toBe(text)
})

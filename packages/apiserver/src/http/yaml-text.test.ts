import { expect, it } from 'vitest'
import { parseYamlText } from './yaml-text.ts'

it.each([
  // A commit may be called so, and its name is a text.
  ['e8, +e8, .e3, .', ['e8', '+e8', '.e3', '.']],
  ['1e3, .5, 5.', [1000, 0.5, 5]],
  ['0x1F, 0X1F, 0o17, 017, 0b11', [31, 31, 15, 15, 3]],
])('reads numbers as Go does: %s', (text, expected) => {
  expect(parseYamlText(`[${text}]`).value).toEqual(expected)
})

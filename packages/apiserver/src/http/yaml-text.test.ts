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

it.each(['? {a: 1}\n: 2', '[a, b]: c', '{[a]: 1}', 'x: &x {a: 1}\n? *x\n: 1', '? '.repeat(300)])(
  'refuses keys that are maps or lists, as Go does: %j',
  (text) => {
    expect(parseYamlText(text)).toEqual({ value: undefined, duplicates: [], problem: 'yaml: invalid map key' })
  },
)

it('takes keys that stand for texts', () => {
  expect(parseYamlText('x: &x a\n? *x\n: 1\n? b\n: 2').value).toEqual({ a: 1, b: 2, x: 'a' })
})

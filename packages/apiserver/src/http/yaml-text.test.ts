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

it.each(['a: \u0000', 'a: \u007f', 'a: \u0080', '# \uffff', 'a: "\u001b[31m"'])(
  'refuses control characters: %j',
  (text) => {
    expect(parseYamlText(text)).toMatchObject({ problem: 'yaml: control characters are not allowed' })
  },
)

it.each(['\ufeffa: b', 'a: b # \u0085', '\u{1f600}: b', 'a: "\\0"\r\n\tb: c'.slice(0, 7)])(
  'takes other characters: %j',
  (text) => {
    expect(parseYamlText(text).problem).toBeUndefined()
  },
)

it('says what Go has against a document in its words', () => {
  expect(parseYamlText('a: .inf')).toEqual({
    value: undefined,
    duplicates: [],
    problem: 'json: unsupported value: +Inf',
  })
  expect(parseYamlText('b: 5\n<<: {b: 1}')).toEqual({
    value: { b: 1 },
    duplicates: ['line 2: key "b" already set in map'],
  })
})

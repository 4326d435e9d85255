import { describe, expect, it } from 'vitest'
import { compareKeys } from './compare-keys.ts'
import { goYamlText } from './go-yaml.ts'

describe('compareKeys', () => {
  it.each([
    // What kubectl 1.36 printed.
    ['_b 1 2 10 A a-b a.b a_b a1 a2 a10 aB ab'],
    ['X x-1 x.2 x.10 x_1'],
    // By the rule that zeros within a number count, and those at its beginning only by how many there are.
    ['v1 v1beta1 v9 v10 v100 v101'],
    ['a0 a00 a1'],
    ['a a1 aa'],
    ['é1 é2 ü1'],
    ['a-b a0 a00 a1 ab'],
    ['a10 a010'],
    ['1 2 02 10'],
    ['a1-0 a1-00 a1-1 a10 a100 a1000'],
    ['106 1005'],
    ['0005 006'],
    ['a1006 a1050 a1061'],
    ['a a\u0000 a\u0001'],
    ['x.y x0y x1y xy'],
    ['a b'],
    ['a-1 a.1 a_1'],
    ['😀 a'],
  ])('gives the order %s', (keys) => {
    const sorted = keys.split(' ')
    expect(sorted.toReversed().sort(compareKeys)).toEqual(sorted)
    expect(sorted.toSorted(compareKeys)).toEqual(sorted)
  })

  it('says that a key is where it is', () => {
    expect(compareKeys('a10', 'a10')).toBe(0)
  })
})

describe('goYamlText', () => {
  it('quotes texts that Go would read as numbers, and no others', () => {
    expect(goYamlText(['e8', '.e3', '.', '1e3', '0X1F', '0o17', '1.e'])).toBe(
      '- e8\n- .e3\n- .\n- "1e3"\n- "0X1F"\n- "0o17"\n- 1.e\n',
    )
  })

  it('writes maps in order, lists without an indent, and quotes what would be read as something else', () => {
    const value = {
      spec: { ports: [{ name: 'b', port: 80 }, 'x'], none: [], empty: {}, nothing: null, left: undefined },
      data: { a10: 'yes', a2: '1', text: 'two\nlines\n', quoted: "it's: so", tab: 'a\tb' },
      '10': true,
      '9': 1.5,
    }
    expect(goYamlText(value)).toBe(`"9": 1.5
"10": true
data:
  a2: "1"
  a10: "yes"
  quoted: 'it''s: so'
  tab: "a\\tb"
  text: |
    two
    lines
spec:
  empty: {}
  none: []
  nothing: null
  ports:
  - name: b
    port: 80
  - x
`)
  })

  // What kubectl 1.36 printed.
  const written = (value: unknown) => goYamlText({ of: { k: value } }).slice('of:\n  k: '.length, -1)
  const groups: readonly (readonly [how: string, write: (text: string) => string, texts: readonly string[]])[] = [
    [
      'as it is',
      (text) => text,
      [
        ...['.', '..', '--', '-a', '+', '0xg', '1e', '.5.5', '_1', '1:99', 'inf', 'nan', 'true x', 'no-op', 'on fire'],
        ...['a---', 'a...', `it's "a"`],
        ...['null.', '~x', '1 2', '1-2', '5m', '100m', '1.2.3', '10.0.0.1', '=', '<<', 'a:b', 'a#b', "it's", 'a"b'],
        ...[
          'a  b',
          'é',
          '日本',
          'x\u00a0y',
          'a]',
          'a,b',
          '?a',
          '0x',
          '0b',
          '0b2',
          '0o',
          '0o8',
          '1.5e',
          'yEs',
          'oN',
          'nUll',
        ],
        // Days that are none, and numbers beyond all.
        ...[
          '2001-13-01',
          '2001-00-01',
          '2001-01-00',
          '1900-02-29',
          '2001-04-31',
          '2001-01-32',
          '2001-02-29',
          '2001-13-01T00:00:00Z',
          '1e400',
          '-1e1000',
        ],
      ],
    ],
    [
      'in single quotes',
      (text) => `'${text.replaceAll("'", "''")}'`,
      [
        ...[
          '...',
          '---',
          '...a',
          '---a',
          '--- a',
          '-',
          '- ',
          '- a',
          'a: b',
          'a:',
          '#a',
          'a #b',
          "'a'",
          '"a"',
          ' a',
          'a ',
          '2 ',
          ' 2',
          'true ',
          '1e3 ',
        ],
        ...['#a 12', '12: a', 'on: x', '1:', '1: 2: 3', "on: 'x'", "\ue000'x: y", "'\uff1a: y"],
        ...["é'x: y", '%a', '@a', '`a', '!a', '&a', '*a', '[a', '{a', ', a', '? a', '|', '>', '|a', '>a'],
      ],
    ],
    [
      'in double quotes',
      (text) => JSON.stringify(text),
      [
        ...['', 'y', 'Y', 'n', 'N', 'yes', 'No', 'on', 'OFF', 'true', 'False', 'TRUE', 'null', 'Null', '~'],
        ...['0', '-0', '00', '01', '08', '1', '+1', '-1', '1_000', '1__0', '0777', '9223372036854775808'],
        ...['18446744073709551616', '0x1f', '0X1F', '-0x1', '0b1', '0B1', '0o7', '0O7', '-0o7', '0_o7'],
        ...['0o17', '-0b11'],
        ...['0.0', '1.0', '1.', '.5', '+.5', '-.5', '1e3', '12e03', '-2e+3', '1e-400', '0.1e-400'],
        ...[
          '.inf',
          '-.Inf',
          '+.inf',
          '.INF',
          '.nan',
          '.NaN',
          '1:30',
          '190:20:30',
          '2001-01-01',
          '2004-02-29',
          '2000-02-29',
          '2001-12-31',
          '2001-1-1',
        ],
        ...['2001-01-01T00:00:00Z', '2001-01-01t10:00:00+02:00', '2001-01-01 10:00:00', '2001-1-1 1:00:00'],
        // What blocks do not hold.
        ...['a\tb', "tab\t'q", 'a\tb\nc', 'a \nb', 'a\nb ', 'a\\ \nb', `${'word '.repeat(8)}\nb `, '\n\t|2 a'],
      ],
    ],
  ]
  it.each(groups.flatMap(([how, write, texts]) => texts.map((text) => [text, how, write(text)] as const)))(
    'writes %j %s',
    (text, _how, expected) => {
      expect(written(text)).toBe(expected)
    },
  )

  it.each([
    ['\n', '|2+\n'],
    ['\n\n\n', '|2+\n\n\n'],
    ['a\n', '|\n    a'],
    ['a\n\n', '|+\n    a\n'],
    ['a\n\n\n', '|+\n    a\n\n'],
    ['a\nb', '|-\n    a\n    b'],
    ['---\na', '|-\n    ---\n    a'],
    ['...\n', '|\n    ...'],
    ['a\n\nb', '|-\n    a\n\n    b'],
    ['a\n b', '|-\n    a\n     b'],
    ['\na', '|2-\n\n    a'],
    ['\n\na', '|2-\n\n\n    a'],
    ['\n a', '|2-\n\n     a'],
    [' a\nb', '|2-\n     a\n    b'],
  ])('writes %j as a block', (text, expected) => {
    expect(written(text)).toBe(expected)
  })

  it.each([
    ['\u{1f600}', '"\\U0001F600"'],
    ["'\u{1f600}", '"\'\\U0001F600"'],
    ['a\u0001b', '"a\\x01b"'],
    ['a\u007fb', '"a\\x7Fb"'],
    ['a\ufeffb', '"a\\uFEFFb"'],
    ['a\uffffb', '"a\\uFFFFb"'],
  ])('writes %j as %s', (text, expected) => {
    expect(written(text)).toBe(expected)
  })

  const words = 'word '.repeat(30)
  const [first, next] = ['word '.repeat(15).trim(), 'word '.repeat(15).trim()]
  it.each([
    ['no text without spaces', 'x'.repeat(100), 'x'.repeat(100)],
    ['a text', `${'a'.repeat(79)} b`, `${'a'.repeat(79)}\n    b`],
    ['a text in single quotes', `x: ${words}end`, `'x: ${first}\n    ${'word '.repeat(15)}end'`],
    ['a text in double quotes', `d\t${words}end`, `"d\\t${first}\n    ${next} end"`],
  ])('folds %s where it is long', (_, text, expected) => {
    expect(written(text)).toBe(expected)
  })

  it.each<[string, string, (text: string) => unknown]>([
    ['k: ', '  ', (k) => ({ k })],
    ['of:\n- ', '  ', (k) => ({ of: [k] })],
    ['of:\n  k: ', '    ', (k) => ({ of: { k } })],
  ])('counts columns from where a text begins: behind %j', (begin, indent, objectOf) => {
    const room = 80 - (begin.split('\n').at(-1) ?? '').length
    const [fits, tooLong] = ['a'.repeat(room), 'a'.repeat(room + 1)]
    expect(goYamlText(objectOf(`${fits} b`))).toBe(`${begin}${fits} b\n`)
    expect(goYamlText(objectOf(`${tooLong} b`))).toBe(`${begin}${tooLong}\n${indent}b\n`)
  })

  it('folds no name of a field', () => {
    const name = `${'a '.repeat(60)}b`
    expect(goYamlText({ [name]: { x: 1 } })).toBe(`${name}:\n  x: 1\n`)
  })

  it.each([
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [2 ** 53, '9007199254740992'],
    [-(2 ** 63), '-9223372036854775808'],
    [2 ** 60, '1152921504606846976'],
    [2 ** 63, '9223372036854776000'],
    [-1e18, '-1000000000000000000'],
    [-1e19, '-1e+19'],
    [1e19, '10000000000000000000'],
    [2 ** 64, '1.8446744073709552e+19'],
    [1e21, '1e+21'],
    [1e-7, '1e-07'],
  ])('writes the number %d as %s', (value, expected) => {
    expect(written(value)).toBe(expected)
  })

  it('writes what occurs twice twice', () => {
    const shared = { a: 1 }
    expect(goYamlText({ x: shared, y: shared })).toBe('x:\n  a: 1\n"y":\n  a: 1\n')
  })
})

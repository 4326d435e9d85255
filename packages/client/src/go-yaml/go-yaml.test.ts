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
})

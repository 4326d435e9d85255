import { expect, it } from 'vitest'
import { goNumber, goQuoted, goText, trimRight } from './go-text.ts'

it.each([
  [0, '0'],
  [5, '5'],
  [-100000000, '-100000000'],
  [1.5, '1.5'],
  [0.0001, '0.0001'],
  [0.000001, '1e-06'],
  [1e-7, '1e-07'],
  [123456.5, '123456.5'],
  [123456789.125, '1.23456789125e+08'],
  [2 ** 63, '9.223372036854776e+18'],
  [1e21, '1e+21'],
])('writes %d as Go does', (number, text) => {
  expect(goNumber(number)).toBe(text)
})

it.each([
  ['a "b" \\', '"a \\"b\\" \\\\"'],
  ['ä €', '"ä €"'],
  ['\t\n\x07\x01\x7f', '"\\t\\n\\a\\x01\\x7f"'],
  ['\u00a0\u200b\u{e0001}', '"\\u00a0\\u200b\\U000e0001"'],
])('quotes %j as Go does', (text, expected) => {
  expect(goQuoted(text)).toBe(expected)
})

it('writes what is nested as Go does', () => {
  expect(goText({ b: [1, null, 'x'], a: { c: true } })).toBe('map[a:map[c:true] b:[1 <nil> x]]')
})

it('takes what a text ends with off, however much of it stands within', () => {
  expect(trimRight('a//', '/')).toBe('a')
  expect(trimRight('///', '/')).toBe('')
  const path = `${'/'.repeat(200_000)}x`
  expect(trimRight(path, '/')).toBe(path)
})

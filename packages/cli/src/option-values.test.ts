import { expect, it } from 'vitest'
import { wholeNumber } from './option-values.ts'

it.each([
  ['10', 10],
  ['+7', 7],
  ['-3', -3],
  ['-0', 0],
  ['010', 8],
  ['0_7', 7],
  ['0x1F', 31],
  ['0o17', 15],
  ['-0b101', -5],
  ['1_000', 1000],
  ['0x_f', 15],
])('reads %s as Go does', (text, value) => {
  expect(wholeNumber()(text)).toBe(value)
})

it.each(['', '08', '0x', '1__0', '_1', '1_', '0b2', '1e3', '1.0', ' 1', '--1'])('takes no %j', (text) => {
  expect(() => wholeNumber()(text)).toThrow(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
})

it.each(['2147483648', '-2147483649', '0x80000000'])('has no room for %s in 32 bits', (text) => {
  expect(() => wholeNumber({ bits: 32 })(text)).toThrow('value out of range')
  expect(wholeNumber()(text)).toBe(Number(text))
})

import { expect, it } from 'vitest'
import { durationText, parseDurationNanos } from './duration-text.ts'

it.each([
  ['0', 0n],
  ['1h30m', 5_400_000_000_000n],
  ['-1.5s', -1_500_000_000n],
  ['1.s', 1_000_000_000n],
  [`${'0'.repeat(30)}1ns`, 1n],
  [`.${'1'.repeat(30)}s`, 111_111_111n],
  ['9223372036854775807ns', 9_223_372_036_854_775_807n],
  ['9223372036854775808ns', undefined],
  ['-9223372036854775808ns', -9_223_372_036_854_775_808n],
  ['2562048h', undefined],
  [`${'9'.repeat(1_000_000)}h`, undefined],
])('reads a duration as Go does, as far as an int64 holds it: %.40s', (text, nanos) => {
  expect(parseDurationNanos(text)).toBe(nanos)
})

it('refuses digits without a unit at once, however many there are', () => {
  expect(parseDurationNanos('1'.repeat(500_000))).toBeUndefined()
})

it.each(['', '5', 's', '1x', '1 s', '1m30', '.s', '1.2.3s'])('reads nothing in %j', (text) => {
  expect(parseDurationNanos(text)).toBeUndefined()
})

it('writes whole seconds as Go does', () => {
  expect([10_000, 80_000, 300_000, 3_600_000].map(durationText)).toEqual(['10s', '1m20s', '5m0s', '1h0m0s'])
})

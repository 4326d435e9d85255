import { expect, it } from 'vitest'
import { durationText, parseDurationNanos } from './duration-text.ts'

it.each([
  ['1h30m', 5_400_000_000_000n],
  ['-1.5s', -1_500_000_000n],
  ['5.s', 5_000_000_000n],
  ['.5ms', 500_000n],
  ['0', 0n],
])('reads %s', (text, nanos) => {
  expect(parseDurationNanos(text)).toBe(nanos)
})

it.each(['', '5', 's', '1x', '1 s', '1m30', '.s', '1.2.3s'])('reads nothing in %j', (text) => {
  expect(parseDurationNanos(text)).toBeUndefined()
})

it('finds out at once that very many digits are no duration', { timeout: 2_000 }, () => {
  expect(parseDurationNanos('1'.repeat(50_000))).toBeUndefined()
})

it('writes whole seconds as Go does', () => {
  expect([10_000, 80_000, 300_000, 3_600_000].map(durationText)).toEqual(['10s', '1m20s', '5m0s', '1h0m0s'])
})

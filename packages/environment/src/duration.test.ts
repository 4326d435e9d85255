import { describe, expect, it } from 'vitest'
import { durationProblem, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['1ms', 1],
    ['3s', 3000],
    ['1m0s', 60_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['2h45m', 9_900_000],
    ['.5s', 500],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['100μs', 0.1],
    ['5ns', 5e-6],
    ['-2s', -2000],
    ['+2s', 2000],
  ])('reads %s as %d ms', (text, expected) => {
    expect(parseDuration(text)).toBeCloseTo(expected, 9)
  })

  it.each(['', '5', 's', '1x', '1 s', '1m30', '--1s', '.s', '1e3s'])('refuses %j and says what to write', (text) => {
    expect(() => parseDuration(text)).toThrow(/invalid duration ".*": write a number and a unit/)
  })
})

it('says what Go says of a text that is no duration, however long it is', () => {
  const digits = '1'.repeat(500_000)
  expect(durationProblem(digits)).toBe(`time: missing unit in duration "${digits}"`)
  expect(durationProblem('5x')).toBe('time: unknown unit "x" in duration "5x"')
  expect(durationProblem('2562048h')).toBe('time: invalid duration "2562048h"')
})

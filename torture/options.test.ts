import { expect, it } from 'vitest'
import { parseOptions, parts } from './options.ts'

const parse = (...args: readonly string[]) => parseOptions(args, () => 42)

it('does everything, with a seed of its own, unless told otherwise', () => {
  expect(parse()).toEqual({ seed: 42, kills: 100, rests: 16, faults: 45, readyMs: 500, parts: new Set(parts) })
})

it('takes options and parts by name', () => {
  expect(
    parse('floods', '--kills', '7', '--rests', '3', '--faults=9', '--seed', '1', '--ready-ms', '90', 'kills'),
  ).toEqual({
    seed: 1,
    kills: 7,
    rests: 3,
    faults: 9,
    readyMs: 90,
    parts: new Set(['floods', 'kills']),
  })
})

it.each([
  [['--kills', 'many'], '--kills takes a whole number, not many'],
  [['--kills=-1'], '--kills takes a whole number, not -1'],
  [['--storms', '1'], "Unknown option '--storms'"],
  [['fault'], 'there is no part named fault: there are kills, rests, faults, starvation, floods'],
])('refuses %j', (args, message) => {
  expect(() => parse(...args)).toThrow(message)
})

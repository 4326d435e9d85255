import { describe, expect, it } from 'vitest'
import { compileCel } from './program.ts'
import { types } from './types.ts'

function errorOf(source: string): string {
  const compiled = compileCel(source, new Map([['text', types.dyn]]))
  if ('problem' in compiled) return compiled.problem
  const outcome = compiled.program.run(new Map([['text', 'x']]), 1_000_000)
  return 'error' in outcome ? outcome.error : `value: ${outcome.value}`
}

/** What Kubernetes 1.36 says, with cel-go 0.26. */
describe('values that a function does not take', () => {
  it.each([
    // An operator that takes some values of the type on its left tells nothing.
    ['text + 1', 'no such overload'],
    ["dyn(1) + 'a'", 'no such overload'],
    ['dyn([1]) + dyn({})', 'no such overload'],
    ['dyn(1u) % dyn(1)', 'no such overload'],
    ["dyn(b'a') < dyn('a')", 'no such overload'],
    ["dyn(duration('1s')) >= 1", 'no such overload'],
    ['-dyn(true)', 'no such overload'],
    // One that takes none of that type tells its name,
    ['dyn(null) + 1', 'no such overload: _+_'],
    ['dyn(true) - 1', 'no such overload: _-_'],
    ['dyn([1]) * 2', 'no such overload: _*_'],
    ["dyn(b'a') / 2", 'no such overload: _/_'],
    ['dyn(1.0) % 2', 'no such overload: _%_'],
    ['dyn([1]) < dyn([2])', 'no such overload: _<_'],
    ['dyn({}) <= dyn(1)', 'no such overload: _<=_'],
    ['dyn(type(1)) > dyn(1)', 'no such overload: _>_'],
    ['dyn(null) >= dyn(1)', 'no such overload: _>=_'],
    ['-dyn(1u)', 'no such overload: -_'],
    ['size(dyn(1))', 'no such overload: size'],
    // unless such values are asked themselves.
    ['text - 1', 'no such overload'],
    ['-text', 'no such overload'],
    ["dyn(duration('1s')) * 2", 'no such overload'],
    ["size(dyn(timestamp('2020-01-01T00:00:00Z')))", 'no such overload'],
    // Some tell nothing of any value,
    ['!dyn(null)', 'no such overload'],
    ['1 in text', 'no such overload'],
    ["dyn(1).contains('a')", 'no such overload'],
    ["dyn(1).startsWith('a')", 'no such overload'],
    ["dyn(null).endsWith('a')", 'no such overload'],
    ["dyn(1).matches('a')", 'no such overload'],
    // and others all.
    ["dyn(1).split(',')", 'no such overload: split(int, string)'],
    ['sets.contains(text, [1])', 'no such overload: sets.contains(string, list)'],
    ['text.hasValue()', 'no such overload: hasValue(string)'],
    ['int(dyn(null))', 'no such overload: int(null_type)'],
  ])('%s: %s', (source, error) => {
    expect(errorOf(source)).toBe(error)
  })

  it.each([
    ['text', 'types.String'],
    ['dyn(1)', 'types.Int'],
    ['dyn(1u)', 'types.Uint'],
    ['dyn(1.0)', 'types.Double'],
    ['dyn(true)', 'types.Bool'],
    ["dyn(b'a')", 'types.Bytes'],
    ['dyn(null)', 'types.Null'],
    ["dyn(duration('1s'))", 'types.Duration'],
    ['dyn(timestamp(1))', 'types.Timestamp'],
    ['dyn(type(1))', '*types.Type'],
    ['dyn(optional.of(1))', '*types.Optional'],
  ])('%s has no elements', (source, name) => {
    expect(errorOf(`${source}.all(x, true)`)).toBe(`got '${name}', expected iterable type`)
  })

  it.each([
    ["('%' + 'd').format([text])", 'decimal clause can only be used on integers, was given string'],
    ["('%' + 'f').format([text])", 'fixed-point clause can only be used on doubles, was given string'],
    ["('%' + 'e').format([text])", 'scientific clause can only be used on doubles, was given string'],
    ["('%' + 'b').format([text])", 'only integers and bools can be formatted as binary, was given string'],
    ["('%' + 'o').format([text])", 'octal clause can only be used on integers, was given string'],
    ["('%' + 'X').format([true])", 'only integers, byte buffers, and strings can be formatted as hex, was given bool'],
    [
      "('%' + 's').format([optional.of(1)])",
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type',
    ],
  ])('%s', (source, problem) => {
    expect(errorOf(source)).toBe(`error during formatting: ${problem}`)
  })
})

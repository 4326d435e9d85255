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

  const values: Readonly<Record<string, string>> = {
    int: '1',
    uint: '1u',
    double: '1.0',
    bool: 'true',
    string: "'a'",
    bytes: "b'a'",
    list: '[1]',
    map: '{}',
    null: 'null',
    duration: "duration('1s')",
    timestamp: 'timestamp(1)',
  }

  // What is on the right fits nothing.
  it.each([
    ['+', 'int uint double string bytes list duration timestamp'],
    ['-', 'int uint double string duration timestamp'],
    ['*', 'int uint double string duration timestamp'],
    ['/', 'int uint double string duration timestamp'],
    ['%', 'int uint string duration timestamp'],
    ['<', 'int uint double bool string bytes duration timestamp'],
    ['<=', 'int uint double bool string bytes duration timestamp'],
    ['>', 'int uint double bool string bytes duration timestamp'],
    ['>=', 'int uint double bool string bytes duration timestamp'],
  ])('%s tells nothing of %s on its left, and its name of all else', (operator, types) => {
    const silent = Object.entries(values)
      .filter(([, value]) => errorOf(`dyn(${value}) ${operator} dyn(null)`) === 'no such overload')
      .map(([type]) => type)
    const named = Object.entries(values)
      .filter(([, value]) => errorOf(`dyn(${value}) ${operator} dyn(null)`) === `no such overload: _${operator}_`)
      .map(([type]) => type)
    expect(silent).toEqual(types.split(' '))
    expect([...silent, ...named].toSorted()).toEqual(Object.keys(values).toSorted())
  })

  it.each([
    ['s', 'int uint double bool string bytes list map null duration timestamp'],
    ['d', 'int uint'],
    ['f', 'double string'],
    ['e', 'double string'],
    ['b', 'int uint bool'],
    ['o', 'int uint'],
    ['x', 'int uint string bytes'],
    ['X', 'int uint string bytes'],
  ])('a format with %%%s takes %s, and what may be anything', (verb, types) => {
    const taken = Object.entries(values).filter(
      ([, value]) => !errorOf(`'%${verb}'.format([${value}])`).includes('<input>'),
    )
    expect(taken.map(([type]) => type)).toEqual(types.split(' '))
    expect(errorOf(`'%${verb}'.format([text])`)).not.toContain('<input>')
  })

  it.each([
    [
      "'%d'.format([[1]])",
      '<input>:1:14: error during formatting: decimal clause can only be used on integers, was given list',
    ],
    ["'%d'.format([{}])", 'was given map'],
    ["'%d'.format([null])", 'was given null_type'],
    ["'%d'.format([int])", 'was given type'],
    ["'%X'.format([duration('1s')])", 'was given google.protobuf.Duration'],
    ["'%X'.format([timestamp(1)])", 'was given google.protobuf.Timestamp'],
    ["'%s'.format([{'a': optional.none()}])", '<input>:1:33: error during formatting: string clause'],
    ["'%s'.format([[[optional.none()]]])", '<input>:1:29: error during formatting: string clause'],
    ["'%s'.format([{optional.none(): 1}])", '<input>:1:28: error during formatting: string clause'],
    ["'%d %d'.format([1, 2])", 'value: 1 2'],
    ['text.format([optional.none()])', 'value: x'],
  ])('%s: %s', (source, told) => {
    expect(errorOf(source)).toContain(told)
  })

  it.each([
    ["[1, 'a', 2.0]", ["1:5: expected type 'int' but found 'string'"]],
    [
      "{'a': 1, 'b': 'x', 2: 3.0}",
      [
        "1:15: expected type 'int' but found 'string'",
        "1:20: expected type 'string' but found 'int'",
        "1:23: expected type 'int' but found 'double'",
      ],
    ],
    ["[?optional.of(1), 'a']", ["1:19: expected type 'int' but found 'string'"]],
    ["{'a': 1, ?'b': optional.of('x')}", ["1:27: expected type 'int' but found 'string'"]],
    ['[?optional.of(1), 2]', []],
    ['[[], [1], [2]]', []],
  ])('%s mixes types: %s', (source, told) => {
    const problems = [...errorOf(source).matchAll(/<input>:(.*)/g)].map(([, problem]) => problem)
    expect(problems).toEqual(told)
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

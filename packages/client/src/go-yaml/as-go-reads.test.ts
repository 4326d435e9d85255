import { describe, expect, it } from 'vitest'
import { LineCounter, parseDocument } from 'yaml'
import { asGoReads } from './as-go-reads.ts'
import { goTags } from './go-tags.ts'

function read(text: string): { value: unknown; repeated: readonly string[] } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { version: '1.1', customTags: goTags, uniqueKeys: false, lineCounter })
  const repeated: string[] = []
  asGoReads(document, (key, position) => repeated.push(`${lineCounter.linePos(position).line} ${key}`))
  return { value: document.toJS(), repeated }
}

describe('a document as Go reads it', () => {
  it.each<readonly [string, string, unknown, readonly string[]]>([
    ['before it', 'b: 5\n<<: {b: 1}', { b: 1 }, ['2 "b"']],
    ['after it', '<<: {b: 1}\nb: 5', { b: 5 }, ['2 "b"']],
    ['around it', 'a: &a {b: 1}\nc:\n  d: 2\n  b: 2\n  <<: *a', { a: { b: 1 }, c: { b: 1, d: 2 } }, ['1 "b"']],
    ['of a list of them', '<<: [{a: 1}, {a: 2, b: 2}]\nc: 3', { a: 1, b: 2, c: 3 }, ['1 "a"']],
    ['in what is merged', 'b: 9\n<<: {b: 3, <<: {b: 1}}', { b: 1 }, ['2 "b"', '2 "b"']],
    ['in quotes', 'b: 5\n"<<": {b: 1}', { b: 5, '<<': { b: 1 } }, []],
  ])('takes the last value of a key, where a map is merged with one %s', (_, text, value, repeated) => {
    expect(read(text)).toEqual({ value, repeated })
  })

  it.each([
    ['a: 1\na: 2', ['2 "a"']],
    ['a:\n  x: 1\na:\n  z: 2', ['4 "a"']],
    ['a: 1\na:\nb: 1', ['2 "a"']],
    ['1: a\n1: b\n"1": c', ['2 1']],
    ['yes: a\ntrue: b', ['2 true']],
  ])('says of a repeated key where its value is: %j', (text, repeated) => {
    expect(read(text).repeated).toEqual(repeated)
  })

  it.each([
    ['a: .inf', 'json: unsupported value: +Inf'],
    ['a: [-.Inf]', 'json: unsupported value: -Inf'],
    ['a: .NaN', 'json: unsupported value: NaN'],
    ['~: b', 'unsupported map key of type: %!s(<nil>), key: <nil>'],
    ['[a]: b', 'yaml: invalid map key'],
    ['x: &x [1]\n? *x\n: 1', 'yaml: invalid map key'],
    ['<<: 3', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: &a [{b: 1}]\nc: {<<: *a}', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: &a {<<: *a}', 'yaml: anchor value contains itself'],
    ['%YAML 1.2\n---\na: yes', 'yaml: found incompatible YAML document'],
  ])('refuses %j', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('refuses maps that are merged into each other very often', () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `m${index + 1}: &m${index + 1} {<<: [*m${index}, *m${index}]}`,
    )
    expect(() => read(`m0: &m0 {a: 1}\n${levels.join('\n')}`)).toThrow('document contains excessive aliasing')
  })

  it.each([
    ['a: 1e400', { a: '1e400' }],
    ['a: !!binary aGk=', { a: 'hi' }],
    ['a: !!binary |\n  aG\n  k=', { a: 'hi' }],
    ['a: 2001-01-01', { a: '2001-01-01' }],
    ['a: 12:30', { a: '12:30' }],
    ['a: !!set {b, c}', { a: { b: null, c: null } }],
  ])('reads %j', (text, value) => {
    expect(read(text).value).toEqual(value)
  })
})

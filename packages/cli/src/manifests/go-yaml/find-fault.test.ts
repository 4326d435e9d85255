import { describe, expect, it } from 'vitest'
import { findFault } from './find-fault.ts'

describe('findFault', () => {
  // What kubectl 1.35 says of these.
  it.each([
    ['a tab as indentation', 'metadata:\n\tname: x\n', 'line 2: found character that cannot start any token'],
    ['a tab after spaces', 'a:\n  b: 1\n\tc: 2\n', 'line 3: found a tab character that violates indentation'],
    [
      'a field too deep',
      'metadata:\n  name: x\n   labels: y\n',
      'line 3: mapping values are not allowed in this context',
    ],
    ['a field not deep enough', 'a:\n  b: 1\n c: 2\n', 'line 2: did not find expected key'],
    ['a field under a text', 'a: 1\n  b: 2\n', 'line 2: mapping values are not allowed in this context'],
    ['an item not deep enough', 'a:\n  - b: 1\n    c: 2\n   d: 3\n', "line 3: did not find expected '-' indicator"],
    ['fields after items', '- a\nb: 1\n', "line 1: did not find expected '-' indicator"],
    ['items after fields', 'a: 1\n- b\n', 'line 1: did not find expected key'],
    ['an open double quote', 'a: "x\nb: 1\n', 'line 3: found unexpected end of stream'],
    ['an open single quote', "a: 'x\nb: 1\n", 'line 3: found unexpected end of stream'],
    ['an open list', 'a: [1, 2\nb: 3\n', "line 1: did not find expected ',' or ']'"],
    ['an open mapping', 'a: {b: 1\nc: 2\n', "line 1: did not find expected ',' or '}'"],
    ['text after quotes', 'a: "b" c\n', 'did not find expected key'],
    ['a comma too many', 'a: [1,,2]\n', 'did not find expected node content'],
    ['a bracket too many', 'a: ]\n', 'did not find expected node content'],
    ['no colon', 'a: 1\nb\nc: 2\n', "line 3: could not find expected ':'"],
    [
      'no colon in the first line',
      'apiVersion v1\nkind: Pod\n',
      'line 2: mapping values are not allowed in this context',
    ],
    ['two colons', 'a: b: c\n', 'mapping values are not allowed in this context'],
    ['a reserved character', 'a: @b\n', 'found character that cannot start any token'],
    ['an unknown alias', 'a: *b\n', "unknown anchor 'b' referenced"],
    ['an unknown escape', 'a: "\\q"\n', 'found unknown escape character'],
    ['a control character', 'a: \u0001\n', 'control characters are not allowed'],
    ['text after the mark of a block', 'a: |x\n  b\n', 'did not find expected comment or line break'],
    ['a second value', '? a\n: b\n: c\n', 'line 2: did not find expected key'],
  ])('tells of %s', (_, text, expected) => {
    expect(findFault(text)).toBe(expected)
  })

  it.each([
    ['fields, lists and texts', "a: 1\nb:\n- c: [1, {d: \"e\"}]\n  f: 'g''h'\n-\n  - i\nj: {k: l, m}\n"],
    ['blocks', 'a: |\n  one\n    two\n\nb: >-\n  three\n  four: five\nc: |2\n    six\n'],
    ['texts of several lines', 'a: one\n  two\nb: "three\n  four \\\n  five"\n'],
    ['anchors and aliases', 'a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n'],
    ['tags and keys of their own lines', 'a: !!str 1\n? b\n: c\n'],
    ['a field twice', 'a: 1\na: 2\n'],
    ['a tab after a colon', 'a:\tb # a comment\n'],
    ['nothing', '# a comment\n'],
  ])('takes %s', (_, text) => {
    expect(findFault(text)).toBeUndefined()
  })
})

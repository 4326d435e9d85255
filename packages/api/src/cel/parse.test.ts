import { describe, expect, it } from 'vitest'
import { CelSyntaxError } from './errors.ts'
import { parseCel } from './parse.ts'
import { compileCel } from './program.ts'
import { types } from './types.ts'

/** The tokens with which an operand begins. */
const operand =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

function problemOf(source: string): string {
  try {
    parseCel(source)
    return 'none'
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return `${error.offset + 1}: ${error.message}`
  }
}

// What kube-apiserver 1.36.2 answers to the same, with the column.
describe('an expression that does not parse', () => {
  it.each<[source: string, column: number, problem: string]>([
    ['1 1', 3, "extraneous input '1' expecting <EOF>"],
    ['1 1 1', 3, "mismatched input '1' expecting <EOF>"],
    ['a b', 3, "extraneous input 'b' expecting <EOF>"],
    ['(1', 3, "missing ')' at '<EOF>'"],
    ['[1', 3, "mismatched input '<EOF>' expecting {']', ','}"],
    ['[1,', 4, "missing ']' at '<EOF>'"],
    ['{1', 3, "mismatched input '<EOF>' expecting ':'"],
    ['{1:', 4, `mismatched input '<EOF>' expecting ${operand}`],
    ['{1:2', 5, "mismatched input '<EOF>' expecting {'}', ','}"],
    ['1 +', 4, `mismatched input '<EOF>' expecting ${operand}`],
    ['1 ==', 5, `mismatched input '<EOF>' expecting ${operand}`],
    ['1 ? 2', 6, "mismatched input '<EOF>' expecting ':'"],
    ['1 ? 2 :', 8, `mismatched input '<EOF>' expecting ${operand}`],
    [
      'f(',
      3,
      "mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['f(1', 4, "missing ')' at '<EOF>'"],
    ['f(1 2)', 5, "extraneous input '2' expecting ')'"],
    ['a.', 3, "no viable alternative at input '.'"],
    ['a.1', 2, "extraneous input '.1' expecting <EOF>"],
    [
      'a[',
      3,
      "mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['a[1', 4, "missing ']' at '<EOF>'"],
    ['a[1 2]', 5, "extraneous input '2' expecting ']'"],
    [')', 1, `mismatched input ')' expecting ${operand}`],
    ['1)', 2, "extraneous input ')' expecting <EOF>"],
    ['1 )2', 3, "mismatched input ')' expecting <EOF>"],
    ['a.b c', 5, "extraneous input 'c' expecting <EOF>"],
    ['"x" "y"', 5, 'extraneous input \'"y"\' expecting <EOF>'],
    ['true false', 6, "extraneous input 'false' expecting <EOF>"],
    [
      '{',
      2,
      "mismatched input '<EOF>' expecting {'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['{a', 3, "mismatched input '<EOF>' expecting ':'"],
    ['A{', 3, "mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"],
    ['A{a', 4, "mismatched input '<EOF>' expecting ':'"],
    ['A{a:', 5, `mismatched input '<EOF>' expecting ${operand}`],
    ['A{a:1', 6, "mismatched input '<EOF>' expecting {'}', ','}"],
    ['A{1:2}', 3, "mismatched input '1' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"],
    ['a ? b c', 7, "missing ':' at 'c'"],
    [
      'has(',
      5,
      "mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['[1 2]', 4, "extraneous input '2' expecting {']', ','}"],
    ['{1 2}', 4, "missing ':' at '2'"],
    ['* 2', 1, `extraneous input '*' expecting ${operand}`],
    ['1 in', 5, `mismatched input '<EOF>' expecting ${operand}`],
    ['&& a', 1, `extraneous input '&&' expecting ${operand}`],
    ['a &&', 5, `mismatched input '<EOF>' expecting ${operand}`],
    ['a.?b c', 6, "extraneous input 'c' expecting <EOF>"],
    ['a[?1', 5, "missing ']' at '<EOF>'"],
    ['1 200Mi', 3, "mismatched input '200' expecting <EOF>"],
    [
      '[',
      2,
      "mismatched input '<EOF>' expecting {'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['f(1,', 5, `mismatched input '<EOF>' expecting ${operand}`],
    ['{1:2,', 6, "missing '}' at '<EOF>'"],
    ['A{a:1,', 7, "missing '}' at '<EOF>'"],
    ['((1', 4, "mismatched input '<EOF>' expecting ')'"],
    ['[[1', 4, "mismatched input '<EOF>' expecting {']', ','}"],
    ['a ? (1', 7, "mismatched input '<EOF>' expecting ')'"],
    ['f(g(1', 6, "mismatched input '<EOF>' expecting ')'"],
    ['1 +)', 4, `mismatched input ')' expecting ${operand}`],
    ['1 + * 2', 5, `extraneous input '*' expecting ${operand}`],
    ['(1 + 2', 7, "missing ')' at '<EOF>'"],
    ['[1 2 3]', 4, "mismatched input '2' expecting {']', ','}"],
    ['f(1 2 3)', 5, "mismatched input '2' expecting ')'"],
    ['[(1', 4, "mismatched input '<EOF>' expecting ')'"],
    ['{1:(2', 6, "mismatched input '<EOF>' expecting ')'"],
    ['1 + (2 * 3', 11, "missing ')' at '<EOF>'"],
    [
      'a.b(',
      5,
      "mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['a.b(1', 6, "missing ')' at '<EOF>'"],
    [
      'f(,1)',
      3,
      "extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['(', 2, `mismatched input '<EOF>' expecting ${operand}`],
    ['()', 2, `mismatched input ')' expecting ${operand}`],
    [
      'a[]',
      3,
      "mismatched input ']' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['a[?', 4, `mismatched input '<EOF>' expecting ${operand}`],
    ['1 : 2', 3, "mismatched input ':' expecting <EOF>"],
    [
      'f(* 1)',
      3,
      "extraneous input '*' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
    ['(1]', 3, "mismatched input ']' expecting ')'"],
    ['[1)', 3, "mismatched input ')' expecting {']', ','}"],
    ['a ? b', 6, "mismatched input '<EOF>' expecting ':'"],
    ['{1 2:3}', 4, "extraneous input '2' expecting ':'"],
    ['1 + 2)', 6, "extraneous input ')' expecting <EOF>"],
    ['a[1 2 3]', 5, "mismatched input '2' expecting ']'"],
    ['{1:2 3}', 6, "extraneous input '3' expecting {'}', ','}"],
    ['A{a:1 b}', 7, "extraneous input 'b' expecting {'}', ','}"],
    ['A{a 1}', 5, "missing ':' at '1'"],
  ])('%s is told of as upstream does', (source, column, problem) => {
    expect(problemOf(source)).toBe(`${column}: Syntax error: ${problem}`)
  })
})

// What cel-go 0.26 tells, by the line of each problem.
describe('all that is wrong is told', () => {
  const linesOf = (source: string): readonly string[] => {
    const compiled = compileCel(source, new Map([['self', types.dyn]]))
    if (!('problem' in compiled)) return []
    return compiled.problem.split('\n').flatMap((line) => (line.startsWith('ERROR: ') ? [line.slice(15)] : []))
  }
  const unrecognized = (text: string): string => `Syntax error: token recognition error at: '${text}'`
  const extraneous = (text: string): string => `Syntax error: extraneous input '${text}' expecting <EOF>`

  it.each<[source: string, lines: readonly string[]]>([
    ['self.a = 1', [`1:8: ${unrecognized('= ')}`, `1:10: ${extraneous('1')}`]],
    ['self.a=1', [`1:7: ${unrecognized('=1')}`]],
    ['self | self', [`1:6: ${unrecognized('| ')}`, `1:8: ${extraneous('self')}`]],
    ["self == 'x' = 'y'", [`1:13: ${unrecognized('= ')}`, `1:15: ${extraneous("'y'")}`]],
    ["'it's'", [`1:5: ${extraneous('s')}`, `1:6: ${unrecognized("'")}`]],
    ["'abc", [`1:1: ${unrecognized("'abc")}`, `1:5: Syntax error: mismatched input '<EOF>' expecting ${operand}`]],
    // What began as a string of several lines is an empty one, and what has a letter before it is a name.
    ["'''abc", [`1:3: ${unrecognized("'abc")}`]],
    ["b'abc", [`1:2: ${unrecognized("'abc")}`]],
    ["'a\\qb'", [`1:1: ${unrecognized("'a\\q")}`, `1:6: ${unrecognized("'")}`]],
    [
      '"\\268"',
      [
        `1:1: ${unrecognized('"\\268')}`,
        `1:6: ${unrecognized('"')}`,
        `1:7: Syntax error: mismatched input '<EOF>' expecting ${operand}`,
      ],
    ],
    ['`a', [`1:1: ${unrecognized('`a')}`, `1:3: Syntax error: mismatched input '<EOF>' expecting ${operand}`]],
    ['self 👑', [`1:6: ${unrecognized('👑')}`]],
    ['[1].all(if, true)', ['1:9: reserved identifier: if', '1:9: argument must be a simple name']],
    [
      'if(for) + 0xFFFFFFFFFFFFFFFFF',
      ['1:1: reserved identifier: if', '1:4: reserved identifier: for', '1:11: invalid int literal'],
    ],
    [
      'self.map(1, 2) && self.filter(3, 4)',
      ['1:10: argument is not an identifier', '1:31: argument is not an identifier'],
    ],
    ['https://example.com', [`1:6: ${extraneous(':')}`]],
  ])('%s', (source, lines) => {
    expect(linesOf(source)).toEqual(lines)
  })

  it('of an empty text as well', () => {
    expect(linesOf('')).toEqual([`1:0: Syntax error: mismatched input '<EOF>' expecting ${operand}`])
  })
})

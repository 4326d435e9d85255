/** Regular expressions of custom resources: the syntax of RE2, matched in time linear in the text. */
import { RE2JS } from 're2js'
import { dear } from '../pieces.ts'
import type { Pattern } from '../schema/schema.ts'

/** What an instruction of a pattern takes to make, in steps of an expression. */
const instructionWeight = 4

/** A pattern, or what stands for it where it is none, which matches nothing. */
export interface CompiledPattern {
  readonly pattern: Pattern
  /** Why it is no pattern. */
  readonly problem?: string
  /** How many instructions it is made of. */
  readonly size: number
}

const weightOf = ({ size }: CompiledPattern): number => size * instructionWeight

/** How many patterns are kept: definitions use few patterns often, and rules the same with each object. */
export const patternsMax = 200

const compiledBefore = new Map<string, CompiledPattern>()

/** Makes a pattern ready to be matched, or says why it is none. */
export function compilePattern(source: string): CompiledPattern {
  const known = compiledBefore.get(source)
  if (known !== undefined) return known
  const made = dear(
    'patterns',
    () => source,
    undefined,
    () => compileAnew(source),
    weightOf,
  )
  if (compiledBefore.size >= patternsMax) compiledBefore.clear()
  compiledBefore.set(source, made)
  return made
}

function compileAnew(source: string): CompiledPattern {
  try {
    const compiled = RE2JS.compile(source)
    const find = (text: string): boolean => compiled.matcher(text).find()
    const pattern: Pattern = {
      source,
      matches: (text) =>
        dear(
          pattern,
          () => text,
          undefined,
          () => find(text),
          () => text.length,
        ),
    }
    return { pattern, size: compiled.programSize() }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { pattern: { source, matches: () => false }, problem, size: source.length }
  }
}

/** What a pattern finds in a text, at most `limit` times; the problem where it is none. */
export function findPattern(
  source: string,
  text: string,
  limit = Number.POSITIVE_INFINITY,
): readonly string[] | string {
  try {
    const matcher = RE2JS.compile(source).matcher(text)
    const found: string[] = []
    let end = -1
    while (found.length < limit && matcher.find()) {
      // As in Go nothing is found where what was found before has ended.
      if (matcher.start() === matcher.end() && matcher.start() === end) continue
      end = matcher.end()
      found.push(matcher.group() ?? '')
    }
    return found
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

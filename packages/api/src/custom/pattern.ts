/** Regular expressions of custom resources: the syntax of RE2, matched in time linear in the text. */
import { RE2JS } from 're2js'
import type { Pattern } from '../schema/schema.ts'

/** A pattern, or what stands for it where it is none, which matches nothing. */
export interface CompiledPattern {
  readonly pattern: Pattern
  /** Why it is no pattern. */
  readonly problem?: string
}

/** How many patterns are kept: definitions use few patterns often, and rules the same with each object. */
export const patternsMax = 200

const compiledBefore = new Map<string, CompiledPattern>()

/** Makes a pattern ready to be matched, or says why it is none. */
export function compilePattern(source: string): CompiledPattern {
  const known = compiledBefore.get(source)
  if (known !== undefined) return known
  const made = compileAnew(source)
  if (compiledBefore.size >= patternsMax) compiledBefore.clear()
  compiledBefore.set(source, made)
  return made
}

function compileAnew(source: string): CompiledPattern {
  try {
    const compiled = RE2JS.compile(source)
    return { pattern: { source, matches: (text) => compiled.matcher(text).find() } }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { pattern: { source, matches: () => false }, problem }
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

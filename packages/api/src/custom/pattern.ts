/** Regular expressions of custom resources: the syntax of RE2, matched in time linear in the text. */
import { RE2JS } from 're2js'
import type { Pattern } from '../schema/schema.ts'

/** Makes a pattern ready to be matched, or says why it is none. */
export function compilePattern(source: string): { readonly pattern: Pattern; readonly problem?: string } {
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
    while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '')
    return found
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

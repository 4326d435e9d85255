import { badRequest, tooManyRequests } from '@coracle/api'
import { jsonBytesError } from '@coracle/api/json-syntax'
import { busyMessage } from '../../store-errors.ts'
import { yamlInlineLengthMax } from '../representation/format.ts'

/** A text of JSON or YAML as parsed. */
export interface ParsedText {
  readonly value: unknown
  /** What is said of fields that occur twice. */
  readonly duplicates: readonly string[]
  /** Why it could not be parsed. */
  readonly problem?: string
  /** Why it is JSON and still cannot be an object: a number that JSON allows and no float64 holds. */
  readonly misfit?: string
}

/**
 * Bytes that are no UTF-8 have the problem that a JSON parser finds in them, which for YAML is mostly the first byte. Throws BadRequest
 * where that finds none.
 */
export function parseUndecodable(body: Buffer): ParsedText {
  const problem = jsonBytesError(body)
  if (!problem.startsWith('invalid character')) throw badRequest('the body of the request is not valid UTF-8')
  return { value: undefined, duplicates: [], problem }
}

/** The first document of a YAML text, read in a thread where it is long. Throws TooManyRequests where too many texts wait for that. */
export async function parseYaml(text: string): Promise<ParsedText> {
  const parsed = await readYaml(text)
  if (parsed === undefined) throw tooManyRequests(busyMessage, 1)
  return parsed
}

/** Neither reader is loaded before the first YAML comes. */
async function readYaml(text: string): Promise<ParsedText | undefined> {
  if (text.length <= yamlInlineLengthMax) return (await import('../yaml-text.ts')).parseYamlText(text, true)
  return (await import('../yaml-thread.ts')).parseYamlInThread(text, true)
}

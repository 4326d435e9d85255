import { badRequest, type FieldValidation, oddNumber } from '@coracle/api'
import type { PatchType } from '@coracle/client'
import { pauseFor } from '../../registry/large-objects.ts'
import type { RequestedPatch } from '../../registry-contract.ts'
import type { WorkTurns } from '../../work-turns.ts'
import { type ExpectedKind, isCustom } from './expected-kind.ts'
import { hasRepeatedFields, oddFieldsOf, parsePatchJson } from './json-text.ts'
import { checkDepth, checkJsonText } from './limits.ts'
import { type ParsedText, parseUndecodable, parseYaml } from './parsed-text.ts'
import { decodeBrokenText, decodeText } from './utf8-text.ts'
import { duplicateKeysError } from './wording.ts'

/** A patch as parsed, with texts for `Warning` headers. */
export interface ParsedPatch {
  readonly change: RequestedPatch
  readonly warnings: readonly string[]
}

/** How a patch is to be read. */
export interface PatchReading {
  readonly type: PatchType
  /** The kind of the object that is patched. */
  readonly expected: Pick<ExpectedKind, 'schema'>
  readonly fieldValidation: FieldValidation
  /** Others are served while a large patch is read. */
  readonly turns?: WorkTurns
}

/** A text, and which of the two it was read as. */
interface ReadText {
  readonly format: 'json' | 'yaml'
  readonly parsed: ParsedText
}

/**
 * A patch: JSON, or YAML where a configuration is applied. Throws BadRequest where it cannot be read.
 *
 * Fields that occur twice are warnings with `Warn`. With `Strict` they are an error: at once in a configuration that is applied; else
 * `change` carries them, to be refused together with what is found in the patched object (`decodePatched`).
 */
export async function parsePatch(body: Buffer, reading: PatchReading): Promise<ParsedPatch> {
  const { type, expected, fieldValidation } = reading
  const text = decodeText(body) ?? (type === 'apply' ? undefined : decodeBrokenText(body))
  const hasWrittenNumbers = text !== undefined && keepsWrittenNumbers(type, expected, text)
  const { format, parsed } = await parseText(body, text, hasWrittenNumbers, reading)
  if (parsed.misfit !== undefined) throw badRequest(parsed.misfit)
  if (parsed.problem !== undefined) throw badRequest(unreadablePatch(type, parsed.problem, fieldValidation))
  const { value } = parsed
  checkDepth(value, format, body.length)
  const duplicates =
    type === 'json' && text !== undefined && fieldValidation !== 'Ignore'
      ? await oddOperations(text, parsed)
      : parsed.duplicates
  const change = { type, body: value, hasWrittenNumbers }
  if (fieldValidation !== 'Strict') return { change, warnings: duplicates }
  if (type === 'apply' && duplicates.length > 0) {
    const problem = duplicateKeysError(duplicates)
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${problem}`)
  }
  return { change: { ...change, duplicates }, warnings: [] }
}

/** Upstream makes JSON of the object and such a patch, and decodes that: how a number is written matters until then. */
const keepsWrittenNumbers = (type: PatchType, expected: PatchReading['expected'], text: string): boolean =>
  (type === 'merge' || type === 'json') && !isCustom(expected) && oddNumber.test(text)

async function parseText(
  body: Buffer,
  text: string | undefined,
  keepsWritten: boolean,
  { type, fieldValidation, turns }: PatchReading,
): Promise<ReadText> {
  const looksLikeYaml = type === 'apply' && text !== undefined && !text.startsWith('{')
  // In YAML brackets and commas may be part of a text without quotes.
  if (!looksLikeYaml) checkJsonText(body)
  const pause = turns && pauseFor(turns, 0, body.length)
  if (text === undefined) {
    const parsed = parseUndecodable(body)
    if (pause !== undefined) await pause()
    return { format: 'json', parsed }
  }
  const json = looksLikeYaml ? undefined : parsePatchJson(text, body, keepsWritten)
  if (pause !== undefined) await pause()
  const isRepeated = json !== undefined && hasRepeatedFields(json, text, fieldValidation)
  // A configuration that is not quite JSON may still be YAML.
  if (json === undefined || (type === 'apply' && (json.problem !== undefined || isRepeated))) {
    const parsed = await parseYaml(text)
    return { format: 'yaml', parsed: fieldValidation === 'Ignore' ? { ...parsed, duplicates: [] } : parsed }
  }
  if (!isRepeated) return { format: 'json', parsed: json }
  return { format: 'json', parsed: { value: json.value, duplicates: await oddFieldsOf(text) } }
}

/** What is said of fields that operations of a JSON patch have twice, or should not have. */
async function oddOperations(text: string, { value, duplicates }: ParsedText): Promise<readonly string[]> {
  const { checkOperations, unknownOperationFields } = await import('./json-patch-operations.ts')
  checkOperations(value)
  const unknown = unknownOperationFields(value)
  const odd = unknown.size + duplicates.length === 0 ? [] : await oddFieldsOf(text, unknown)
  return odd.map((each) => `json patch ${each}`)
}

/** Upstream reads each type of patch with another library, and with a second one where it looks for unknown and duplicate fields. */
function unreadablePatch(type: PatchType, problem: string, fieldValidation: FieldValidation): string {
  if (type === 'apply') return `error decoding YAML: error converting YAML to JSON: ${problem}`
  if (type === 'strategic') return problem
  if (fieldValidation !== 'Ignore') return `error decoding patch: ${problem}`
  return type === 'merge' ? 'Invalid JSON Patch' : problem
}

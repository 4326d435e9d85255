import {
  ApiError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  FieldPath,
  type GoTypes,
  goText,
  hasReason,
  invalid,
  invalidField,
  jsonFormOf,
  type KubernetesObject,
  type ObjectSchema,
  Undecodable,
  withNumbersOf,
} from '@coracle/api'
import { type HeldClock, loadGoTypes } from '../go-types.ts'
import type { RequestedPatch } from '../registry-contract.ts'
import type { DecodedBody } from './body.ts'

/** The object with a patch applied, not yet decoded. Throws upstream's errors where it does not apply. */
export function applyPatch(schema: ObjectSchema, object: KubernetesObject, patch: RequestedPatch): unknown {
  const applied = apply(schema, object, patch)
  return patch.hasWrittenNumbers === true ? withNumbersOf(schema, applied) : applied
}

function apply(schema: ObjectSchema, object: KubernetesObject, { type, body }: RequestedPatch): unknown {
  switch (type) {
    case 'apply':
      throw new Error('a configuration is applied by its owner, not as a patch')
    case 'json':
      return body === null ? object : applyOperations(object, body)
    case 'merge':
      if (body === null) throw badRequest('Invalid JSON Patch')
      if (!isObject(body)) throw badRequest(`error decoding patch: ${noObject(body)}`)
      return applyMergePatch(object, body)
    case 'strategic':
      if (body === null) return object
      if (!isObject(body)) throw badRequest(noObject(body))
      // It is merged into an object of the kind, which it cannot make into one of another.
      return withTypeOf(object, applyStrategicMergePatch(schema, object, body))
  }
}

/** What is a list of objects passes for a JSON patch: what is wrong with its operations shows when they are applied. */
function applyOperations(object: KubernetesObject, body: unknown): unknown {
  try {
    return applyJsonPatch(jsonFormOf(object), body)
  } catch (error) {
    if (!hasReason(error, 'BadRequest') || !Array.isArray(body) || !body.every(isOperation)) throw error
    const causes = [{ reason: 'FieldValueInvalid', message: error.message, field: 'patch' }]
    throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', { causes })
  }
}

/** Also a null, which is an operation without fields. */
const isOperation = (each: unknown): boolean => each === null || isObject(each)

const isObject = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body)

function withTypeOf({ apiVersion, kind }: KubernetesObject, patched: unknown): unknown {
  const given = patched as Pick<KubernetesObject, 'apiVersion' | 'kind'>
  return given.apiVersion === apiVersion && given.kind === kind ? patched : { ...given, apiVersion, kind }
}

/** What Go says of JSON that is no object. */
function noObject(body: unknown): string {
  const type = Array.isArray(body) ? 'array' : typeof body === 'boolean' ? 'bool' : typeof body
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`
}

/**
 * Decodes a patched object. What does not decode is the patch's fault, and so is what a strict reader finds in the object or in the patch:
 * upstream answers 422 and names the field `patch`.
 */
export async function decodePatched(
  clock: HeldClock,
  patched: unknown,
  { type, body, duplicates = [] }: RequestedPatch,
  decode: (value: unknown) => DecodedBody | Promise<DecodedBody>,
): Promise<DecodedBody> {
  // Upstream puts a strategic patch into the object without going through JSON, and shows the patch.
  const refused = (problem: string) =>
    invalid({ group: '', kind: '' }, '', [
      invalidField(FieldPath.of('patch'), type === 'strategic' ? goText(body) : JSON.stringify(patched), problem),
    ])
  let decoded: DecodedBody
  try {
    decoded = await decode(patched)
  } catch (error) {
    if (!hasReason(error, 'BadRequest')) throw error
    const why = error.message.replace(/^.* cannot be handled as a \w+: /, '')
    if (why.startsWith(strictError)) throw refused(strictErrorOf([...duplicates, why.slice(strictError.length)]))
    throw refused(type === 'strategic' ? conversionProblem(why, error, await loadGoTypes(clock)) : why)
  }
  if (duplicates.length > 0) throw refused(strictErrorOf(duplicates))
  return decoded
}

const strictError = 'strict decoding error: '
const strictErrorOf = (problems: readonly string[]): string => strictError + problems.join(', ')

/** What upstream's conversion of maps into objects says where its JSON decoder says `why`. */
function conversionProblem(why: string, { cause }: Error, goTypes: GoTypes): string {
  const [, found = '', number, target = ''] = /cannot unmarshal (\S+)(?: (\S+))? into .* of type (.+)$/.exec(why) ?? []
  // The number is told where it is no integer, or none of the type: those upstream would cut to fit.
  if (number !== undefined) return /[.e]/i.test(number) ? `cannot convert float64 to ${target}` : why
  const isFraction = cause instanceof Undecodable && typeof cause.value === 'number' && !Number.isInteger(cause.value)
  const kind = isFraction ? 'float64' : goKinds[found]
  if (kind === undefined) return why
  const targetKind = goTypes.kindOf(target) ?? (/^(string|bool|u?int\d*|float\d*)$/.test(target) ? target : 'struct')
  if (targetKind === 'map' || targetKind === 'slice') return `cannot restore ${targetKind} from ${kind}`
  if (targetKind === 'struct') return `cannot restore struct from: ${kind}`
  // Go itself would turn a whole number into a text, as a character.
  return kind === 'int64' && targetKind === 'string'
    ? `cannot convert ${kind} to ${target}`
    : `unrecognized type: ${targetKind}`
}

/** Go's kinds of what JSON holds. */
const goKinds: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  number: 'int64',
  object: 'map',
  array: 'slice',
}

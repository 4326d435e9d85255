import type { CauseClaim, ReconcileOrigin } from './cause.ts'

/**
 * The HTTP header with which a client says why it writes: a CauseClaim as JSON, what is not ASCII as `\u` escapes. Servers that
 * do not know it ignore it.
 */
export const causeHeader = 'coracle-cause'

/** Longest value of the header. */
export const causeHeaderBytesMax = 4096

/** Longest `because`, in characters. */
export const becauseLengthMax = 1024

/** Most revisions that a reconcile names as newly seen. */
export const seenRevisionsMax = 8

const textLengthMax = 253

/** The value of the header; undefined where nothing is claimed. */
export function causeHeaderOf({ because, reconcile }: CauseClaim): string | undefined {
  if (because === undefined && reconcile === undefined) return undefined
  const text = JSON.stringify({ because: because === undefined ? undefined : shortened(because), reconcile })
  return text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A `because` that is not too long: what follows the longest is left out. */
export const shortened = (because: string): string =>
  because.length <= becauseLengthMax ? because : `${because.slice(0, becauseLengthMax - 1)}…`

/** Reads the header. Throws a RangeError that names the field which is not as it should be. */
export function parseCauseHeader(value: string): CauseClaim {
  if (value.length > causeHeaderBytesMax) throw new RangeError(`is longer than ${causeHeaderBytesMax} bytes`)
  const claim = record(parsed(value), 'it')
  const because = optionalText(claim.because, 'because', becauseLengthMax)
  const reconcile = claim.reconcile === undefined ? undefined : originOf(claim.reconcile)
  return { ...(because === undefined ? {} : { because }), ...(reconcile === undefined ? {} : { reconcile }) }
}

function originOf(value: unknown): ReconcileOrigin {
  const origin = record(value, 'reconcile')
  const object = record(origin.object, 'reconcile.object')
  const of = (field: string) => text(object[field], `reconcile.object.${field}`, textLengthMax)
  const optional = (field: string) => {
    const found = optionalText(object[field], `reconcile.object.${field}`, textLengthMax)
    return found === undefined ? {} : { [field]: found }
  }
  return {
    controller: text(origin.controller, 'reconcile.controller', textLengthMax),
    object: {
      apiVersion: of('apiVersion'),
      kind: of('kind'),
      name: of('name'),
      ...optional('namespace'),
      ...optional('uid'),
    },
    seen: revisions(origin.seen ?? [], 'reconcile.seen'),
  }
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    throw new RangeError('is no JSON')
  }
}

function record(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new RangeError(`${field} must be an object`)
}

function text(value: unknown, field: string, lengthMax: number): string {
  if (typeof value !== 'string' || value === '') throw new RangeError(`${field} must be a text`)
  if (value.length > lengthMax) throw new RangeError(`${field} is longer than ${lengthMax} characters`)
  return value
}

const optionalText = (value: unknown, field: string, lengthMax: number): string | undefined =>
  value === undefined ? undefined : text(value, field, lengthMax)

function revisions(value: unknown, field: string): readonly number[] {
  const isList = Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && each > 0)
  if (!isList) throw new RangeError(`${field} must be a list of revisions`)
  if (value.length > seenRevisionsMax) throw new RangeError(`${field} has more than ${seenRevisionsMax} revisions`)
  return value as number[]
}

import {
  ApiError,
  badRequest,
  expired,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalid,
  unsupportedField,
} from '@coracle/api'
import { jsonSyntaxError } from '@coracle/api/json-syntax'
import type { ListOptions } from '@coracle/client'

/** What the options of a list come to. `limit` is how many objects a page has at most; 0 stands for all. */
export type ListRequest =
  /** The present state: of any server that has reached `atLeast`, or what is acknowledged by now where that is undefined. */
  | { readonly type: 'latest'; readonly atLeast: number | undefined; readonly limit: number }
  /** The state at a revision. */
  | { readonly type: 'exact'; readonly revision: number; readonly limit: number }
  /** What follows an earlier page. A `revision` below 0: in the present state, since the page's own is no longer kept. */
  | { readonly type: 'continue'; readonly token: ContinueToken; readonly limit: number }

/** What a continue token says. Upstream's fields, and how many objects follow, so that no page counts them again. */
export interface ContinueToken {
  readonly revision: number
  /** The last key of the page before. */
  readonly afterKey: string
  readonly following: number | undefined
}

/** Reads and checks the options, as upstream's ValidateListOptions. Throws upstream's errors. */
export function parseListRequest(options: ListOptions): ListRequest {
  const errors = listOptionErrors(options)
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  const { resourceVersion = '', resourceVersionMatch, limit = 0 } = options
  if (options.continue !== undefined && options.continue !== '') {
    const token = decodeContinue(options.continue)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return { type: 'continue', token, limit }
  }
  // A limit with a version and nothing else has always meant exactly that version.
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && limit > 0)
  if (resourceVersion === '') return { type: 'latest', atLeast: undefined, limit }
  const revision = parseResourceVersion(resourceVersion)
  if (Number.isNaN(revision)) throw badRequest(`invalid resource version: ${notAVersion(resourceVersion)}`)
  if (exact && revision > 0) return { type: 'exact', revision, limit }
  // Who takes any state there is gets all of it at once.
  return { type: 'latest', atLeast: revision, limit: resourceVersion === '0' ? 0 : limit }
}

/** A number of so many digits is a safe integer, whatever they are. */
const plainDigitsMax = 15

/** Without a pattern: every update and patch asks. */
function plainNumberOf(text: string): number {
  let value = 0
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** More digits, after zeros, no number of 64 bits has. */
const digitsMax = 20
const uint64Max = 2n ** 64n - 1n

/**
 * The number a resourceVersion stands for; NaN where it is none of 64 bits. One that is no safe integer is about right: no store gets so
 * far, and all that counts is that it is still to come.
 */
export function parseResourceVersion(text: string): number {
  if (text.length > 0 && text.length <= plainDigitsMax) return plainNumberOf(text)
  if (!/^\d+$/.test(text)) return Number.NaN
  const digits = text.replace(/^0+/, '')
  return digits.length > digitsMax || BigInt(digits) > uint64Max ? Number.NaN : Number(digits)
}

/** The version that the read of an object, or a watch, asks for. Throws where it is none: for upstream that is no client's mistake. */
export function requestedVersion(text: string): number {
  const revision = parseResourceVersion(text)
  if (Number.isNaN(revision)) throw new ApiError(500, '', notAVersion(text))
  return revision
}

/** What upstream says of a resourceVersion that is no number. */
function notAVersion(text: string): string {
  const quoted = JSON.stringify(text)
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`
}

function listOptionErrors(options: ListOptions): readonly FieldError[] {
  const { resourceVersionMatch: match, resourceVersion = '' } = options
  if (match === undefined) return []
  const path = FieldPath.of('resourceVersionMatch')
  const errors: FieldError[] = []
  if (resourceVersion === '') {
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if ((options.continue ?? '') !== '') {
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(unsupportedField(path, match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbiddenField(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  return errors
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinue({ revision, afterKey, following }: ContinueToken): string {
  // The first key that may follow: the last one and the least character.
  const token = { v: tokenVersion, rv: revision, start: `${afterKey}\u0000`, following }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

function decodeContinue(text: string): ContinueToken {
  const problem = firstIllegalCharacter(text)
  if (problem >= 0) {
    throw badRequest(`invalid continue token: continue key is not valid: illegal base64 data at input byte ${problem}`)
  }
  let token: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown; readonly following?: unknown }
  const json = Buffer.from(text, 'base64url').toString()
  try {
    token = JSON.parse(json)
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: ${jsonSyntaxError(json)}`)
  }
  const { v = '', rv, start, following } = token ?? {}
  const invalidKey = 'invalid continue token: continue key is not valid'
  if (v !== tokenVersion) throw badRequest(`${invalidKey}: server does not recognize this encoded version ${v}`)
  if (!isSafeInteger(rv) || rv === 0) {
    throw badRequest(`${invalidKey}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)`)
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequest(`${invalidKey}: encoded start key empty (version meta.k8s.io/v1)`)
  }
  if (!isCleanPath(start)) throw badRequest(`${invalidKey}: ${start}`)
  const afterKey = start.endsWith('\u0000') ? start.slice(0, -1) : start
  return { revision: rv, afterKey, following: typeof following === 'number' ? following : undefined }
}

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value)

/** Whether a path, below the root, is as short as it can be said: no part of it is empty, `.` or `..`. */
const isCleanPath = (path: string): boolean =>
  path === '/' ||
  path
    .replace(/^\//, '')
    .split('/')
    .every((part) => !['', '.', '..'].includes(part))

/** Where a text stops being base64 for URLs, without padding, as Go tells it; -1 where it does not. */
function firstIllegalCharacter(text: string): number {
  const illegal = text.search(/[^A-Za-z0-9_-]/)
  return illegal < 0 && text.length % 4 === 1 ? text.length - 1 : illegal
}

/** A page of a state that is no longer kept. The Status carries a token that goes on in the present state. */
export function inconsistentContinue(token: ContinueToken): ApiError {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  )
  const metadata = { continue: encodeContinue({ ...token, revision: -1, following: undefined }) }
  return Object.assign(error, { status: { ...error.status, metadata } })
}

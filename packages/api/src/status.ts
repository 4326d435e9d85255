import { describeFieldError, type FieldError, fieldErrorsMax } from './field-error.ts'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** How the API reports the outcome of a request that returns no object. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: Readonly<Record<string, unknown>>
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  /** Absent where all is said by that of the response. */
  readonly code?: number
}

/** A request that failed for a reason its caller can act on. Reasons, codes and wording are upstream's (apimachinery's api/errors). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: Status & { readonly code: number }
  /** What whoever gets the error is warned of beside. */
  warnings: readonly string[] = []

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message)
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }

  /** The error a server's answer stands for. */
  static from(status: Status): ApiError {
    return new ApiError(status.code ?? 500, status.reason ?? 'Unknown', status.message ?? '', status.details)
  }

  get code(): number {
    return this.status.code
  }

  get reason(): string {
    return this.status.reason ?? ''
  }
}

/** Whether `error` is an ApiError with this reason, such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`. */
export function hasReason(error: unknown, reason: string): error is ApiError {
  return error instanceof ApiError && error.reason === reason
}

/** What a request was about: the group and plural of the resource, as messages show it (`deployments.apps`). */
export interface About {
  readonly group: string
  readonly plural: string
}

const qualified = (about: About): string => (about.group === '' ? about.plural : `${about.plural}.${about.group}`)
const detailsOf = (about: About, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(about.group === '' ? {} : { group: about.group }),
  kind: about.plural,
})

export const notFound = (about: About, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(about)} "${name}" not found`, detailsOf(about, name))

export const alreadyExists = (about: About, name: string): ApiError =>
  new ApiError(409, 'AlreadyExists', `${qualified(about)} "${name}" already exists`, detailsOf(about, name))

export const conflict = (about: About, name: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(about)} "${name}": ${why}`,
    detailsOf(about, name),
  )

/** The conflict of an update that carries an old resourceVersion. */
export const staleVersion = (about: About, name: string): ApiError =>
  conflict(about, name, 'the object has been modified; please apply your changes to the latest version and try again')

/**
 * `kind` is the CamelCase kind; messages show it with its group: `ReplicationController "x" is invalid: …`. Of very many
 * errors the first are named.
 */
export function invalid(
  about: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const kind = about.group === '' ? about.kind : `${about.kind}.${about.group}`
  const named = errors.slice(0, fieldErrorsMax)
  const rest = errors.length - named.length
  const more = rest === 0 ? [] : [`Too many errors: ${rest} more are not shown`]
  const texts = [...new Set(named.map(describeFieldError)), ...more]
  const [first = ''] = texts
  const message = `${kind} "${name}" is invalid: ${texts.length > 1 ? `[${texts.join(', ')}]` : first}`
  return new ApiError(422, 'Invalid', message, {
    ...(name === '' ? {} : { name }),
    ...(about.group === '' ? {} : { group: about.group }),
    ...(about.kind === '' ? {} : { kind: about.kind }),
    causes: [
      ...named.map((error) => ({ reason: error.type, message: error.message, field: error.field })),
      ...more.map((text) => ({ reason: 'FieldValueTooMany', message: text, field: '' })),
    ],
  })
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message)

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized')

export const forbidden = (about: About, name: string, why: string): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(about)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    detailsOf(about, name),
  )

export const methodNotAllowed = (about: About, action: string): ApiError =>
  new ApiError(405, 'MethodNotAllowed', `${action} is not supported on resources of kind "${qualified(about)}"`, {
    ...(about.group === '' ? {} : { group: about.group }),
    kind: about.plural,
  })

/** A watch or list from a version that is no longer kept. */
export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message)

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  // Zero is not written, as in upstream's answers.
  new ApiError(429, 'TooManyRequests', message, retryAfterSeconds === 0 ? {} : { retryAfterSeconds })

/** What is needed to answer is not there at the moment. */
export const serviceUnavailable = (message: string): ApiError => new ApiError(503, 'ServiceUnavailable', message)

export const requestTooLarge = (message: string): ApiError => new ApiError(413, 'RequestEntityTooLarge', message)

export const unsupportedMediaType = (message: string): ApiError => new ApiError(415, 'UnsupportedMediaType', message)

/** `retryAfterSeconds` where nothing has been done: clients send the request again after that. */
export const timeout = (message: string, retryAfterSeconds?: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })

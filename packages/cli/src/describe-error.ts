import type { StatusCause } from '@coracle/api'
import { ListError, SummaryError } from './cli-error.ts'

/** A refusal by the server: an ApiError, recognised by its shape so that this file needs no part of the API. */
interface Refusal extends Error {
  readonly status: {
    readonly reason?: string
    readonly message?: string
    readonly details?: { readonly kind?: string; readonly name?: string; readonly causes?: readonly StatusCause[] }
  }
}

/** An error as the command line shows it, in kubectl's words: what the server refused, or else `error: …`. */
export function describeError(error: unknown): string {
  if (isRefusal(error)) return describeRefusal(error)
  if (error instanceof AggregateError) {
    const [first, ...others] = error.errors
    const isAlone = others.length === 0 && !(error instanceof ListError)
    return isAlone ? describeError(first) : error.errors.map(describePart).join('\n')
  }
  if (error instanceof SummaryError) return error.message
  const message = (error instanceof Error ? error.message : String(error)).replace(/\n$/, '')
  return message.startsWith('error: ') ? message : `error: ${message}`
}

/** One of several errors: what the server did not refuse stands there without `error:`, and fields at fault in the line of their object. */
export function describePart(error: unknown): string {
  if (isRefusal(error)) return describeInOneLine(error)
  if (error instanceof AggregateError) {
    // Several that are one of several stand in one line, each once.
    const texts = [...new Set(plainTexts(error))]
    return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
  }
  return error instanceof Error ? error.message : describeError(error)
}

/** What the errors say that are one. */
const plainTexts = (error: unknown): readonly string[] =>
  error instanceof AggregateError ? error.errors.flatMap(plainTexts) : [plainText(error)]

/** What an error says by itself; one that says it in other words beside others has these as `plain`. */
function plainText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'plain' in error && typeof error.plain === 'string' ? error.plain : error.message
}

function describeRefusal(refusal: Refusal): string {
  const { message, status } = refusal
  return status.reason === 'Invalid' ? describeInvalid(message, status.details) : describeInOneLine(refusal)
}

function describeInOneLine({ message, status: { reason } }: Refusal): string {
  if (reason === 'Unauthorized') return 'error: You must be logged in to the server (Unauthorized)'
  return reason === undefined || reason === 'Unknown' || reason === ''
    ? `Error from server: ${message}`
    : `Error from server (${reason}): ${message}`
}

/** The fields at fault, one a line where there are several. */
function describeInvalid(message: string, details: Refusal['status']['details']): string {
  const { kind = '', name = '', causes = [] } = details ?? {}
  const problems = [...new Set(causes.map(({ field, message }) => `${field ?? ''}: ${message ?? ''}`))]
  const subject =
    kind !== '' || name !== '' ? `The ${kind} ${JSON.stringify(name)} is invalid` : 'The request is invalid'
  if (problems.length === 0) return subject.startsWith('The request') ? `${subject}: ${message}` : subject
  return problems.length === 1
    ? `${subject}: ${problems[0]}`
    : [`${subject}: `, ...problems.map((each) => `* ${each}`)].join('\n')
}

/** The same error, its message preceded by what was being done: `error when creating "x.yaml": …`. */
export function whileDoing(what: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const message = `${what}: ${error.message}`
  if (!isRefusal(error)) return new Error(message, { cause: error })
  return Object.assign(new Error(message, { cause: error }), { status: error.status })
}

/** The fields at fault, of what a server refused. */
export const causesOf = (error: unknown): readonly StatusCause[] =>
  isRefusal(error) ? (error.status.details?.causes ?? []) : []

/** Why a server refused; undefined for other errors. */
export const reasonOf = (error: unknown): string | undefined => (isRefusal(error) ? error.status.reason : undefined)

/** Whether the server has refused something. */
export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'status' in error && typeof error.status === 'object' && error.status !== null

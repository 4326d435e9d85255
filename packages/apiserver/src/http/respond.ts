import type { ServerResponse } from 'node:http'
import { ApiError, internalError } from '@coracle/api'
import type { Logger } from '@coracle/environment'

const jsonType = 'application/json'
/** As upstream: answers are a user's own. */
const privately = ['Cache-Control', 'no-cache, private']

/** Longer texts are cut, and more than these are not sent: headers have limits at the other end. */
export const warningBytesMax = 1024
export const warningsMax = 100

/** Whether a request ran out of time before its answer was ready: it has been told so. */
export const isAnswered = (response: ServerResponse): boolean => response.headersSent

/** Sends JSON that is made already. One write, no copy. */
export function sendJsonBytes(
  response: ServerResponse,
  code: number,
  bytes: Buffer,
  warnings: readonly string[] = [],
): void {
  if (isAnswered(response)) return
  const headers: (string | number)[] = [
    'Content-Type',
    jsonType,
    'Cache-Control',
    'no-cache, private',
    'Content-Length',
    bytes.length,
  ]
  if (warnings.length > 0) addWarnings(headers, warnings)
  response.writeHead(code, headers as string[])
  response.end(bytes)
}

/** Sends a value as JSON: for what is made for this answer. */
export function sendJson(
  response: ServerResponse,
  code: number,
  value: unknown,
  warnings: readonly string[] = [],
): void {
  sendJsonBytes(response, code, Buffer.from(`${JSON.stringify(value)}\n`), warnings)
}

/** JSON for people: indented. */
export function sendPrettyJson(
  response: ServerResponse,
  code: number,
  value: unknown,
  warnings: readonly string[] = [],
): void {
  sendJsonBytes(response, code, Buffer.from(`${JSON.stringify(value, null, 2)}\n`), warnings)
}

export async function sendYaml(
  response: ServerResponse,
  code: number,
  value: unknown,
  warnings: readonly string[] = [],
): Promise<void> {
  const { stringify } = await import('yaml')
  if (isAnswered(response)) return
  const bytes = Buffer.from(stringify(value, { aliasDuplicateObjects: false, version: '1.1' }))
  const headers: (string | number)[] = [
    ...['Content-Type', 'application/yaml', ...privately, 'Content-Length', bytes.length],
  ]
  addWarnings(headers, warnings)
  response.writeHead(code, headers as string[])
  response.end(bytes)
}

export function sendText(response: ServerResponse, code: number, text: string): void {
  const bytes = Buffer.from(text)
  response.writeHead(code, [
    ...['Content-Type', 'text/plain; charset=utf-8', ...privately, 'X-Content-Type-Options', 'nosniff'],
    ...['Content-Length', String(bytes.length)],
  ])
  response.end(bytes)
}

/**
 * Answers with the Status an error stands for. Errors that are not the API's are defects: they are logged with their
 * stack, and the client learns that there was one. Once an answer has begun, all that is left is to break it off.
 */
export function sendError(response: ServerResponse, error: unknown, logger: Logger): void {
  const known = error instanceof ApiError ? error : undefined
  if (known === undefined) {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
    logger.error('request failed unexpectedly', { error: message, stack, path: response.req.url })
  }
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy()
    return
  }
  const { status } = known ?? internalError('the server could not complete the request')
  const bytes = Buffer.from(`${JSON.stringify(status)}\n`)
  const headers = ['Content-Type', jsonType, ...privately, 'Content-Length', String(bytes.length)]
  const retryAfterSeconds = status.details?.retryAfterSeconds
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds))
  // What is left of a body nobody will read cannot precede the next request.
  if (!response.req.complete) headers.push('Connection', 'close')
  response.writeHead(status.code, headers)
  response.end(bytes)
}

/** RFC 7234's Warning header with the code upstream uses: `299 - "text"`. */
function addWarnings(headers: (string | number)[], warnings: readonly string[]): void {
  for (const warning of warnings.slice(0, warningsMax)) headers.push('Warning', `299 - ${quote(warning)}`)
}

/** A quoted string of printable ASCII and UTF-8 as bytes, since Node writes headers as latin1. */
function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').replace(/["\\]/g, '\\$&')
  const bytes = Buffer.from(line).subarray(0, warningBytesMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
  return `"${bytes.toString('latin1').replace(/[\x00-\x1f\x7f]/g, '')}"`
}

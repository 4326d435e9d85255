import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { ApiError, internalError } from '@coracle/api'
import type { Logger } from '@coracle/environment'
import { compress, gzipHeaders, wantsGzip } from './compression.ts'
import { type Encoded, json, prettyJson } from './representation/format.ts'
import { statusFormatOf } from './representation/representation.ts'
import { NoHandlerError } from './routes.ts'

/** As upstream: answers are a user's own. */
export const privately = ['Cache-Control', 'no-cache, private'] as const

/** Longer texts are cut, and more than these are not sent: headers have limits at the other end. */
export const warningBytesMax = 1024
export const warningsMax = 100

/** Whether a request ran out of time before its answer was ready: it has been told so. */
export const isAnswered = (response: ServerResponse): boolean => response.headersSent

/** The client went before it had said what it wants: there is nobody to answer, and nothing is wrong here. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/**
 * Sends an answer when it is made: one write, no copy; compressed where that was asked for and is worth it. What fails in
 * making it rejects.
 */
export function send(
  response: ServerResponse,
  code: number,
  contentType: string,
  encoded: Encoded,
  warnings: readonly string[] = [],
  cacheControl: string = privately[1],
): void | Promise<void> {
  if (encoded instanceof Promise) {
    return encoded.then((bytes) => send(response, code, contentType, bytes, warnings, cacheControl))
  }
  if (isAnswered(response)) return
  if (wantsGzip(response.req, encoded.length)) return sendCompressed(response, code, contentType, encoded, warnings)
  const headers: (string | number)[] = [
    'Content-Type',
    contentType,
    'Cache-Control',
    cacheControl,
    'Content-Length',
    encoded.length,
  ]
  if (warnings.length > 0) addWarnings(response, headers, warnings)
  response.writeHead(code, headers as string[])
  response.end(encoded)
}

async function sendCompressed(
  response: ServerResponse,
  code: number,
  type: string,
  bytes: Buffer,
  warnings: readonly string[],
): Promise<void> {
  const compressed = await compress(bytes)
  if (isAnswered(response)) return
  const headers: (string | number)[] = ['Content-Type', type, ...privately, ...gzipHeaders]
  headers.push('Content-Length', compressed.length)
  addWarnings(response, headers, warnings)
  response.writeHead(code, headers as string[])
  response.end(compressed)
}

/** What a person reads who asks a path that is no resource. */
export function sendPrettyJson(response: ServerResponse, code: number, value: unknown): void | Promise<void> {
  return send(response, code, prettyJson.contentType, prettyJson.encode(value))
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
  if (error instanceof ClientGoneError) {
    response.destroy()
    return
  }
  const known = error instanceof ApiError ? error : undefined
  if (known === undefined) {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
    logger.error('request failed unexpectedly', { error: message, stack, path: response.req.url })
  }
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy()
    return
  }
  if (error instanceof NoHandlerError) {
    if (leavesMuchUnread(response.req)) response.setHeader('Connection', 'close')
    sendText(response, 404, '404 page not found\n')
    return
  }
  for (const warning of known?.warnings ?? []) warn(response, warning)
  const { status } = known ?? internalError('the server could not complete the request')
  const { contentType, encode } = statusFormatOf(response.req)
  const encoded = encode(status)
  if (encoded instanceof Promise) {
    encoded.then(
      (bytes) => sendStatus(response, status, contentType, bytes),
      // It is told all the same.
      () => sendStatus(response, status, json.contentType, json.encode(status)),
    )
  } else {
    sendStatus(response, status, contentType, encoded)
  }
}

function sendStatus(response: ServerResponse, status: ApiError['status'], contentType: string, bytes: Buffer): void {
  if (isAnswered(response)) return
  const headers: string[] = ['Content-Type', contentType, ...privately, 'Content-Length', String(bytes.length)]
  const retryAfterSeconds = status.details?.retryAfterSeconds
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds))
  if (leavesMuchUnread(response.req)) headers.push('Connection', 'close')
  response.writeHead(status.code, headers)
  response.end(bytes)
}

/** More than this of a body that nobody reads is not received only to keep the connection, as in Go's server. */
const skippedBytesMax = 256 * 1024

/** What is left of a body must go before the next request can come: where it may be much, the connection ends instead. */
function leavesMuchUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return true
  return Number(headers['content-length'] ?? 0) > skippedBytesMax
}

/** Resolves when what was written has gone out, or the client has. */
export function roomIn(output: Writable): Promise<void> {
  if (output.destroyed || !output.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = () => {
      output.off('drain', settle).off('close', settle)
      resolve()
    }
    output.on('drain', settle).on('close', settle)
  })
}

/** A `Warning` header that the answer will have, whatever it is. */
export function warn(response: ServerResponse, text: string): void {
  const warning = warningOf(text)
  const noted = [response.getHeader('Warning') ?? []].flat()
  if (noted.length < warningsMax && !noted.includes(warning)) response.appendHeader('Warning', warning)
}

/** Adds headers for warnings after those that `warn` has noted, which headers of the same name would replace; each once. */
function addWarnings(response: ServerResponse, headers: (string | number)[], warnings: readonly string[]): void {
  if (warnings.length === 0) return
  const all = new Set([response.getHeader('Warning') ?? []].flat())
  for (const warning of warnings.slice(0, warningsMax)) all.add(warningOf(warning))
  for (const warning of all) headers.push('Warning', warning)
}

/** RFC 7234's Warning header with the code upstream uses: `299 - "text"`. */
const warningOf = (text: string): string => `299 - ${quote(text)}`

/** A quoted string of printable ASCII and UTF-8 as bytes, since Node writes headers as latin1. */
function quote(text: string): string {
  const line = text.replace(/[\n\r\t\v\f]+/g, ' ').replace(/["\\]/g, '\\$&')
  const bytes = Buffer.from(line).subarray(0, warningBytesMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
  return `"${bytes.toString('latin1').replace(/[\x00-\x1f\x7f]/g, '')}"`
}

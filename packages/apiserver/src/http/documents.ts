import type { IncomingMessage, ServerResponse } from 'node:http'

/** Something the server says of itself, made once. */
export interface Document {
  readonly bytes: Buffer
  readonly contentType: string
  /** With its quotes. */
  readonly etag: string
}

/** Sends a document, or 304 to a client that has it. */
export function sendDocument(
  request: IncomingMessage,
  response: ServerResponse,
  document: Document,
  cacheControl = 'no-cache, private',
): void {
  const { bytes, contentType, etag } = document
  const headers = ['Cache-Control', cacheControl, 'ETag', etag, 'Vary', 'Accept']
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers)
    response.end()
    return
  }
  response.writeHead(200, [...headers, 'Content-Type', contentType, 'Content-Length', String(bytes.length)])
  response.end(bytes)
}

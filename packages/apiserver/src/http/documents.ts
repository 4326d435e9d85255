import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registries } from '../registries.ts'
import type { Encoded } from './representation/format.ts'
import { isAnswered } from './respond.ts'

/** Something the server says of itself, made once. */
export interface Document {
  readonly bytes: Encoded
  readonly contentType: string
  /** With its quotes. */
  readonly etag: string
}

/** Which kinds and versions are served, as far as documents tell of them. */
export type ServedVersions = Pick<Registries, 'generation' | 'definitions' | 'of'>

/** Documents made at the first request for them, and again once the kinds served have changed. */
export class Documents<Kept = Document> {
  readonly #served: Pick<ServedVersions, 'generation'>
  readonly #made = new Map<string, Kept>()
  #generation = -1

  constructor(served: Pick<ServedVersions, 'generation'>) {
    this.#served = served
  }

  /** The document under a key; undefined where `make` says there is none. */
  get<T extends Kept | undefined>(key: string, make: () => T): Kept | T {
    const { generation } = this.#served
    if (generation !== this.#generation) this.#made.clear()
    this.#generation = generation
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const document = make()
    if (document !== undefined) this.#made.set(key, document)
    return document
  }
}

/** The ETag of a document with these bytes. */
export const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`

/** Sends a document, or 304 to a client that has it. */
export function sendDocument(
  request: IncomingMessage,
  response: ServerResponse,
  document: Document,
  cacheControl = 'no-cache, private',
): void | Promise<void> {
  const { bytes: encoded, contentType, etag } = document
  const headers = ['Cache-Control', cacheControl, 'ETag', etag, 'Vary', 'Accept']
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers)
    response.end()
    return
  }
  const sendBytes = (bytes: Buffer): void => {
    if (isAnswered(response)) return
    response.writeHead(200, [...headers, 'Content-Type', contentType, 'Content-Length', String(bytes.length)])
    response.end(bytes)
  }
  return encoded instanceof Promise ? encoded.then(sendBytes) : sendBytes(encoded)
}

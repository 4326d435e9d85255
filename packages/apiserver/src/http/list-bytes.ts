import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { apiVersionOf, type ResourceDefinition } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import type { Page, Stored } from '../registry-contract.ts'
import { compress, compressor, gzipHeaders, wantsGzip } from './compression.ts'
import { ClientGoneError, isAnswered } from './respond.ts'

/** Joined lists are kept up to this size together, so many of them, and so long after the last use. */
export const keptBytesMax = 64 * 1024 * 1024
export const keptListsMax = 32
const keptIdleMs = 10_000

/** Longer lists are never joined. */
export const joinedBytesMax = 8 * 1024 * 1024

/**
 * Lists go out in pieces of about this size, each when the client has room for it: what it has not taken is here a
 * second time, encrypted for it alone. Neither the processor's time nor that of a client who reads grows by it.
 */
export const pieceBytesMax = 512 * 1024

const comma = 0x2c
const tail = Buffer.from(']}\n')
const listHeaders = ['Content-Type', 'application/json', 'Cache-Control', 'no-cache, private'] as const

interface Joined {
  readonly items: readonly Stored[]
  readonly bytes: Buffer
  /** The whole list of those items, compressed, under the head it had. */
  compressed?: { readonly head: string; readonly bytes: Promise<Buffer> }
}

/**
 * Sends lists as the concatenation of their items' bytes. Copying some megabytes for each of a hundred equal requests a second is
 * most of what such a list costs, so the concatenation of recent lists is kept and used while the items are the same.
 */
export class ListWriter {
  readonly #clock: Clock
  /** In order of use, the latest last. */
  readonly #kept = new Map<string, Joined>()
  #keptBytes = 0
  #forget: Timer | undefined
  #used = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * `key` names the request: the same key with the same items sends the same bytes. Resolves when all is handed over.
   * Rejects with ClientGoneError where the client goes before.
   */
  async send(response: ServerResponse, definition: ResourceDefinition, page: Page, key: string): Promise<void> {
    if (isAnswered(response)) return
    const { items } = page
    const head = headOf(definition, page)
    const itemsBytes = joinedLength(items)
    if (wantsGzip(response.req, itemsBytes)) return this.#sendCompressed(response, head, items, itemsBytes, key)
    const headBytes = Buffer.from(head)
    response.writeHead(200, [
      ...listHeaders,
      ...['Content-Length', String(headBytes.length + itemsBytes + tail.length)],
    ])
    response.write(headBytes)
    if (itemsBytes > joinedBytesMax) await writePieces(response, piecesOf(items))
    else if (itemsBytes > 0) await writePieces(response, slicesOf(this.#joined(key, items, itemsBytes).bytes))
    response.end(tail)
  }

  async #sendCompressed(
    response: ServerResponse,
    head: string,
    items: readonly Stored[],
    itemsBytes: number,
    key: string,
  ): Promise<void> {
    const headers = [...listHeaders, ...gzipHeaders]
    if (itemsBytes > joinedBytesMax) {
      response.writeHead(200, headers)
      return compressPieces(response, head, items)
    }
    const joined = this.#joined(key, items, itemsBytes)
    if (joined.compressed?.head !== head) {
      joined.compressed = { head, bytes: compress(Buffer.concat([Buffer.from(head), joined.bytes, tail])) }
    }
    const bytes = await joined.compressed.bytes
    if (isAnswered(response)) return
    response.writeHead(200, [...headers, 'Content-Length', String(bytes.length)])
    await writePieces(response, slicesOf(bytes))
    response.end()
  }

  #joined(key: string, items: readonly Stored[], length: number): Joined {
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#drop(key)
      if (sameItems(kept.items, items)) return this.#keep(key, kept)
    }
    return this.#keep(key, { items, bytes: join(items, length) })
  }

  #keep(key: string, joined: Joined): Joined {
    this.#kept.set(key, joined)
    this.#keptBytes += joined.bytes.length
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= keptBytesMax && this.#kept.size <= keptListsMax) break
      this.#drop(oldest)
    }
    this.#used = true
    this.#forget ??= this.#clock.setTimer(keptIdleMs, () => this.#forgetUnused())
    return joined
  }

  /** One timer at most, however many lists: what was not asked for in a whole interval goes. */
  #forgetUnused(): void {
    this.#forget = undefined
    if (this.#used) {
      this.#used = false
      this.#forget = this.#clock.setTimer(keptIdleMs, () => this.#forgetUnused())
    } else {
      this.close()
    }
  }

  #drop(key: string): void {
    const joined = this.#kept.get(key)
    if (joined === undefined) return
    this.#kept.delete(key)
    this.#keptBytes -= joined.bytes.length
  }

  close(): void {
    this.#forget?.cancel()
    this.#forget = undefined
    this.#kept.clear()
    this.#keptBytes = 0
  }
}

/** The list's JSON up to the items. */
export function headOf(definition: ResourceDefinition, page: Page): string {
  const metadata = JSON.stringify(listMetaOf(page))
  return `{"kind":${JSON.stringify(definition.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(definition))},"metadata":${metadata},"items":[`
}

export function listMetaOf(page: Page) {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue === '' ? {} : { continue: page.continue }),
    ...(page.remainingItemCount === undefined || page.remainingItemCount === 0
      ? {}
      : { remainingItemCount: page.remainingItemCount }),
  }
}

function joinedLength(items: readonly Stored[]): number {
  let length = Math.max(0, items.length - 1)
  for (const { bytes } of items) length += bytes.length
  return length
}

/** The same objects at the same revisions: their bytes are then the same buffers. */
function sameItems(a: readonly Stored[], b: readonly Stored[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index]?.bytes !== b[index]?.bytes) return false
  return true
}

/** The items with commas between them. */
function join(items: readonly Stored[], length: number): Buffer {
  const joined = Buffer.allocUnsafeSlow(length)
  let position = 0
  for (const { bytes } of items) {
    if (position > 0) joined[position++] = comma
    position += bytes.copy(joined, position)
  }
  return joined
}

/** What `join` makes, in pieces. */
function* piecesOf(items: readonly Stored[]): Generator<Buffer> {
  let parts: Stored[] = []
  let length = 0
  let first = true
  for (const item of items) {
    parts.push(item)
    length += item.bytes.length
    if (length < pieceBytesMax) continue
    yield joinAfter(parts, first)
    first = false
    parts = []
    length = 0
  }
  if (parts.length > 0) yield joinAfter(parts, first)
}

function joinAfter(items: readonly Stored[], first: boolean): Buffer {
  const joined = join(items, joinedLength(items))
  return first ? joined : Buffer.concat([Buffer.of(comma), joined])
}

/** Writes as the client reads. */
async function writePieces(response: ServerResponse, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (response.writableNeedDrain) await roomIn(response)
    if (response.destroyed) throw new ClientGoneError()
    response.write(piece)
  }
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytesMax) yield bytes.subarray(start, start + pieceBytesMax)
}

async function compressPieces(response: ServerResponse, head: string, items: readonly Stored[]): Promise<void> {
  const pieces = function* (): Generator<Buffer> {
    yield Buffer.from(head)
    yield* piecesOf(items)
    yield tail
  }
  try {
    await pipeline(Readable.from(pieces(), { objectMode: false }), compressor(), response)
  } catch (error) {
    throw response.destroyed ? new ClientGoneError() : error
  }
}

/** Resolves when what was written has gone out, or the client has. */
export function roomIn(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle)
      resolve()
    }
    response.on('drain', settle).on('close', settle)
  })
}

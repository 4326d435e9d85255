import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock, Timer } from '@coracle/environment'
import { compress, compressor, gzipHeaders, wantsGzip } from '../compression.ts'
import { ClientGoneError, isAnswered, privately, roomIn } from '../respond.ts'
import type { Framing, ListParts } from './list-parts.ts'

/** Joined lists are kept up to this size together, so many of them, and so long after the last use. */
export const keptBytesMax = 64 * 1024 * 1024
export const keptListsMax = 32
const keptIdleMs = 10_000

/** Longer lists are never joined. */
export const joinedBytesMax = 8 * 1024 * 1024

/**
 * Lists go out in pieces of about this size, each when the client has room for it: what it has not taken is here a
 * second time, encrypted for it alone. Smaller pieces cost more: 1.6 MB over TLS take 787 us of CPU in these, 885 in pieces of 256 kB.
 */
export const pieceBytesMax = 512 * 1024

interface Joined {
  readonly items: readonly Buffer[]
  readonly bytes: Buffer
  /** The whole list of those items, compressed, under the head it had. */
  compressed?: { readonly head: Buffer; readonly bytes: Promise<Buffer> }
}

/** The items of a list with what stands between them: joined, or not where that would be too long. */
type Items =
  | { readonly length: number; readonly joined: Joined }
  | { readonly length: number; readonly joined: undefined; readonly framing: Framing }

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
  async send(response: ServerResponse, contentType: string, parts: ListParts, key: string): Promise<void> {
    if (isAnswered(response)) return
    const { head, tail } = parts
    const items = this.#itemsOf(parts, key)
    const headers = ['Content-Type', contentType, ...privately]
    if (wantsGzip(response.req, items.length)) return this.#sendCompressed(response, headers, parts, items)
    response.writeHead(200, [...headers, 'Content-Length', String(head.length + items.length + tail.length)])
    response.write(head)
    if (items.joined === undefined) await writePieces(response, piecesOf(parts, items.framing))
    else if (items.length > 0) await writePieces(response, slicesOf(items.joined.bytes))
    response.end(tail)
  }

  async #sendCompressed(
    response: ServerResponse,
    plainHeaders: readonly string[],
    parts: ListParts,
    items: Items,
  ): Promise<void> {
    const headers = [...plainHeaders, ...gzipHeaders]
    const { joined } = items
    if (joined === undefined) {
      response.writeHead(200, headers)
      return compressPieces(response, parts, items.framing)
    }
    const { head, tail } = parts
    if (joined.compressed?.head.equals(head) !== true) {
      joined.compressed = { head, bytes: compress(Buffer.concat([head, joined.bytes, tail])) }
    }
    const bytes = await joined.compressed.bytes
    if (isAnswered(response)) return
    response.writeHead(200, [...headers, 'Content-Length', String(bytes.length)])
    await writePieces(response, slicesOf(bytes))
    response.end()
  }

  /** The items joined, or, where they are too long for that, how they would be. */
  #itemsOf(parts: ListParts, key: string): Items {
    const { items } = parts
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#drop(key)
      if (sameItems(kept.items, items)) return { length: kept.bytes.length, joined: this.#keep(key, kept) }
    }
    const framing = parts.framing()
    const length = joinedLength(items, framing)
    if (length > joinedBytesMax) return { length, framing, joined: undefined }
    return { length, joined: this.#keep(key, { items, bytes: join(items, framing, length) }) }
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

function joinedLength(items: readonly Buffer[], { opening, skipped, separator }: Framing): number {
  if (items.length === 0) return 0
  let length = opening.length + (items.length - 1) * separator.length
  for (const item of items) length += item.length - skipped
  return length
}

/** The same objects at the same revisions: their bytes are then the same buffers. */
function sameItems(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** The items with what stands before, and between them. */
function join(items: readonly Buffer[], { opening, skipped, separator }: Framing, length: number): Buffer {
  const joined = Buffer.allocUnsafeSlow(length)
  let position = 0
  for (const item of items) {
    position += (position > 0 ? separator : opening).copy(joined, position)
    position += item.copy(joined, position, skipped)
  }
  return joined
}

/** What `join` makes, in pieces. */
function* piecesOf({ items }: ListParts, { opening, skipped, separator }: Framing): Generator<Buffer> {
  let pieces: Buffer[] = []
  let length = 0
  for (const [index, item] of items.entries()) {
    pieces.push(index > 0 ? separator : opening, item.subarray(skipped))
    length += item.length - skipped
    if (length < pieceBytesMax) continue
    yield Buffer.concat(pieces)
    pieces = []
    length = 0
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
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

async function compressPieces(response: ServerResponse, parts: ListParts, framing: Framing): Promise<void> {
  const pieces = function* (): Generator<Buffer> {
    yield parts.head
    yield* piecesOf(parts, framing)
    yield parts.tail
  }
  try {
    await pipeline(Readable.from(pieces(), { objectMode: false }), compressor(), response)
  } catch (error) {
    throw response.destroyed ? new ClientGoneError() : error
  }
}

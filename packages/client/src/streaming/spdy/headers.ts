import { Unzlib } from 'fflate'
import { headerDictionary, headerDictionaryId } from './dictionary.ts'
import { SpdyError } from './spdy-error.ts'

/** Headers of one stream, at most. */
export const spdyHeadersMax = 64
/** Their names and values together, in bytes. */
export const spdyHeaderBytesMax = 64 * 1024

/** Names in lower case; a header that came several times has its values joined by NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>

/**
 * Writes header blocks. Nothing is gained by compressing the few short headers there are, so each block is stored
 * (RFC 1951, 3.2.4): every zlib reads that.
 */
export class HeaderWriter {
  #begun = false

  write(headers: SpdyHeaders): Buffer {
    const pieces = [uint32(headers.size)]
    for (const [name, value] of headers) {
      for (const text of [name.toLowerCase(), value]) {
        const bytes = Buffer.from(text)
        pieces.push(uint32(bytes.length), bytes)
      }
    }
    const block = Buffer.concat(pieces)
    if (block.length > 0xffff) throw new SpdyError(`headers of ${block.length} bytes are more than ${0xffff}`)
    const stored = Buffer.alloc(5)
    stored.writeUInt16LE(block.length, 1)
    stored.writeUInt16LE(~block.length & 0xffff, 3)
    const begin = this.#begun ? [] : [streamHeader]
    this.#begun = true
    return Buffer.concat([...begin, stored, block, flushMark])
  }
}

/** A zlib stream of the best compression, with the dictionary named (RFC 1950, 2.2). */
const streamHeader = Buffer.concat([Buffer.from([0x78, 0xf9]), uint32(headerDictionaryId)])

/** An empty block: only at one of these Go's decoder gives what it has. */
const flushMark = Buffer.from([0, 0, 0, 0xff, 0xff])

/** What is inflated at a time: 1,032 times as much may come of it. */
const inflatedPieceBytes = 256

/** Reads header blocks. All blocks of a session are one compressed stream, so that none may be left out. */
export class HeaderReader {
  readonly #unzlib: Unzlib
  #pieces: Uint8Array[] = []
  #bytes = 0

  constructor() {
    this.#unzlib = new Unzlib({ dictionary: headerDictionary }, (piece) => {
      this.#pieces.push(piece)
      this.#bytes += piece.length
    })
  }

  /** Throws a SpdyError where it is no header block, or more than may be. */
  read(compressed: Uint8Array): SpdyHeaders {
    return parseBlock(this.#inflate(compressed))
  }

  #inflate(compressed: Uint8Array): Buffer {
    this.#pieces = []
    this.#bytes = 0
    for (let at = 0; at < compressed.length; at += inflatedPieceBytes) {
      try {
        this.#unzlib.push(compressed.subarray(at, at + inflatedPieceBytes))
      } catch (error) {
        throw new SpdyError(`headers are not compressed as they should be: ${String(error)}`)
      }
      if (this.#bytes > spdyHeaderBytesMax) throw new SpdyError(`headers take more than ${spdyHeaderBytesMax} bytes`)
    }
    return Buffer.concat(this.#pieces)
  }
}

function parseBlock(block: Buffer): SpdyHeaders {
  let at = 0
  const take = (bytes: number): Buffer => {
    if (at + bytes > block.length) throw new SpdyError('headers end too early')
    at += bytes
    return block.subarray(at - bytes, at)
  }
  const text = (): string => take(take(4).readUInt32BE()).toString()
  const count = take(4).readUInt32BE()
  if (count > spdyHeadersMax) throw new SpdyError(`${count} headers are more than ${spdyHeadersMax}`)
  const headers = new Map<string, string>()
  for (let index = 0; index < count; index++) {
    const name = text()
    if (name === '' || name !== name.toLowerCase()) throw new SpdyError(`no name of a header: ${JSON.stringify(name)}`)
    if (headers.has(name)) throw new SpdyError(`header ${JSON.stringify(name)} comes twice`)
    headers.set(name, text())
  }
  if (at < block.length) throw new SpdyError('more follows the headers')
  return headers
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

import { HeaderReader, type SpdyHeaders } from './headers.ts'
import { SpdyError } from './spdy-error.ts'

/** The payload of a control frame, at most; that of a data frame has no limit, since it is handed on as it comes. */
export const controlFrameBytesMax = 64 * 1024

/** Types of control frames (SPDY/3, 2.6). */
export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const

/** Why a stream is reset. */
export const resetStatus = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
  flowControlError: 7,
} as const

/** The setting that says how much may come on a stream before it is acknowledged. */
const initialWindowSetting = 7

/** Ids of streams and windows have 31 bits. */
const uint31 = 0x7fff_ffff
const headerBytes = 8
const finFlag = 1

/** What comes in. A data frame may come in several pieces, of which the last has its `fin`. */
export type Frame =
  | { readonly type: 'data'; readonly streamId: number; readonly fin: boolean; readonly bytes: Buffer }
  | { readonly type: 'synStream'; readonly streamId: number; readonly fin: boolean; readonly headers: SpdyHeaders }
  | { readonly type: 'synReply'; readonly streamId: number; readonly fin: boolean; readonly headers: SpdyHeaders }
  | { readonly type: 'headers'; readonly streamId: number; readonly fin: boolean; readonly headers: SpdyHeaders }
  | { readonly type: 'rstStream'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings'; readonly initialWindow: number | undefined }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway' }
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number }

/** Reads frames from bytes that come in pieces of any size. */
export class FrameReader {
  readonly #headers = new HeaderReader()
  readonly #onFrame: (frame: Frame) => void
  /** The beginning of a frame of which there is too little yet. */
  #rest: Buffer = Buffer.alloc(0)
  /** The data frame that is coming. */
  #data: { readonly streamId: number; readonly fin: boolean; left: number } | undefined

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  /** Throws a SpdyError where these are no frames; nothing may be read after that. */
  push(piece: Buffer): void {
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    for (;;) {
      const taken = this.#data === undefined ? this.#takeFrame(bytes) : this.#takeData(bytes)
      if (taken === 0) break
      bytes = bytes.subarray(taken)
    }
    // A copy: what is left of a piece must not keep all of it in memory.
    this.#rest = bytes.length === 0 ? bytes : Buffer.from(bytes)
  }

  #takeFrame(bytes: Buffer): number {
    if (bytes.length < headerBytes) return 0
    const word = bytes.readUInt32BE(0)
    const flags = bytes.readUInt8(4)
    const length = bytes.readUIntBE(5, 3)
    if (word <= uint31) {
      if (word === 0) throw new SpdyError('data for stream 0')
      const fin = (flags & finFlag) !== 0
      this.#data = { streamId: word, fin, left: length }
      if (length === 0) this.#endData(Buffer.alloc(0))
      return headerBytes
    }
    const version = (word >>> 16) & 0x7fff
    if (version !== 3) throw new SpdyError(`a frame of SPDY/${version}, which is not SPDY/3`)
    if (length > controlFrameBytesMax) {
      throw new SpdyError(`a control frame of ${length} bytes is more than ${controlFrameBytesMax}`)
    }
    const end = headerBytes + length
    if (bytes.length < end) return 0
    this.#takeControl(word & 0xffff, flags, bytes.subarray(headerBytes, end))
    return end
  }

  #takeData(bytes: Buffer): number {
    const data = this.#data
    if (data === undefined || bytes.length === 0) return 0
    const taken = Math.min(data.left, bytes.length)
    data.left -= taken
    const piece = bytes.subarray(0, taken)
    if (data.left === 0) this.#endData(piece)
    else this.#onFrame({ type: 'data', streamId: data.streamId, fin: false, bytes: piece })
    return taken
  }

  #endData(bytes: Buffer): void {
    const data = this.#data
    if (data === undefined) return
    this.#data = undefined
    this.#onFrame({ type: 'data', streamId: data.streamId, fin: data.fin, bytes })
  }

  #takeControl(type: number, flags: number, payload: Buffer): void {
    const frame = this.#parseControl(type, flags, payload)
    if (frame !== undefined) this.#onFrame(frame)
  }

  /** Undefined for types that nobody needs to know. */
  #parseControl(type: number, flags: number, payload: Buffer): Frame | undefined {
    const fin = (flags & finFlag) !== 0
    switch (type) {
      case frameTypes.synStream: {
        const streamId = idOf(payload, 10)
        return { type: 'synStream', streamId, fin, headers: this.#headers.read(payload.subarray(10)) }
      }
      case frameTypes.synReply:
      case frameTypes.headers: {
        const streamId = idOf(payload, 4)
        const headers = this.#headers.read(payload.subarray(4))
        return { type: type === frameTypes.headers ? 'headers' : 'synReply', streamId, fin, headers }
      }
      case frameTypes.rstStream:
        return { type: 'rstStream', streamId: idOf(payload, 8), status: payload.readUInt32BE(4) }
      case frameTypes.settings:
        return { type: 'settings', initialWindow: initialWindowOf(payload) }
      case frameTypes.ping:
        need(payload, 4)
        return { type: 'ping', id: payload.readUInt32BE() }
      case frameTypes.goAway:
        return { type: 'goAway' }
      case frameTypes.windowUpdate:
        return { type: 'windowUpdate', streamId: idOf(payload, 8), delta: payload.readUInt32BE(4) & uint31 }
      default:
        return undefined
    }
  }
}

function need(payload: Buffer, bytes: number): void {
  if (payload.length < bytes) throw new SpdyError('a frame ends too early')
}

/** The stream a control frame of at least `bytes` is about. */
function idOf(payload: Buffer, bytes: number): number {
  need(payload, bytes)
  const id = payload.readUInt32BE() & uint31
  if (id === 0) throw new SpdyError('a frame about stream 0')
  return id
}

function initialWindowOf(payload: Buffer): number | undefined {
  need(payload, 4)
  const count = payload.readUInt32BE()
  need(payload, 4 + 8 * count)
  for (let index = 0; index < count; index++) {
    const at = 4 + 8 * index
    if ((payload.readUInt32BE(at) & 0xff_ffff) === initialWindowSetting) return payload.readUInt32BE(at + 4) & uint31
  }
  return undefined
}

/** A control frame. `words` come first in it, then `rest`. */
export function controlFrame(type: number, words: readonly number[], rest: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(headerBytes + 4 * words.length)
  frame.writeUInt16BE(0x8003, 0)
  frame.writeUInt16BE(type, 2)
  frame.writeUIntBE(4 * words.length + rest.length, 5, 3)
  for (const [index, word] of words.entries()) frame.writeUInt32BE(word >>> 0, headerBytes + 4 * index)
  return rest.length === 0 ? frame : Buffer.concat([frame, rest])
}

/** The SYN_STREAM that opens a stream; `headers` is a block of a `HeaderWriter`. */
export function synStreamFrame(streamId: number, headers: Buffer): Buffer {
  return controlFrame(frameTypes.synStream, [streamId, 0], Buffer.concat([Buffer.alloc(2), headers]))
}

/** A SETTINGS frame that says how much may come on each stream before it is acknowledged. */
export function windowSettingFrame(bytes: number): Buffer {
  return controlFrame(frameTypes.settings, [1, initialWindowSetting, bytes])
}

/** What comes before the bytes of a data frame. */
export function dataFrameHeader(streamId: number, length: number, fin: boolean): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(streamId, 0)
  header.writeUInt8(fin ? finFlag : 0, 4)
  header.writeUIntBE(length, 5, 3)
  return header
}

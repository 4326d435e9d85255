import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  controlFrame,
  controlFrameBytesMax,
  dataFrameHeader,
  type Frame,
  FrameReader,
  frameTypes,
  synStreamFrame,
  windowSettingFrame,
} from './frames.ts'
import { HeaderWriter } from './headers.ts'
import { SpdyError } from './spdy-error.ts'

function read(pieces: readonly Buffer[]): readonly Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader((frame) => frames.push(frame))
  for (const piece of pieces) reader.push(piece)
  return frames
}

const data = (streamId: number, text: string, fin = false): Buffer =>
  Buffer.concat([dataFrameHeader(streamId, text.length, fin), Buffer.from(text)])

/** A few frames of each type, one after the other. */
function session(): Buffer {
  const headers = new HeaderWriter()
  return Buffer.concat([
    windowSettingFrame(1000),
    synStreamFrame(1, headers.write(new Map([['streamtype', 'data']]))),
    data(1, 'hello'),
    controlFrame(frameTypes.synReply, [1], headers.write(new Map())),
    controlFrame(frameTypes.ping, [7]),
    controlFrame(99, [1, 2, 3]),
    controlFrame(frameTypes.windowUpdate, [1, 5]),
    data(1, '', true),
    controlFrame(frameTypes.rstStream, [1, 5]),
    controlFrame(frameTypes.goAway, [1, 0]),
  ])
}

describe('frames', () => {
  it('are read as they were written; types that nobody knows are left out', () => {
    const none = Buffer.alloc(0)
    expect(read([session()])).toEqual([
      { type: 'settings', initialWindow: 1000 },
      { type: 'synStream', streamId: 1, fin: false, headers: new Map([['streamtype', 'data']]) },
      { type: 'data', streamId: 1, fin: false, bytes: Buffer.from('hello') },
      { type: 'synReply', streamId: 1, fin: false, headers: new Map() },
      { type: 'ping', id: 7 },
      { type: 'windowUpdate', streamId: 1, delta: 5 },
      { type: 'data', streamId: 1, fin: true, bytes: none },
      { type: 'rstStream', streamId: 1, status: 5 },
      { type: 'goAway' },
    ])
  })

  it('are the same in whatever pieces they come, but that data comes as it comes', () => {
    const bytes = session()
    const joined = (frames: readonly Frame[]) => ({
      frames: frames.filter(({ type }) => type !== 'data'),
      data: Buffer.concat(frames.flatMap((frame) => (frame.type === 'data' ? [frame.bytes] : []))).toString(),
      fins: frames.filter((frame) => frame.type === 'data' && frame.fin).length,
    })
    const whole = joined(read([bytes]))
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
        expect(joined(read(pieces))).toEqual(whole)
      }),
    )
  })

  it('of any bytes are read, or refused as no frames', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }), fc.boolean(), (pieces, isControl) => {
        const start = isControl ? [Buffer.from([0x80, 3, 0])] : []
        try {
          read([...start, ...pieces.map((piece) => Buffer.from(piece))])
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('of a length that nobody sends are refused before they have come', () => {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(0x8003, 0)
    head.writeUInt16BE(frameTypes.ping, 2)
    head.writeUIntBE(controlFrameBytesMax + 1, 5, 3)
    expect(() => read([head])).toThrow(/a control frame of 65537 bytes is more than 65536/)
  })

  it('of the greatest length there may be are read', () => {
    const longest = controlFrame(99, [], Buffer.alloc(controlFrameBytesMax))
    expect(read([longest, controlFrame(frameTypes.ping, [1])])).toEqual([{ type: 'ping', id: 1 }])
  })

  it.each([
    ['stands behind others, with flags', [2, 4, 100, 0x0100_0007, 1000], 1000],
    ['comes twice, the first time', [2, 7, 1000, 7, 2000], 1000],
    ['has a bit too many', [1, 7, 0x8000_03e8], 1000],
    ['is none of them', [1, 4, 100], undefined],
    ['is not there, as nothing is', [0], undefined],
  ] as const)('of settings are read for the window alone, which %s', (_, words, initialWindow) => {
    expect(read([controlFrame(frameTypes.settings, words)])).toEqual([{ type: 'settings', initialWindow }])
  })

  it('are about streams of 31 bits', () => {
    expect(read([controlFrame(frameTypes.windowUpdate, [0x8000_0001, 0xffff_ffff])])).toEqual([
      { type: 'windowUpdate', streamId: 1, delta: 0x7fff_ffff },
    ])
    expect(read([data(0x7fff_ffff, 'x')])).toEqual([
      { type: 'data', streamId: 0x7fff_ffff, fin: false, bytes: Buffer.from('x') },
    ])
  })

  it('say by a flag that nothing follows on their stream', () => {
    const ending = (type: number, words: readonly number[]) => {
      const frame = controlFrame(type, words, new HeaderWriter().write(new Map([['a', 'b']])))
      frame.writeUInt8(1, 4)
      return read([frame])
    }
    const headers = new Map([['a', 'b']])
    expect(ending(frameTypes.headers, [3])).toEqual([{ type: 'headers', streamId: 3, fin: true, headers }])
    expect(ending(frameTypes.synReply, [3])).toEqual([{ type: 'synReply', streamId: 3, fin: true, headers }])
  })

  it.each([
    ['another version', Buffer.from([0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]), /SPDY\/2/],
    ['data for no stream', dataFrameHeader(0, 1, false), /stream 0/],
    ['a reset of no stream', controlFrame(frameTypes.rstStream, [0, 1]), /stream 0/],
    ['a window update that ends too early', controlFrame(frameTypes.windowUpdate, [1]), /ends too early/],
    ['more settings than come', controlFrame(frameTypes.settings, [1000]), /ends too early/],
  ] as const)('with %s are refused', (_what, bytes, message) => {
    expect(() => read([bytes])).toThrow(message)
  })
})

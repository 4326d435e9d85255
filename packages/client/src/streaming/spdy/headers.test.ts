import { constants, createDeflate, createInflate } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerDictionary, headerDictionaryId } from './dictionary.ts'
import { HeaderReader, HeaderWriter, spdyHeaderBytesMax, spdyHeadersMax } from './headers.ts'
import { SpdyError } from './spdy-error.ts'

const headers = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/), fc.string({ maxLength: 200 }), {
  maxKeys: 8,
})

/** What an end compresses that uses the zlib library as others do: one stream, flushed after each block. */
function compressor(): (block: Buffer) => Promise<Buffer> {
  const deflate = createDeflate({ dictionary: headerDictionary, level: 9 })
  return (block) =>
    new Promise((resolve) => {
      deflate.write(block)
      deflate.flush(constants.Z_SYNC_FLUSH, () => resolve(deflate.read()))
    })
}

function block(entries: readonly (readonly [string, string])[]): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  const texts = entries.flat().map((text) => Buffer.concat([number(Buffer.byteLength(text)), Buffer.from(text)]))
  return Buffer.concat([number(entries.length), ...texts])
}

describe('headers', () => {
  it('come back as they were written, block after block', () => {
    fc.assert(
      fc.property(fc.array(headers, { maxLength: 5 }), (blocks) => {
        const [writer, reader] = [new HeaderWriter(), new HeaderReader()]
        for (const each of blocks) {
          const map = new Map(Object.entries(each))
          expect(reader.read(writer.write(map))).toEqual(map)
        }
      }),
    )
  })

  it('are read from a stream that zlib has compressed with the dictionary', async () => {
    const compress = compressor()
    const reader = new HeaderReader()
    for (const type of ['error', 'data', 'stdin']) {
      const entries = [
        ['streamtype', type],
        ['port', '8080'],
        ['x-long', type.repeat(500)],
      ] as const
      expect(reader.read(await compress(block(entries)))).toEqual(new Map(entries))
    }
  })

  it('are written as a stream that zlib inflates with the dictionary', async () => {
    const inflate = createInflate({ dictionary: headerDictionary, finishFlush: constants.Z_SYNC_FLUSH })
    const writer = new HeaderWriter()
    inflate.end(Buffer.concat([writer.write(new Map([['a', 'b']])), writer.write(new Map([['c', 'd']]))]))
    const chunks: Buffer[] = []
    for await (const chunk of inflate) chunks.push(chunk)
    expect(Buffer.concat(chunks)).toEqual(Buffer.concat([block([['a', 'b']]), block([['c', 'd']])]))
  })

  it('have the dictionary that the protocol prescribes, by its checksum', () => {
    let [a, b] = [1, 0]
    for (const byte of headerDictionary) {
      a = (a + byte) % 65_521
      b = (b + a) % 65_521
    }
    expect((b * 65_536 + a) >>> 0).toBe(headerDictionaryId)
  })

  it.each([
    ['that swell when they are inflated', block([['x', 'a'.repeat(spdyHeaderBytesMax)]]), /more than 65536 bytes/],
    ['of which there are too many', block(Array.from({ length: spdyHeadersMax + 1 }, (_, index) => [`h${index}`, '']))],
    ['with a name in upper case', block([['Port', '1']]), /no name of a header/],
    [
      'with a name that comes twice',
      block([
        ['port', '1'],
        ['port', '2'],
      ]),
      /comes twice/,
    ],
    ['that end too early', block([['port', '1']]).subarray(0, -1), /end too early/],
    ['with something behind them', Buffer.concat([block([]), Buffer.from([1])]), /more follows/],
  ] as const)('are refused %s', async (_what, bytes, message = /headers are more than/) => {
    const compressed = await compressor()(bytes)
    expect(() => new HeaderReader().read(compressed)).toThrow(message)
  })

  it('are written as far as one block holds them', () => {
    // The count, two lengths and a name of one letter come before the value.
    const longest = 0xffff - 13
    const written = (length: number) => new HeaderWriter().write(new Map([['a', 'x'.repeat(length)]]))
    expect(new HeaderReader().read(written(longest)).get('a')).toHaveLength(longest)
    expect(() => written(longest + 1)).toThrow(new SpdyError('headers of 65536 bytes are more than 65535'))
  })

  it('are refused where they are not compressed, or with another dictionary', () => {
    expect(() => new HeaderReader().read(block([['port', '1']]))).toThrow(/not compressed/)
  })
})

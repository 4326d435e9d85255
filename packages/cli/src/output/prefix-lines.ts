/** A longer line is passed on in pieces, so that what waits for its end stays small. */
export const prefixedLineBytesMax = 256 * 1024

const lineFeed = 0x0a

/** The lines of a stream, each after a prefix; a last line that has no end yet is given as it is. */
export async function* prefixLines(stream: AsyncIterable<Uint8Array>, prefix: string): AsyncIterable<Uint8Array> {
  const start = Buffer.from(prefix)
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of stream) {
    let data = Buffer.concat([rest, chunk])
    for (let end = data.indexOf(lineFeed); end >= 0; end = data.indexOf(lineFeed)) {
      yield Buffer.concat([start, data.subarray(0, end + 1)])
      data = data.subarray(end + 1)
    }
    if (data.length > prefixedLineBytesMax) {
      yield Buffer.concat([start, data])
      data = Buffer.alloc(0)
    }
    rest = data
  }
  if (rest.length > 0) yield Buffer.concat([start, rest])
}

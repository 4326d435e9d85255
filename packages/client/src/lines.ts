/** Longest line of a watch: well above the largest object a server stores (1.5 MiB in etcd), twice over for the event around it. */
export const lineBytesMax = 16 * 1024 * 1024

/**
 * Splits a stream of bytes at line feeds and decodes each line. Empty lines are left out; a last line without a line
 * feed is half an event of a broken connection, and left out too. Throws a RangeError on a line beyond `maxBytes`.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = lineBytesMax,
): AsyncGenerator<string> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      pending.push(chunk.subarray(from, end))
      const line = decode(pending)
      pending = []
      pendingBytes = 0
      from = end + 1
      if (line !== '') yield line
    }
    if (from === chunk.length) continue
    pending.push(chunk.subarray(from))
    pendingBytes += chunk.length - from
    if (pendingBytes > maxBytes) throw new RangeError(`a line of the response is longer than ${maxBytes} bytes`)
  }
}

const lineFeed = 0x0a

function decode(parts: readonly Uint8Array[]): string {
  const [first] = parts
  const bytes =
    parts.length === 1 && first !== undefined
      ? Buffer.from(first.buffer, first.byteOffset, first.length)
      : Buffer.concat(parts)
  return bytes.toString('utf8')
}

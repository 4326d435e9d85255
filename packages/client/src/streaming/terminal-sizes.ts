import type { Readable } from 'node:stream'
import type { TerminalSize } from './command-streams.ts'

/** A size is no longer than this as JSON. */
const sizeBytesMax = 256
/** Columns and rows of a terminal have 16 bits. */
const sideMax = 0xffff

/** Reads sizes of a terminal from a stream of JSON objects: `{"Width":80,"Height":24}`. What is none is left out. */
export async function* readTerminalSizes(stream: Readable): AsyncGenerator<TerminalSize> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
      const size = parseSize(text.slice(0, end + 1))
      text = text.slice(end + 1)
      if (size !== undefined) yield size
    }
    if (text.length > sizeBytesMax) return
  }
}

/** A size as it is sent. */
export const terminalSizeText = ({ width, height }: TerminalSize): string =>
  `${JSON.stringify({ Width: width, Height: height })}\n`

/** Go's decoder, which upstream reads sizes with, minds no case: some clients write `width` and `height`. */
function parseSize(text: string): TerminalSize | undefined {
  try {
    const members = Object.entries<number>(JSON.parse(text))
    const { width, height } = Object.fromEntries(members.map(([name, value]) => [name.toLowerCase(), value]))
    const isSide = (side: unknown): side is number =>
      Number.isInteger(side) && Number(side) > 0 && Number(side) <= sideMax
    return isSide(width) && isSide(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

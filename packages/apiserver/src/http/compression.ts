import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { constants, createGzip, type Gzip, gzip } from 'node:zlib'

/** Shorter answers are not compressed (upstream's threshold). */
export const compressedBytesMin = 128 * 1024

/** What an answer that is compressed says of itself. */
export const gzipHeaders = ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'] as const

/** The fastest, which upstream takes too: the network it saves is nearer than the processor it costs. */
const options = { level: constants.Z_BEST_SPEED }

/** Whether the client would have this answer compressed: it names gzip, with no weight, as upstream reads the header. */
export function wantsGzip({ headers }: IncomingMessage, bytes: number): boolean {
  if (bytes < compressedBytesMin) return false
  const accepted = headers['accept-encoding']
  return typeof accepted === 'string' && accepted.split(',').some((coding) => coding.trim() === 'gzip')
}

/** Compressed on another thread, in one piece. */
export const compress: (bytes: Buffer) => Promise<Buffer> = (bytes) => compressLater(bytes, options)
const compressLater = promisify<Buffer, typeof options, Buffer>(gzip)

/** Compresses what does not come in one piece. */
export const compressor = (): Gzip => createGzip(options)

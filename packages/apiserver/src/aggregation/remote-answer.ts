import type { IncomingMessage } from 'node:http'

/** Longer answers about what a server serves are refused. */
export const remoteDiscoveryBytesMax = 4 * 1024 * 1024

/** Reads the JSON that a server answers with. Rejects where it answers with something else, or with too much. */
export async function remoteJson(answer: IncomingMessage): Promise<unknown> {
  return JSON.parse(await remoteText(answer))
}

/** Reads what a server answers with where all is well. Rejects where it says that something is not, or says too much. */
export async function remoteText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > remoteDiscoveryBytesMax) throw new Error(`the answer is longer than ${remoteDiscoveryBytesMax} bytes`)
    chunks.push(chunk)
  }
  const code = answer.statusCode ?? 0
  if (code < 200 || code > 299) throw new Error(`bad status from the server: ${code}`)
  return Buffer.concat(chunks).toString()
}

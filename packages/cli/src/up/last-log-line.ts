import { type Pod, pods } from '@coracle/api'
import type { Client } from '@coracle/client'

/** Of a last line so much is shown. */
const lineBytesMax = 200

/** The last line a container wrote in its run before this one; empty where there is none, or no log to be had. */
export async function lastLogLine(client: Client, pod: Pod, container: string): Promise<string> {
  const { name = '', namespace = '' } = pod.metadata
  try {
    const query = { container, previous: 'true', tailLines: '1' }
    const chunks: Uint8Array[] = []
    for await (const chunk of await client.stream(pods, { name, namespace }, 'log', query)) chunks.push(chunk)
    const line = Buffer.concat(chunks).toString('utf8').trim()
    return line.length > lineBytesMax ? `${line.slice(0, lineBytesMax)}…` : line
  } catch {
    return ''
  }
}

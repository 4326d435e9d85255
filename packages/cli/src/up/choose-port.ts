import { once } from 'node:events'
import { createServer } from 'node:net'
import { createHttpClient } from '@coracle/client'
import type { Host } from '../host.ts'
import { type ClusterPlace, defaultClusterName } from '../local/cluster-place.ts'
import { readServerRecord } from '../local/server-record.ts'

/** The port of Kubernetes' API, as everybody has it. */
export const defaultPort = 6443
/** What listens on the port and does not answer by then is none of ours: a server of a busy machine takes its time. */
const answerMs = 3_000

export interface ChosenPort {
  readonly port: number
  /** What people should know of the choice. */
  readonly note?: string
}

/**
 * The port to serve on: the one that is asked for, else the one a named cluster had the last time, else 6443. Where another
 * Coracle has that, and nobody has asked for it, any free one (0).
 */
export async function choosePort(
  host: Host,
  place: ClusterPlace,
  flags: { readonly listen: string; readonly port?: number },
): Promise<ChosenPort> {
  if (flags.port !== undefined) return { port: flags.port }
  const port = usualPort(place)
  if ((await isFree(flags.listen, port)) || !(await isCoracle(host, port))) return { port }
  return { port: 0, note: `port ${port} is another Coracle's: this one has a port of its own choice` }
}

function usualPort(place: ClusterPlace): number {
  if (place.name === defaultClusterName) return defaultPort
  const { port } = new URL(readServerRecord(place.directory)?.url ?? `https://host:${defaultPort}`)
  return port === '' ? defaultPort : Number(port)
}

/** Whether one may listen there. What else is wrong with the address is told when the server starts. */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
  } finally {
    server.close()
  }
}

/** Whether it is a server of this program that listens there. It need not be one that we may ask for more. */
async function isCoracle({ environment }: Host, port: number): Promise<boolean> {
  const client = createHttpClient({ ...environment, server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true })
  const deadline = new AbortController()
  const timer = environment.clock.setTimer(answerMs, () => deadline.abort(), { keepsProcess: true })
  try {
    return (
      (JSON.parse(await client.rawGet('/version', deadline.signal)) as VersionAnswer).gitVersion?.includes(
        '+coracle',
      ) === true
    )
  } catch {
    return false
  } finally {
    timer.cancel()
    await client.close()
  }
}

interface VersionAnswer {
  readonly gitVersion?: string
}

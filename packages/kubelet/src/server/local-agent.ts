import { createServer } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import type { Environment } from '@coracle/environment'
import { AgentRequests, mayUpgrade } from './agent-requests.ts'
import type { ServedNode } from './served-node.ts'

export interface LocalAgentOptions {
  readonly environment: Environment
  readonly node: ServedNode
  /** What `/configz` shows. */
  readonly configuration?: Readonly<Record<string, unknown>>
}

/** The agent of a node of this process, asked over connections that leave it nowhere. */
export interface LocalAgent {
  /** A connection at whose other end the agent answers HTTP, at the paths of kubelets. Whoever has it may ask for everything. */
  connect(): Duplex
  /** Ends what is under way on all connections. */
  close(): void
}

/** Bytes of a request's first line and headers: the server that sends them on takes no more. */
const headerBytesMax = 1024 * 1024

export function createLocalAgent({ environment, node, configuration }: LocalAgentOptions): LocalAgent {
  const closing = new AbortController()
  const connections = new Set<Duplex>()
  const server = createServer({ maxHeaderSize: headerBytesMax, shouldUpgradeCallback: mayUpgrade })
  const admit = async () => ({ node, assertMay: async () => {} })
  new AgentRequests({ environment, configuration, admit, closing: closing.signal }).answer(server)
  server.on('clientError', (_error, connection) => connection.destroy())
  return {
    connect() {
      const [here, there] = duplexPair()
      connections.add(there)
      there.once('close', () => connections.delete(there))
      // Node.js serves any stream that is handed to it so.
      server.emit('connection', there)
      return here
    },
    close() {
      closing.abort(new Error('the agent of the node has ended'))
      for (const connection of connections) connection.destroy()
    },
  }
}

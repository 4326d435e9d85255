import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '@coracle/environment'
import { createKubelet, createNodeAgents, createProcessRuntime } from '@coracle/kubelet'
import { identities, nodeIdentity } from './identities.ts'
import type { NodeConnections } from './node-connections.ts'
import type { Worlds } from './worlds.ts'

/** Nodes of real processes in one cluster: each has addresses of its own, of which a host has so many. */
export const processNodesMax = 64

export interface NodesOptions {
  readonly worlds: Worlds
  /** Learns how to reach each node. */
  readonly connections: NodeConnections
  readonly count: number
  /** What their names begin with; a number follows. */
  readonly namePrefix: string
  readonly runtime: 'process' | 'simulated'
  /** Undefined: what real containers leave behind goes to a temporary directory, and goes with them. */
  readonly dataDir: string | undefined
}

/** The nodes of a cluster at work. */
export interface Nodes {
  stop(options: { readonly containers: 'terminate' | 'keep' }): Promise<void>
}

/** Starts the node agents; resolves when each has registered its node and seen its pods. */
export function startNodes(options: NodesOptions): Promise<Nodes> {
  assert(Number.isInteger(options.count) && options.count >= 0, `not a number of nodes: ${options.count}`)
  return options.runtime === 'simulated' ? startSimulatedNodes(options) : startProcessNodes(options)
}

async function startSimulatedNodes({ worlds, connections, count, namePrefix }: NodesOptions): Promise<Nodes> {
  if (count === 0) return { stop: async () => {} }
  const client = worlds.clientOf('nodes', identities.simulatedNodes)
  const environment = worlds.environmentOf('nodes')
  const agents = createNodeAgents({ client, environment, count, runtime: 'simulated', namePrefix })
  const connection = {
    logs: async (...request: Parameters<typeof agents.logs>) => agents.logs(...request),
  }
  for (const name of agents.nodeNames) connections.add(name, connection)
  await agents.start()
  return {
    async stop() {
      for (const name of agents.nodeNames) connections.remove(name)
      await agents.stop()
    },
  }
}

async function startProcessNodes(options: NodesOptions): Promise<Nodes> {
  assert(options.count <= processNodesMax, `${options.count} nodes of real processes are more than ${processNodesMax}`)
  const temporary = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'coracle-')) : undefined
  const nodes = await Promise.all(
    Array.from({ length: options.count }, (_, index) =>
      startProcessNode(options, index, options.dataDir ?? temporary ?? ''),
    ),
  )
  return {
    async stop({ containers }) {
      await Promise.all(nodes.map((node) => node.stop({ containers })))
      if (temporary !== undefined && containers === 'terminate') await rm(temporary, { recursive: true, force: true })
    },
  }
}

async function startProcessNode(
  { worlds, connections, namePrefix }: NodesOptions,
  index: number,
  dataDirectory: string,
): Promise<Nodes> {
  const name = `${namePrefix}${index}`
  const environment = worlds.environmentOf(name)
  const runtime = createProcessRuntime({ environment, dataDirectory, nodeName: name })
  const kubelet = createKubelet({
    client: worlds.clientOf(name, nodeIdentity(name)),
    environment,
    nodeName: name,
    runtime,
  })
  connections.add(name, { logs: async (...request) => kubelet.logs(...request) })
  await kubelet.start()
  return {
    async stop(stopOptions) {
      connections.remove(name)
      await kubelet.stop(stopOptions).finally(() => runtime.close())
    },
  }
}

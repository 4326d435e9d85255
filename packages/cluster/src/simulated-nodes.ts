import { type Node, nodes, pods } from '@coracle/api'
import type { Client, ConnectionLink } from '@coracle/client'
import { assert } from '@coracle/environment'
import {
  createNodeAgents,
  createSimulatedRuntime,
  type NodeAgents,
  type StoredNodes,
  simulatedNodeAddress,
} from '@coracle/kubelet/simulated'
import type { Started } from './component.ts'
import { ComponentGroup, type StartMember } from './component-group.ts'
import { identities } from './identities.ts'
import { type Nodes, type NodesOptions, ownNames, startKubelet, startWithVolumes } from './nodes.ts'

/** Simulated nodes with an agent each, at most: each has 256 addresses of 10.128.0.0/9 for its pods. */
const separateNodesMax = 32_768
const addressesPerNode = 256

/** Nodes that exist in the API alone, to be started. */
export function simulatedNodes(options: NodesOptions): Nodes {
  const nodes = options.agents === 'separate' ? separateNodes(options) : sharedNodes(options)
  return { ...nodes, start: (link) => startWithVolumes(options, undefined, nodes.start(link), link) }
}

function sharedNodes(options: NodesOptions): Nodes {
  const { count, stored } = options
  return {
    start(link) {
      if (count === 0 && !stored) return { atWork: Promise.resolve(), stop: () => {} }
      return startSharedNodes(options, link)
    },
    node(name) {
      throw new Error(`node "${name}" shares its agent with all others: start the cluster with agents: 'separate'`)
    },
  }
}

function startSharedNodes(
  { worlds, connections, count, namePrefix, stored, behaviour }: NodesOptions,
  link: ConnectionLink,
): Started {
  const client = worlds.clientOf('nodes', identities.simulatedNodes, link)
  const environment = worlds.environmentOf('nodes')
  let agents: NodeAgents | undefined
  let isStopped = false
  const start = async (): Promise<void> => {
    const found = stored ? await storedNodes(client, ownNames({ count, namePrefix })) : undefined
    if (isStopped) return
    agents = createNodeAgents({
      client,
      environment,
      count,
      runtime: 'simulated',
      namePrefix,
      ...(found === undefined ? {} : { stored: found }),
      ...(behaviour === undefined ? {} : { behaviour }),
    })
    const shared = agents
    const { usage, logs, exec, attach, portForward, runtime, nodeNames } = shared
    const common = { usage, exec, attach, portForward }
    for (const nodeName of nodeNames) {
      const pods = () => shared.podsOf(nodeName)
      connections.add(nodeName, {
        ...common,
        environment,
        logs: async (...request) => logs(...request),
        served: () => ({
          ...common,
          logs,
          nodeName,
          nodeAddress: shared.nodeAddress(nodeName),
          facts: shared.nodeFacts(nodeName),
          runtime,
          pods,
        }),
      })
    }
    await shared.start()
  }
  const atWork = start()
  return {
    atWork,
    stop() {
      isStopped = true
      for (const name of agents?.nodeNames ?? []) connections.remove(name)
      return agents?.stop()
    },
  }
}

/** The nodes there are that are alive and not this process's `own`, and all pods. A node that is down stays down: nobody speaks for it. */
async function storedNodes(client: Client, own: ReadonlySet<string>): Promise<StoredNodes> {
  const [{ items: allNodes }, { items: allPods }] = await Promise.all([client.list(nodes), client.list(pods)])
  const alive = allNodes.filter((node) => !own.has(node.metadata.name ?? '') && isReady(node))
  return { nodes: alive, pods: allPods }
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true
}

/** Simulated nodes with an agent each. Their runtimes outlive the agents: containers run on when one is stopped. */
function separateNodes(options: NodesOptions): Nodes {
  const { worlds, count, namePrefix, drives } = options
  assert(count <= separateNodesMax, `${count} nodes with agents of their own are more than ${separateNodesMax}`)
  const startMember = (index: number): readonly [string, StartMember<void>] => {
    const name = `${namePrefix}${index}`
    const [high, low] = [128 + Math.floor(index / 256), index % 256]
    const runtime = createSimulatedRuntime({
      environment: worlds.environmentOf(`${name} runtime`),
      addresses: { first: `10.${high}.${low}.0`, count: addressesPerNode },
    })
    return [name, (_, link) => startKubelet(options, { name, runtime, address: simulatedNodeAddress(index) }, link)]
  }
  const group = new ComponentGroup(new Map(Array.from({ length: count }, (_, index) => startMember(index))), drives)
  return { start: (link) => group.start(undefined, link), node: (name) => group.component(name) }
}

import { badRequest, serviceUnavailable } from '@coracle/api'
import type { NodeAgent, NodeGateway } from '../node-gateway.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { parseProxiedName } from './proxied-name.ts'

/** The port that node agents have upstream: naming it is naming none. */
const kubeletPort = '10250'

/**
 * The agent of a node, wherever it is. Rejects with a BadRequest for other ports: nothing else of a node's host is reached through here; and
 * with a ServiceUnavailable where there is none.
 */
export async function agentOfNode(id: string, registry: ResourceRegistry, nodes: NodeGateway): Promise<NodeAgent> {
  const { name, port } = parseProxiedName(id, 'node')
  await registry.get('', name)
  if (port !== '' && port !== kubeletPort) throw badRequest('address not allowed')
  const agent = nodes.ownAgent(name) ?? (await nodes.remoteAgent(name))
  if (agent !== undefined) return agent
  throw serviceUnavailable(
    `error trying to reach service: node ${JSON.stringify(name)} is not connected to this server`,
  )
}

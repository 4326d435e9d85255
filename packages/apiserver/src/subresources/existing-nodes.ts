import { nodes as nodeKind, notFound, type Pod } from '@coracle/api'
import { storedObject } from '../admission/stored-objects.ts'
import type { NodeGateway } from '../node-gateway.ts'
import type { Registries } from '../registries.ts'

/**
 * The way to node agents for what is asked of one pod. Where an agent cannot do it and the pod's node is not there, that is said as
 * upstream says it, which looks the node up before: 404, `nodes "n1" not found`.
 */
export function existingNodes(registries: Registries, nodes: NodeGateway): NodeGateway {
  const ask = async <T>({ spec }: Pod, answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      const name = spec.nodeName ?? ''
      throw storedObject(registries, nodeKind, name) === undefined ? notFound(nodeKind, name) : error
    }
  }
  return {
    remoteAgent: (nodeName) => nodes.remoteAgent(nodeName),
    ownAgent: (nodeName) => nodes.ownAgent(nodeName),
    logs: (pod, options, signal) => ask(pod as Pod, nodes.logs(pod, options, signal)),
    exec: (pod, options) => ask(pod, nodes.exec(pod, options)),
    attach: (pod, options) => ask(pod, nodes.attach(pod, options)),
    portForward: (pod) => ask(pod, nodes.portForward(pod)),
    podMetrics: (nodeName, pods) => nodes.podMetrics(nodeName, pods),
    nodeMetrics: (node, pods) => nodes.nodeMetrics(node, pods),
  }
}

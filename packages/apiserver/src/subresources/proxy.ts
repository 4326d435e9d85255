import {
  ApiError,
  type Endpoints,
  endpoints,
  nodeProxyOptionsSchema,
  type Pod,
  podProxyOptionsSchema,
  pods,
  type Service,
  serviceProxyOptionsSchema,
  serviceUnavailable,
} from '@coracle/api'
import type { ForwardPort } from '@coracle/client/streaming'
import { storedObject } from '../admission/stored-objects.ts'
import type { NodeGateway } from '../node-gateway.ts'
import { podEndpoints, podLocation, servicePortName } from '../proxy/pod-location.ts'
import { parseProxiedName } from '../proxy/proxied-name.ts'
import type { Registries } from '../registries.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { admitConnect } from './connect.ts'
import type { Proxied } from './subresource.ts'

const podKind = { group: '', version: 'v1', kind: 'PodProxyOptions', schema: podProxyOptionsSchema }
const serviceKind = { group: '', version: 'v1', kind: 'ServiceProxyOptions', schema: serviceProxyOptionsSchema }
const nodeKind = { group: '', version: 'v1', kind: 'NodeProxyOptions', schema: nodeProxyOptionsSchema }

/** `pods/proxy`: sends requests on to a port of a pod. */
export function podProxySubresource(registry: ResourceRegistry, nodes: NodeGateway): Proxied {
  return {
    async proxy(context, namespace, id, { path }) {
      await admitConnect(registry, context, namespace, id, podKind, 'proxy', optionsOf(path))
      const pod = (await registry.get(namespace, parseProxiedName(id, 'pod').name)).object as Pod
      return { kind: 'pod', ...podLocation(id, pod), forward: await forwardTo(nodes, pod) }
    },
  }
}

/** `services/proxy`: sends requests on to a pod behind a service. */
export function serviceProxySubresource(
  registry: ResourceRegistry,
  registries: Registries,
  nodes: NodeGateway,
): Proxied {
  let turns = 0
  return {
    async proxy(context, namespace, id, { path }) {
      await admitConnect(registry, context, namespace, id, serviceKind, 'proxy', optionsOf(path))
      const { scheme, name, port } = parseProxiedName(id, 'service')
      const service = (await registry.get(namespace, name)).object as Service
      const portName = servicePortName(port, service)
      const all = storedObject(registries, endpoints, name, namespace) as Endpoints | undefined
      const podOf = (pod: string) => storedObject(registries, pods, pod, namespace)
      const ready = all === undefined ? [] : podEndpoints(all, portName, podOf)
      turns += 1
      const chosen = ready[turns % ready.length]
      if (chosen === undefined) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`)
      const forward = await forwardTo(nodes, chosen.pod)
      return { kind: 'pod', scheme, host: chosen.host, port: chosen.port, forward }
    },
  }
}

/** `nodes/proxy`: asks the agent of a node. */
export function nodeProxySubresource(registry: ResourceRegistry, nodes: NodeGateway): Proxied {
  return {
    async proxy(context, namespace, id, request) {
      await admitConnect(registry, context, namespace, id, nodeKind, 'proxy', optionsOf(request.path))
      // At the first request: most clusters are never asked.
      const { agentOfNode } = await import('../proxy/node-agent.ts')
      return { kind: 'agent', agent: await agentOfNode(id, registry, nodes) }
    },
  }
}

const optionsOf = (path: string) => (path === '' ? {} : { path })

/** The way to a pod through its node. Rejects with a ServiceUnavailable where there is none. */
async function forwardTo(nodes: NodeGateway, pod: Pod): Promise<ForwardPort> {
  try {
    return await nodes.portForward(pod)
  } catch (error) {
    const why = error instanceof ApiError || error instanceof Error ? error.message : String(error)
    throw serviceUnavailable(`error trying to reach service: ${why}`)
  }
}

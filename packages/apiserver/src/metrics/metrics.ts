import {
  compareText,
  type KubernetesObject,
  type Node,
  type NodeMetrics,
  nodeMetrics,
  nodes as nodeResource,
  notFound,
  type Pod,
  type PodMetrics,
  podMetrics,
  pods as podResource,
  type Resource,
} from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import type { NodeGateway } from '../node-gateway.ts'
import type { Registries } from '../registries.ts'
import { ComputedRegistry } from '../registry/computed-registry.ts'

/**
 * Serves what nodes and pods use (metrics.k8s.io, as metrics-server does): the agents of the nodes are asked when somebody asks for
 * it, and only about what was asked for. Nothing is stored, and nothing happens in between.
 */
export function serveMetrics(registries: Registries, nodes: NodeGateway): void {
  registries.addComputed(new ComputedRegistry(podMetrics, podMetricsSource(registries, nodes)))
  registries.addComputed(new ComputedRegistry(nodeMetrics, nodeMetricsSource(registries, nodes)))
}

function podMetricsSource(registries: Registries, nodes: NodeGateway) {
  const metricsOf = async (pods: readonly Pod[]): Promise<readonly PodMetrics[]> => {
    const running = pods.filter(({ status }) => status?.phase === 'Running')
    const asked = [...byNode(running)].map(([node, ofNode]) => nodes.podMetrics(node, ofNode))
    return (await Promise.all(asked)).flat()
  }
  return {
    async get(namespace: string, name: string): Promise<PodMetrics> {
      const pod = await getObject<Pod>(registries, podResource, namespace, name)
      const [metrics] = await metricsOf([pod])
      if (metrics === undefined) throw notFound(podMetrics, `${namespace}/${name}`)
      return metrics
    },
    async list(options: ListOptions): Promise<readonly PodMetrics[]> {
      const metrics = await metricsOf(await listObjects<Pod>(registries, podResource, options))
      return [...metrics].sort(
        (a, b) =>
          compareText(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
          compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
      )
    },
  }
}

function nodeMetricsSource(registries: Registries, nodes: NodeGateway) {
  return {
    async get(_namespace: string, name: string): Promise<NodeMetrics> {
      const node = await getObject<Node>(registries, nodeResource, '', name)
      const pods = await listObjects<Pod>(registries, podResource, { fieldSelector: `spec.nodeName=${name}` })
      const metrics = await nodes.nodeMetrics(node, pods)
      if (metrics === undefined) throw notFound(nodeMetrics, name)
      return metrics
    },
    async list(options: ListOptions): Promise<readonly NodeMetrics[]> {
      const selected = await listObjects<Node>(registries, nodeResource, options)
      const pods = byNode(await listObjects<Pod>(registries, podResource, {}))
      const asked = selected.map((node) => nodes.nodeMetrics(node, pods.get(node.metadata.name ?? '') ?? []))
      return (await Promise.all(asked)).filter((metrics) => metrics !== undefined)
    },
  }
}

/** Pods by the node they are on; those that are on none are left out. */
function byNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const bound = pods.filter(({ spec }) => (spec.nodeName ?? '') !== '')
  return Map.groupBy(bound, ({ spec }) => spec.nodeName ?? '')
}

async function getObject<T extends KubernetesObject>(
  registries: Registries,
  resource: Resource<T>,
  namespace: string,
  name: string,
): Promise<T> {
  const found = await registries.of(resource)?.get(namespace, name)
  if (found === undefined) throw notFound(resource, name)
  return found.object as T
}

async function listObjects<T extends KubernetesObject>(
  registries: Registries,
  resource: Resource<T>,
  { namespace, labelSelector, fieldSelector }: ListOptions,
): Promise<readonly T[]> {
  const selection = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
  const page = await registries.of(resource)?.list(selection)
  return (page?.items ?? []).map(({ object }) => object as T)
}

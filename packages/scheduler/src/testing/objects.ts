import type { Labels, Node, Pod, PodSpec, Taint } from '@coracle/api'
import type { Cluster } from '../cluster.ts'
import type { NodeInfo } from '../node-info.ts'

let count = 0

/** A pod that asks for what is given, and for nothing else. */
export function makePod(
  spec: Partial<PodSpec> & { readonly requests?: Readonly<Record<string, string>> } = {},
  name = `pod-${++count}`,
): Pod {
  const { requests, ...rest } = spec
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'main', ...(requests === undefined ? {} : { resources: { requests } }) }],
      ...rest,
    },
  }
}

export interface NodeOptions {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly unschedulable?: boolean
  readonly allocatable?: Readonly<Record<string, string>>
}

/** A node with 4 CPUs, 8 GiB and room for 110 pods, unless said otherwise. */
export function makeNode({
  name = `node-${++count}`,
  labels,
  taints,
  unschedulable,
  allocatable,
}: NodeOptions = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { taints, unschedulable },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable } },
  }
}

/** A cluster of these nodes that keeps nothing. Namespaces have the labels given, and each the services that select by these. */
export function makeCluster(
  nodes: readonly NodeInfo[],
  namespaces: Readonly<Record<string, Labels>> = {},
  serviceSelectors: readonly Labels[] = [],
): Cluster {
  return {
    nodes,
    nodeCount: nodes.length,
    node: (name) => nodes.find((node) => node.name === name),
    nodesWithAffinity: new Set(nodes.filter(({ podsWithAffinity }) => podsWithAffinity.size > 0)),
    hasNominatedPods: false,
    nominatedPods: () => [],
    nominatedNode: () => undefined,
    namespaceLabels: (name) => namespaces[name] ?? {},
    namespacesVersion: 0,
    serviceSelectors: () => serviceSelectors,
    index(_, create) {
      const index = create()
      for (const node of nodes) index.put(node)
      return index
    },
  }
}

import type { Labels, Pod } from '@coracle/api'
import type { NodeIndex } from './node-indexes.ts'
import type { NodeInfo } from './node-info.ts'

/** The cluster as the scheduler knows it. Nothing in it changes while a decision is made. */
export interface Cluster {
  /** All nodes, those of a zone not beside each other, so that a search of some of them sees all zones alike. */
  readonly nodes: readonly NodeInfo[]
  readonly nodeCount: number
  node(name: string): NodeInfo | undefined
  /** Those of the nodes that have pods with affinity or anti-affinity to pods. */
  readonly nodesWithAffinity: ReadonlySet<NodeInfo>
  /** Whether there is any pod to come to a node when others have left it. */
  readonly hasNominatedPods: boolean
  /** Pods that are to come to the node when others have left it to make room for them. */
  nominatedPods(node: string): readonly Pod[]
  /** Where the pod of this uid is to come. */
  nominatedNode(uid: string): string | undefined
  /** None where the namespace is not known. */
  namespaceLabels(name: string): Labels
  /** Changes whenever the labels of a namespace do: to be part of the key of what has been found out by them. */
  readonly namespacesVersion: number
  /** What the services of a namespace select by, those that do. */
  serviceSelectors(namespace: string): readonly Labels[]
  /**
   * What has been found out about all nodes: made by `create` when the key is new, and brought up to date with the nodes that
   * have changed since it was last asked for. Keys begin with the name of the plugin, which gives them all the same type.
   */
  index<I extends NodeIndex>(key: string, create: () => I): I
}

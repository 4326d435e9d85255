import type { DaemonSet, Node, Pod } from '@coracle/api'
import type { Belongings } from '../revisions/belongings.ts'

/** A daemon set, the nodes, and what belongs to it. */
export interface ObservedDaemonSet extends Belongings {
  readonly daemonSet: DaemonSet
  readonly nodes: readonly Node[]
  /** For how long yet a pod that failed on this node is left alone, as others failed there before it. 0: no longer. */
  waitAfterFailureMs(nodeName: string): number
}

/** A daemon set's pods by the node they are on, or are for; the older first. */
export type PodsByNode = ReadonlyMap<string, readonly Pod[]>

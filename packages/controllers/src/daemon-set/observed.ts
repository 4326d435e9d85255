import type { ControllerRevision, DaemonSet, Node, Pod } from '@coracle/api'

/** A daemon set, the nodes, and what belongs to it. */
export interface ObservedDaemonSet {
  readonly daemonSet: DaemonSet
  readonly nodes: readonly Node[]
  /** Pods that it controls and that match its selector. */
  readonly pods: readonly Pod[]
  /** Pods that match and are nobody's. */
  readonly orphans: readonly Pod[]
  /** Pods that it controls and that no longer match. */
  readonly mismatched: readonly Pod[]
  /** Revisions that it controls. */
  readonly revisions: readonly ControllerRevision[]
  /** Revisions that match its selector and are nobody's. */
  readonly orphanRevisions: readonly ControllerRevision[]
  /** Whether there is a revision of this name, whoever's it is. */
  isRevisionNameTaken(name: string): boolean
  /** For how long yet a pod that failed on this node is left alone, as others failed there before it. 0: no longer. */
  waitAfterFailureMs(nodeName: string): number
}

/** A daemon set's pods by the node they are on, or are for; the older first. */
export type PodsByNode = ReadonlyMap<string, readonly Pod[]>

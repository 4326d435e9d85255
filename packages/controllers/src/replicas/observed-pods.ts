import type { KubernetesObject, Pod } from '@coracle/api'
import type { ReplicaCounts } from './tally.ts'

/** The pods of an object as a plan sees them: counts, those that are exceptions, and the rest only if it asks. */
export interface ObservedPods {
  /** What the pods come to that the object controls. */
  readonly counts: ReplicaCounts
  /** Pods that it controls, that run or will, and that no longer match its selector. */
  readonly mismatched: readonly Pod[]
  /** Pods of the namespace that run or will, match, and are nobody's. */
  readonly orphans: readonly Pod[]
  /** All pods that it controls. */
  controlled(): readonly Pod[]
  /**
   * Pods beside which one of its own counts as doubled up on a node: those of all objects that one controller has made, and
   * none for an object that nobody controls (as upstream has it).
   */
  related(): readonly Pod[]
}

/** An object that keeps a number of pods, and these pods. */
export interface ObservedOwner<T extends KubernetesObject> extends ObservedPods {
  readonly owner: T
}

import type { ControllerRevision, Pod, StatefulSet } from '@coracle/api'
import type { ClaimLookup } from './claims.ts'

/** A stateful set, and what belongs to it. */
export interface ObservedStatefulSet {
  readonly set: StatefulSet
  /** Pods that it controls and that match its selector. */
  readonly pods: readonly Pod[]
  /** Pods that match, are named like its own, and are nobody's. */
  readonly orphans: readonly Pod[]
  /** Pods that it controls and that no longer match. */
  readonly mismatched: readonly Pod[]
  /** Revisions that it controls. */
  readonly revisions: readonly ControllerRevision[]
  /** Revisions that match its selector and are nobody's. */
  readonly orphanRevisions: readonly ControllerRevision[]
  /** Whether there is a revision of this name, whoever's it is. */
  isRevisionNameTaken(name: string): boolean
  readonly claim: ClaimLookup
}

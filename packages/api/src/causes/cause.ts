/** The group and version of the causal record, and its resource: `/apis/coracle.dev/v1/causes`. */
export const causesGroup = 'coracle.dev'
export const causesVersion = 'v1'
export const causesPlural = 'causes'

/** The reconcile that led a controller to a write. */
export interface ReconcileOrigin {
  /** Name of the controller: `replicaset`, `scheduler`. */
  readonly controller: string
  /** The object that was reconciled, as the controller saw it. */
  readonly object: ReconciledObject
  /** Revisions of the changes the controller had newly seen, the latest first; none where only time has passed. */
  readonly seen: readonly number[]
}

export interface ReconciledObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}

/** What a writer says of why it writes. */
export interface CauseClaim {
  /** Why, in a few words for people: `2 of 3 replicas exist`. */
  readonly because?: string
  readonly reconcile?: ReconcileOrigin
}

/** What a transaction did to one object. */
export interface CausedChange {
  readonly operation: 'create' | 'update' | 'delete'
  readonly group: string
  readonly resource: string
  /** Absent where the kind is not served any more. */
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}

/** Why the objects of one transaction are as they are since. */
export interface Cause {
  readonly apiVersion: 'coracle.dev/v1'
  readonly kind: 'Cause'
  /** The name is the revision; it is what the objects had as `resourceVersion` after it. */
  readonly metadata: { readonly name: string; readonly creationTimestamp: string }
  readonly revision: number
  readonly changes: readonly CausedChange[]
  /** Who asked for it, as authentication established it. */
  readonly user: string
  /** What was asked for: the object itself, or a subresource. */
  readonly request: {
    readonly verb: 'create' | 'update' | 'delete'
    readonly subresource?: string
    readonly fieldManager?: string
    readonly userAgent?: string
    /** As the client named the request, in its `Audit-ID` header. */
    readonly auditID?: string
  }
  /** Admission plugins that changed what was asked for. */
  readonly admission?: readonly string[]
  readonly because?: string
  readonly reconcile?: ReconcileOrigin
  /** The reason is what the user says of itself, and the user is no component of the cluster. */
  readonly claimed?: boolean
}

export interface CauseList {
  readonly apiVersion: 'coracle.dev/v1'
  readonly kind: 'CauseList'
  readonly metadata: { readonly continue?: string }
  /** Newest first. */
  readonly items: readonly Cause[]
}

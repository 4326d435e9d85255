import type { KubernetesObject, Resource } from '@coracle/api'
import type { ApplyConfiguration, EventType, ObjectKey, Patch } from '@coracle/client'
import type { Time } from '@coracle/environment'

/**
 * What a controller has decided to do: the answer of a pure function to what it observed. It is data, so that tests are
 * tables and that what would happen can be shown before it does.
 */
export interface Plan<Status> {
  /** In order. Neighbours of one type and resource are done at the same time. */
  readonly actions: readonly Action[]
  /** The status the object should have; absent: as it is. Written once, after the actions, and only if it differs. */
  readonly status?: Status
  /** The status tells of what the actions do, and is not written where one of them has failed. Otherwise it is written in any case. */
  readonly isStatusOfSuccess?: boolean
  /**
   * Annotations the object should have beside its others, written along with the status. For kinds whose status subresource takes
   * annotations.
   */
  readonly annotations?: Readonly<Record<string, string>>
  /** Look again after this time though nothing changes. */
  readonly requeueAfterMs?: number
}

export type Action = CreateAction | UpdateAction | PatchAction | ApplyAction | DeleteAction | EventAction

interface Reasoned {
  /** Why, in a few words for people: `2 of 3 replicas exist`. */
  readonly because: string
  /**
   * Actions of one chain build on each other, and those of others do not build on them: where one fails, or is left for the next
   * time, so are the rest of its chain and all that are of none.
   */
  readonly chain?: string
}

/**
 * Events about the planned object that a write brings forth. In messages `{name}` stands for the name of the object
 * written, and `{error}` for why it failed.
 */
export interface WriteEvents {
  readonly succeeded?: { readonly reason: string; readonly message: string }
  /** All of these. */
  readonly failed?: FailureEvent | readonly FailureEvent[]
}

export interface FailureEvent {
  readonly reason: string
  readonly message: string
  /** Nothing is told where the write failed for this reason of a Status. */
  readonly unless?: string
}

/**
 * Creations of one kind start slowly: one, then four, sixteen and so on while all succeed. A template that the server
 * refuses thus costs one request, not a thousand. After a failure the rest is left for the next time.
 */
export interface CreateAction extends Reasoned {
  readonly type: 'create'
  readonly resource: Resource
  readonly object: KubernetesObject
  readonly events?: WriteEvents
}

export interface UpdateAction extends Reasoned {
  readonly type: 'update'
  readonly resource: Resource
  readonly object: KubernetesObject
  readonly subresource?: string
  readonly events?: WriteEvents
}

export interface PatchAction extends Reasoned {
  readonly type: 'patch'
  readonly resource: Resource
  readonly key: ObjectKey
  readonly patch: Patch
  readonly subresource?: string
  readonly events?: WriteEvents
}

/**
 * Server-side apply: the object has what the configuration says, and what this controller applied before and leaves out now goes. It is
 * created where it is not there. The controller is the field manager, and takes over what others own.
 */
export interface ApplyAction extends Reasoned {
  readonly type: 'apply'
  readonly resource: Resource
  readonly object: ApplyConfiguration<KubernetesObject>
  readonly subresource?: string
  readonly events?: WriteEvents
}

/** Deletes an object. That it is gone already counts as success, of which no event tells unless asked to. */
export interface DeleteAction extends Reasoned {
  readonly type: 'delete'
  readonly resource: Resource
  readonly key: ObjectKey
  /** Only the object of this identity: not another that took its name meanwhile. */
  readonly uid?: string
  /** Only the object as it was read. */
  readonly resourceVersion?: string
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly events?: WriteEvents
  /** Whether it is told of as a success, too, that the object was gone already. */
  readonly tellsIfGone?: boolean
}

/** Reports something to users, about the planned object or another. */
export interface EventAction extends Reasoned {
  readonly type: 'event'
  readonly eventType: EventType
  readonly reason: string
  readonly message: string
  readonly about?: KubernetesObject
  /** Who reports, where it is not the component of the controller. */
  readonly component?: string
}

/** An action that was carried out or tried: a link of the chain from cause to effect. */
export interface ActionRecord {
  readonly time: Time
  readonly controller: string
  /** The object that was reconciled. */
  readonly object: RecordedObject
  readonly type: Exclude<Action['type'], 'event'> | 'status'
  /** The object that was written. */
  readonly target: RecordedObject
  readonly because: string
  /** Absent where it succeeded. */
  readonly error?: string
}

export interface RecordedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string | undefined
}

import type { KubernetesObject, OwnerReference, Pod } from '@coracle/api'
import type { Kind } from './kinds.ts'

/** What an invariant may look at: everything there is, and what was lately. */
export interface View {
  readonly nowMs: number
  /** How long ago what a component acts on may have been true: a moment, or minutes where it may be cut off from the news. */
  readonly staleMs: number
  /** Whether nothing is wrong now, and nothing was lately: what holds only then is judged only then. */
  readonly isCalm: boolean
  list<T extends KubernetesObject = KubernetesObject>(kind: Kind): readonly T[]
  /** Everything there is. */
  all(): Iterable<KubernetesObject>
  byUid(uid: string): KubernetesObject | undefined
  find(kind: Kind, namespace: string | undefined, name: string): KubernetesObject | undefined
  /** The pods that an object controls. */
  podsOf(uid: string): readonly Pod[]
  /** The versions of an object that whoever acts now may have seen, the latest last; also of one that is gone. */
  recent<T extends KubernetesObject = KubernetesObject>(uid: string): readonly T[]
  /** Creations of an owner's pods that may have taken effect lately without whoever asked learning of it: whoever does not, asks again. */
  unansweredPodsOf(owner: string): number
  /** Whether the creation of this object is one of them: whoever asked for it may act as if there were none. */
  isCreationUnanswered(object: KubernetesObject): boolean
  /** Which component last asked for the deletion of an object; undefined where none did. */
  deleterOf(object: KubernetesObject): string | undefined
  /** Whether whoever that was did not want to wait for anybody, such as the node of a pod. */
  isForced(object: KubernetesObject): boolean
  /** How often the deletion of an object was asked for, and of others of its kind and name. */
  deletionsOf(object: KubernetesObject): number
}

/** A change of an object as it was stored. */
export interface Change {
  readonly revision: number
  /** Undefined where it is new. */
  readonly old: KubernetesObject | undefined
  /** Undefined where it is gone. */
  readonly object: KubernetesObject | undefined
}

/** A rule. Each part returns what is wrong. */
export interface Invariant {
  readonly name: string
  /** Holds at every change, whatever happens. */
  readonly check?: (change: Change, view: View) => string | undefined
  /** Holds in the end, when faults have stopped and time has passed. */
  readonly finally?: (view: View) => readonly string[]
}

/** A rule that was broken. */
export interface Violation {
  readonly invariant: string
  /** What was seen, for people. */
  readonly message: string
  /** Milliseconds since the start. */
  readonly atMs: number
}

export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/** `Pod default/web-0`. */
export function labelOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
}

/** Whether a pod is there to stay: it has not ended, and is not going. */
export function isActive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && !hasEnded({ status } as Pod)
}

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true

/**
 * The versions of an object that its own controller may act on as far as it has written them itself: the latest alone, since it waits for its
 * own writes, unless another may have taken over from it.
 */
export function seenByWriter<T>(versions: readonly T[], view: View): readonly T[] {
  return view.isCalm ? versions.slice(-1) : versions
}

/** Whether this change made the object. */
export const isNew = ({ old, object }: Change): boolean =>
  object !== undefined && old?.metadata.uid !== object.metadata.uid

import { deepEqual, type KubernetesObject } from '@coracle/api'

/** A change as an informer reports it. */
export type Change<T extends KubernetesObject> =
  | { readonly type: 'add'; readonly object: T }
  | { readonly type: 'update'; readonly old: T; readonly object: T }
  | { readonly type: 'delete'; readonly object: T }

/** Whether a change is worth a reconcile. Leaving one out must never matter for the outcome, only for the effort. */
export type Predicate<T extends KubernetesObject> = (change: Change<T>) => boolean

/** Of updates only those of the desired state: what counts a generation, and the beginning of a deletion. */
export const generationChanged: Predicate<KubernetesObject> = updatesOf(
  ({ metadata: old }, { metadata }) =>
    old.generation !== metadata.generation || old.deletionTimestamp !== metadata.deletionTimestamp,
)

/** Of updates only those that change labels. */
export const labelsChanged: Predicate<KubernetesObject> = updatesOf(
  (old, object) => !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}),
)

/** Of updates only those that change annotations. */
export const annotationsChanged: Predicate<KubernetesObject> = updatesOf(
  (old, object) => !deepEqual(old.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
)

/** Of updates only those that are a new version of the object. */
export const resourceVersionChanged: Predicate<KubernetesObject> = updatesOf(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
)

/** Changes for which all of these hold. */
export function allOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change))
}

/** Changes for which one of these holds. */
export function anyOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change))
}

/** Changes for which this does not hold. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change)
}

/** Updates for which `isWorthIt` holds, and everything that comes or goes. */
function updatesOf(
  isWorthIt: (old: KubernetesObject, object: KubernetesObject) => boolean,
): Predicate<KubernetesObject> {
  return (change) => change.type !== 'update' || isWorthIt(change.old, change.object)
}

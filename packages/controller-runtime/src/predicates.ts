import type { KubernetesObject } from '@coracle/api'

/** A change as an informer reports it. */
export type Change<T extends KubernetesObject> =
  | { readonly type: 'add'; readonly object: T }
  | { readonly type: 'update'; readonly old: T; readonly object: T }
  | { readonly type: 'delete'; readonly object: T }

/** Whether a change is worth a reconcile. Leaving one out must never matter for the outcome, only for the effort. */
export type Predicate<T extends KubernetesObject> = (change: Change<T>) => boolean

/** Of updates only those of the desired state: what counts a generation, and the beginning of a deletion. */
export const generationChanged: Predicate<KubernetesObject> = (change) =>
  change.type !== 'update' ||
  change.old.metadata.generation !== change.object.metadata.generation ||
  change.old.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp

import { lastAppliedAnnotation, revisionAnnotation } from '@coracle/api'

/** The revisions that a ReplicaSet stood for before it was rolled back to: `1,3`. */
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'

/**
 * How many replicas the deployment asked for when a ReplicaSet was last resized. Where it asks for another number since, the
 * deployment is being scaled and not rolled out.
 */
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'

/** How many there might have been with the surge: what the ReplicaSet's size is a share of, when all are scaled in proportion. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

/**
 * Asks for an earlier revision: the number, or 0 for the one before. It is how `spec.rollbackTo` of extensions/v1beta1 is kept;
 * clients of apps/v1 write the earlier template themselves.
 */
export const rollbackAnnotation = 'deprecated.deployment.rollback.to'

/** Annotations of a deployment that are its own business, or the ReplicaSet's. All others are copied. */
export const ownAnnotations: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  rollbackAnnotation,
])

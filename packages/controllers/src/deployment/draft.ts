import { type Deployment, deepEqual, type ReplicaSet, replicaSets } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { desiredReplicasAnnotation, maxReplicasAnnotation } from './annotations.ts'
import { desiredOf, maxReplicas } from './limits.ts'
import { replicasOf } from './replica-sets.ts'

/** A ReplicaSet as it is, or as it would be made, and what is to change about it. */
export interface Draft {
  /** As it is; with `isNew` as it is going to be made. */
  readonly set: ReplicaSet
  readonly isNew: boolean
  readonly replicas: number
  readonly annotations: Readonly<Record<string, string>>
  readonly minReadySeconds: number | undefined
}

/** A draft that changes nothing yet. */
export function draftOf(set: ReplicaSet, isNew = false): Draft {
  const { annotations = {} } = set.metadata
  return { set, isNew, replicas: replicasOf(set), annotations, minReadySeconds: set.spec.minReadySeconds }
}

/** The draft at another size. It notes what the deployment asks for, even where the size is the same. */
export function resized(draft: Draft, replicas: number, deployment: Deployment): Draft {
  return { ...draft, replicas, annotations: { ...draft.annotations, ...sizeAnnotations(deployment) } }
}

/** What a ReplicaSet notes about the size of its deployment. */
export function sizeAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  return {
    [desiredReplicasAnnotation]: String(desiredOf(deployment)),
    [maxReplicasAnnotation]: String(maxReplicas(deployment)),
  }
}

/** Pods of a draft that are available. Those that a smaller size will take away do not count. */
export const availableIn = ({ set, replicas }: Draft): number => Math.min(replicas, set.status?.availableReplicas ?? 0)

/** Whether a draft has or wants pods. */
export const isActive = ({ replicas }: Draft): boolean => replicas > 0

/** What makes a draft true: one write, or none. */
export function actionsFor(draft: Draft, because: string): readonly Action[] {
  const { set, isNew, replicas, annotations, minReadySeconds } = draft
  if (isNew) return [creation(draft, because)]
  const isSame =
    replicas === replicasOf(set) &&
    minReadySeconds === set.spec.minReadySeconds &&
    deepEqual(annotations, set.metadata.annotations ?? {})
  if (isSame) return []
  const { minReadySeconds: _old, ...spec } = set.spec
  const object: ReplicaSet = {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...spec, replicas, ...(minReadySeconds === undefined ? {} : { minReadySeconds }) },
  }
  return [{ type: 'update', resource: replicaSets, object, because, ...scalingEvent(replicasOf(set), replicas) }]
}

function creation({ set, replicas, annotations }: Draft, because: string): Action {
  const object: ReplicaSet = {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, replicas },
  }
  const failed = { reason: 'ReplicaSetCreateError', message: 'Failed to create new replica set "{name}": {error}' }
  const { events } = scalingEvent(0, replicas)
  return { type: 'create', resource: replicaSets, object, because, events: { ...events, failed } }
}

function scalingEvent(from: number, to: number) {
  if (from === to) return {}
  const message = `Scaled ${to > from ? 'up' : 'down'} replica set {name} from ${from} to ${to}`
  return { events: { succeeded: { reason: 'ScalingReplicaSet', message } } }
}

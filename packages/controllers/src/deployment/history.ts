import { type Deployment, type ReplicaSet, replicaSets } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { historyLimit } from './limits.ts'
import { byRevision, replicasOf } from './replica-sets.ts'
import type { Rollout } from './rollout.ts'

/** Deletes the earliest of the old ReplicaSets that are too many to keep. Those that have pods, or had until now, stay. */
export function cleanUp(deployment: Deployment, { oldSets }: Rollout): readonly Action[] {
  const limit = historyLimit(deployment)
  if (limit === undefined) return []
  const kept = oldSets.map(({ set }) => set).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const tooMany = Math.max(0, kept.length - limit)
  // They come in the order of their age, and those of one revision stay in it.
  return [...kept].sort(byRevision).slice(0, tooMany).filter(isEmpty).map(remove)
}

function isEmpty(set: ReplicaSet): boolean {
  const { metadata, status } = set
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return replicasOf(set) === 0 && (status?.replicas ?? 0) === 0 && isObserved
}

function remove({ metadata: { namespace, name = '', uid } }: ReplicaSet): Action {
  const because = 'more old revisions exist than are kept'
  const key = namespace === undefined ? { name } : { namespace, name }
  return { type: 'delete', resource: replicaSets, key, ...(uid === undefined ? {} : { uid }), because }
}

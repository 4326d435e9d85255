import type { Pod, StatefulSet, StatefulSetStatus } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { availableAt } from '../pods/pod-state.ts'
import { type Health, isGoing } from './health.ts'
import { desiredOf } from './identity.ts'
import { revisionOf, type Versions } from './versions.ts'

/**
 * The pods, counted; `outdated` is deleted now and no more among those of the current template. When all are of the wanted template and
 * ready, that is the current one from then on.
 */
export function statusOf(
  set: StatefulSet,
  { current, update }: Versions,
  pods: readonly Pod[],
  health: Health,
  outdated?: Pod,
): StatefulSetStatus {
  const { conditions, collisionCount = 0 } = set.status ?? {}
  const created = pods.filter(({ status }) => status?.phase !== undefined)
  const staying = created.filter((pod) => !isGoing(pod))
  const countOf = (of: readonly Pod[], revision: string | undefined) =>
    of.filter((pod) => revisionOf(pod) === revision).length
  const replicas = created.length
  const updated = countOf(staying, update.metadata.name)
  const ready = pods.filter(health.isRunningAndReady).length
  const kept = staying.filter((pod) => pod !== outdated)
  const isRolling = (set.spec.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
  const isComplete = isRolling && [updated, ready, replicas].every((count) => count === desiredOf(set))
  return {
    observedGeneration: set.metadata.generation,
    replicas,
    readyReplicas: ready || undefined,
    availableReplicas: pods.filter(health.isAvailable).length,
    currentReplicas: (isComplete ? updated : countOf(kept, current.metadata.name)) || undefined,
    updatedReplicas: updated || undefined,
    currentRevision: isComplete ? update.metadata.name : current.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount,
    conditions,
  }
}

/** When the next pod becomes available if nothing happens; undefined: none will. */
export function nextAvailableAt({ spec }: StatefulSet, pods: readonly Pod[], nowMs: Time): Time | undefined {
  const times = pods.map((pod) => availableAt(pod, spec.minReadySeconds ?? 0))
  const next = Math.min(...times.filter((time) => time > nowMs))
  return Number.isFinite(next) ? next : undefined
}

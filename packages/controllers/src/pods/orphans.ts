import type { Pod } from '@coracle/api'
import type { IndexFunction } from '@coracle/client'
import { type Change, controllerOf, filedByLabels } from '@coracle/controller-runtime'
import { isActive } from './pod-state.ts'

/** The index of active pods that no controller has, by their labels. There are few, however many pods there are. */
export const orphanIndexName = 'orphan'

/** Files a pod that can be adopted under its labels. */
export const orphansByLabels: IndexFunction<Pod> = (pod) => (isOrphan(pod) ? filedByLabels(pod) : [])

/** Whether a change is one of an orphan, or of what was one. */
export function concernsOrphan(change: Change<Pod>): boolean {
  return isOrphan(change.object) || (change.type === 'update' && isOrphan(change.old))
}

/** Whether a pod is active and nobody's. */
export function isOrphan(pod: Pod): boolean {
  return controllerOf(pod) === undefined && isActive(pod)
}

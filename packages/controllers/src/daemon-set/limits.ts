import type { DaemonSet } from '@coracle/api'
import { shareOf } from '../share-of.ts'

/** Whether old pods are replaced by and by, and not only when somebody deletes them. */
export const isRollingUpdate = ({ spec }: DaemonSet): boolean =>
  (spec.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate'

/** On how many of these nodes there may be two pods during a rollout. */
export function maxSurge(daemonSet: DaemonSet, nodes: number): number {
  if (!isRollingUpdate(daemonSet)) return 0
  return shareOf(daemonSet.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, nodes, 'up')
}

/** On how many of these nodes the pod may be missing during a rollout without surge. On one at least: else nothing would move. */
export function maxUnavailable(daemonSet: DaemonSet, nodes: number): number {
  return Math.max(1, shareOf(daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 0, nodes, 'up'))
}

import { type Pod, type Taint, toleratesTaint } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

/** Whether a node asks pods that do not tolerate it to go. */
export function isEvicting(taints: readonly Taint[] | undefined): boolean {
  return taints?.some(({ effect }) => effect === 'NoExecute') === true
}

/**
 * When a pod has to leave a node with these taints: at once where it does not tolerate one, when the shortest toleration has run
 * out since its taint was added, or never (undefined).
 */
export function evictionTime(pod: Pod, taints: readonly Taint[], nowMs: Time): Time | undefined {
  let earliest: Time | undefined
  for (const taint of taints) {
    if (taint.effect !== 'NoExecute') continue
    const tolerations = pod.spec.tolerations?.filter((toleration) => toleratesTaint(toleration, taint)) ?? []
    if (tolerations.length === 0) return nowMs
    const seconds = tolerations.reduce((least, each) => Math.min(least, each.tolerationSeconds ?? Infinity), Infinity)
    if (seconds === Infinity) continue
    const since = timeOf(taint.timeAdded) ?? nowMs
    const until = Math.max(nowMs, since + Math.max(0, seconds) * 1000)
    earliest = Math.min(earliest ?? until, until)
  }
  return earliest
}

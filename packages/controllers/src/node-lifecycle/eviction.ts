import { type Pod, type Taint, tolerationOf } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

/** Whether a node asks pods that do not tolerate it to go. */
export function isEvicting(taints: readonly Taint[] | undefined): boolean {
  return taints?.some(({ effect }) => effect === 'NoExecute') === true
}

/**
 * When a pod has to leave a node with these taints: at once where it does not tolerate one, when the shortest toleration has run
 * out, or never (undefined). Of several that tolerate a taint the first counts. The time begins when the taint was added or the pod
 * was put on the node, whichever is later: a pod that comes to a node tainted long ago stays as long as others did.
 */
export function evictionTime(pod: Pod, taints: readonly Taint[], nowMs: Time): Time | undefined {
  let earliest: Time | undefined
  for (const taint of taints) {
    if (taint.effect !== 'NoExecute') continue
    const toleration = tolerationOf(taint, pod.spec.tolerations)
    if (toleration === undefined) return nowMs
    const { tolerationSeconds: seconds } = toleration
    if (seconds === undefined) continue
    // A taint that somebody puts on by hand does not say when: it counts from when it is seen.
    const since = Math.max(timeOf(taint.timeAdded) ?? nowMs, boundAt(pod) ?? 0)
    const until = Math.max(nowMs, since + Math.max(0, Number(seconds)) * 1000)
    earliest = Math.min(earliest ?? until, until)
  }
  return earliest
}

/** When a pod was put on its node; undefined where nothing tells. One that was made for its node was there from the first. */
function boundAt({ metadata, status }: Pod): Time | undefined {
  const scheduled = getCondition(status?.conditions, 'PodScheduled')
  return timeOf(scheduled?.status === 'True' ? scheduled.lastTransitionTime : metadata.creationTimestamp)
}

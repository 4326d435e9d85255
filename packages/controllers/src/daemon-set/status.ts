import type { DaemonSetStatus } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { availableAt, isReady } from '../pods/pod-state.ts'
import { isUpToDate, type RevisionHashes } from './daemon-pod.ts'
import { eligibility } from './eligibility.ts'
import type { ObservedDaemonSet, PodsByNode } from './observed.ts'

/** How many nodes have what they should, and when the next pod becomes available if nothing happens; undefined: none will. */
export function statusOf(
  { daemonSet, nodes }: ObservedDaemonSet,
  podsByNode: PodsByNode,
  hashes: RevisionHashes,
  nowMs: Time,
): { readonly status: DaemonSetStatus; readonly nextAvailableAt: Time | undefined } {
  const belongs = eligibility(daemonSet)
  const minReadySeconds = daemonSet.spec.minReadySeconds ?? 0
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 }
  let next = Number.POSITIVE_INFINITY
  for (const node of nodes) {
    const pods = podsByNode.get(node.metadata.name ?? '') ?? []
    const [pod] = pods
    if (belongs(node) !== 'runs') {
      if (pod !== undefined) counts.misscheduled++
      continue
    }
    counts.desired++
    if (pod === undefined) continue
    counts.current++
    if (isUpToDate(daemonSet, pod, hashes)) counts.updated++
    if (isReady(pod)) counts.ready++
    if (availableAt(pod, minReadySeconds) <= nowMs) counts.available++
    // A newer pod on the node is waited for too: it takes the place of this one.
    for (const each of pods) {
      const at = availableAt(each, minReadySeconds)
      if (at > nowMs) next = Math.min(next, at)
    }
  }
  const { collisionCount, conditions } = daemonSet.status ?? {}
  const status: DaemonSetStatus = {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    observedGeneration: daemonSet.metadata.generation,
    updatedNumberScheduled: counts.updated || undefined,
    numberAvailable: counts.available || undefined,
    numberUnavailable: counts.desired - counts.available || undefined,
    collisionCount,
    conditions,
  }
  return { status, nextAvailableAt: Number.isFinite(next) ? next : undefined }
}

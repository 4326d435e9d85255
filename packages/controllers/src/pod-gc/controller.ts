import { hasReason, type Node, nodes, type Pod, type PodStatus, pods as podResource } from '@coracle/api'
import type { Aggregate, IndexFunction } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  isConditionTrue,
  type Lookup,
  type Plan,
  performPlan,
  type ReconcileContext,
  type Result,
} from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { byNode, isBound, nodeIndexName } from '../pods/by-node.ts'
import { hasEnded, timeOf } from '../pods/pod-state.ts'
import { endedPodsMax, excessEndedPods, planAbandonedPod, planEndedPod, planOrphanedPod } from './plan.ts'

/** How long a node has to be gone before its pods go: it may be about to come back. */
export const quarantineMs = 40_000

/** Pods that have ended are counted no more often than this. */
export const endedCheckMs = 20_000

/** How long a pod without a node has to be on its way out before it is taken to be left there: whoever deletes one removes it at once. */
export const abandonedMs = 20_000

/** Pods deleted at a time. */
const deletionsParallelMax = 64

/** Stands for all pods that have ended. No node can be called that. */
const endedKey = '*'

/** Stands for all pods that are to go and never came to a node. No node can be called that either. */
const unassignedKey = '-'

/** A node with this taint, put there by hand, is known to be shut down: its pods run no longer (KEP-2268). */
const outOfServiceTaint = 'node.kubernetes.io/out-of-service'

const endedIndexName = 'ended'
const byEnd: IndexFunction<Pod> = (pod) => (hasEnded(pod) ? [endedKey] : [])

/** How many pods have ended: they are read only when they are too many. */
class EndedCount implements Aggregate<Pod> {
  count = 0

  add(pod: Pod): void {
    if (hasEnded(pod)) this.count++
  }

  remove(pod: Pod): void {
    if (hasEnded(pod)) this.count--
  }
}

const unassignedIndexName = 'unassigned'
const byLackOfNode: IndexFunction<Pod> = (pod) => (isUnassigned(pod) ? [unassignedKey] : [])

/**
 * Deletes pods that nobody else would: those of nodes that no longer exist or are out of service, those that are to go and
 * have no node, and those that ended long ago once there are too many of them.
 */
export function createPodGarbageCollector(): Controller {
  const ended = new EndedCount()
  // On the monotonic clock, which nobody puts back.
  const missingSince = new Map<string, number>()
  let endedCheckedAt = Number.NEGATIVE_INFINITY
  const concerns = (pod: Pod, lookup: Lookup): readonly string[] => {
    const isTooMany = hasEnded(pod) && ended.count > endedPodsMax
    return isTooMany ? [...abandonedKey(pod, lookup), endedKey] : abandonedKey(pod, lookup)
  }
  const indexes = { [nodeIndexName]: byNode, [endedIndexName]: byEnd, [unassignedIndexName]: byLackOfNode }
  return controller('pod-garbage-collector', { component: 'pod-garbage-collector' })
    .for(nodes, { predicates: [changesService] })
    .watches(podResource, concerns, { predicates: [changesPlace], indexes, aggregates: [ended] })
    .reconcile(async ({ key, object: node }, context) => {
      const passedMs = context.clock.monotonicMs()
      if (key === endedKey) {
        const waitMs = Math.ceil(endedCheckedAt + endedCheckMs - passedMs)
        if (waitMs > 0) return { requeueAfterMs: waitMs }
        endedCheckedAt = passedMs
        return ended.count > endedPodsMax ? deleteEnded(context) : undefined
      }
      const nowMs = context.clock.now()
      if (key === unassignedKey) {
        const unassigned = context.informer(podResource).byIndex(unassignedIndexName, key)
        const abandoned = unassigned.filter((pod) => abandonedAtMs(pod) <= nowMs)
        await performEach(context, abandoned, (pod) => planAbandonedPod(pod, 'the pod has no node that would end it'))
        const next = Math.min(...unassigned.map(abandonedAtMs).filter((atMs) => atMs > nowMs))
        return Number.isFinite(next) ? { requeueAfterMs: next - nowMs } : undefined
      }
      if (node !== undefined && isOutOfService(node)) {
        const going = context.informer(podResource).byIndex(nodeIndexName, key).filter(isGoing)
        return performEach(context, going, (pod) => planAbandonedPod(pod, `node ${key} is out of service`))
      }
      const orphaned = node === undefined ? context.informer(podResource).byIndex(nodeIndexName, key) : []
      if (orphaned.length === 0) {
        missingSince.delete(key)
        return undefined
      }
      const since = missingSince.get(key) ?? passedMs
      missingSince.set(key, since)
      const waitMs = Math.ceil(since + quarantineMs - passedMs)
      if (waitMs > 0) return { requeueAfterMs: waitMs }
      if (await isServed(context, key)) return undefined
      await performEach(context, orphaned, (pod) => planOrphanedPod(pod, nowMs))
      missingSince.delete(key)
      return undefined
    })
}

function changesService(change: Change<Node>): boolean {
  return change.type !== 'update' || isOutOfService(change.old) !== isOutOfService(change.object)
}

function isOutOfService({ spec, status }: Node): boolean {
  const isReady = isConditionTrue(status?.conditions, 'Ready')
  return !isReady && spec?.taints?.some(({ key }) => key === outOfServiceTaint) === true
}

const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

/** Whether a pod is to go that never came to a node. One that has ended only waits for finalizers. */
const isUnassigned = (pod: Pod): boolean => isGoing(pod) && !isBound(pod.spec.nodeName) && !hasEnded(pod)

const abandonedAtMs = ({ metadata }: Pod): Time => (timeOf(metadata.deletionTimestamp) ?? 0) + abandonedMs

/** Changes after which a pod may be in the wrong place, or one too many. */
function changesPlace(change: Change<Pod>): boolean {
  if (change.type !== 'update') return change.type === 'add'
  const { old, object } = change
  return (
    old.spec.nodeName !== object.spec.nodeName || hasEnded(old) !== hasEnded(object) || isGoing(old) !== isGoing(object)
  )
}

function abandonedKey(pod: Pod, lookup: Lookup): readonly string[] {
  const { nodeName } = pod.spec
  if (!isBound(nodeName)) return isUnassigned(pod) ? [unassignedKey] : []
  const node = lookup.informer(nodes).get(nodeName)
  return node === undefined || (isGoing(pod) && isOutOfService(node)) ? [nodeName] : []
}

function deleteEnded(context: ReconcileContext<Node>): Promise<Result> {
  const ended = context.informer(podResource).byIndex(endedIndexName, endedKey)
  return performEach(context, excessEndedPods(ended), planEndedPod)
}

async function performEach(
  context: ReconcileContext<Node>,
  pods: readonly Pod[],
  plan: (pod: Pod) => Plan<PodStatus>,
): Promise<undefined> {
  const podContext: ReconcileContext<Pod> = { ...context, resource: podResource }
  for (let from = 0; from < pods.length; from += deletionsParallelMax) {
    const batch = pods.slice(from, from + deletionsParallelMax)
    await Promise.all(batch.map((pod) => performPlan(podContext, pod, plan(pod))))
  }
  return undefined
}

/** The cache says that the node is gone; what is irreversible is done on the server's word. */
async function isServed({ client }: ReconcileContext<Node>, name: string): Promise<boolean> {
  try {
    await client.get(nodes, { name })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    throw error
  }
}

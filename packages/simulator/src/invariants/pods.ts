import type { KubernetesObject, Node, Pod, ReplicaSet, StatefulSet } from '@coracle/api'
import { type Change, controllerOf, hasEnded, type Invariant, isActive, isNew, labelOf, type View } from '../view.ts'
import { isMirror } from './static-pods.ts'

/** What is promised of every pod. */
export const podInvariants: readonly Invariant[] = [
  { name: 'a pod has at most one controller', check: onPod(twoControllers) },
  { name: 'no more pods are made than were asked for', check: onPod(tooMany) },
  { name: 'a pod is bound once', check: onPod(boundAgain) },
  { name: 'nothing is bound to a node that takes nothing', check: onPod(boundToCordoned) },
  { name: 'a pod that has ended stays so', check: onPod(runsAgain) },
  { name: 'a pod leaves its node before it leaves the API', check: leavesRunning },
]

type PodCheck = (change: Change & { readonly object: KubernetesObject }, pod: Pod, view: View) => string | undefined

/** A rule about pods that are there. */
function onPod(check: PodCheck): NonNullable<Invariant['check']> {
  return (change, view) => {
    const { object } = change
    return object?.kind === 'Pod' ? check({ ...change, object }, object as Pod, view) : undefined
  }
}

function twoControllers(_: Change, pod: Pod): string | undefined {
  const owners = pod.metadata.ownerReferences?.filter(({ controller }) => controller === true) ?? []
  return owners.length > 1
    ? `${labelOf(pod)} is controlled by ${owners.map(({ name }) => name).join(' and ')}`
    : undefined
}

/** Owners that have a size. */
const sized: ReadonlySet<string> = new Set(['ReplicationController', 'ReplicaSet', 'StatefulSet'])

/** When a pod is made its owner has fewer than some size that it was given lately; a numbered one is among those wanted. */
function tooMany(change: Change, pod: Pod, view: View): string | undefined {
  const owner = controllerOf(pod)
  if (!isNew(change) || owner === undefined || !sized.has(owner.kind)) return undefined
  const sizes = view.recent<ReplicaSet | StatefulSet>(owner.uid).map(({ spec }) => spec.replicas ?? 1)
  if (sizes.length === 0) return `${labelOf(pod)} is made for ${owner.kind} ${owner.name}, which is gone`
  const most = Math.max(...sizes)
  const asked = `at most ${most} were asked for`
  if (owner.kind === 'StatefulSet') {
    const isWanted = view.recent<StatefulSet>(owner.uid).some(({ spec }) => {
      const { start = 0 } = spec.ordinals ?? {}
      return start <= ordinalOf(pod) && ordinalOf(pod) < start + (spec.replicas ?? 1)
    })
    return isWanted ? undefined : `${labelOf(pod)} is made, and ${asked}`
  }
  const active = view.podsOf(owner.uid).filter(isActive)
  if (active.length <= most + view.unansweredPodsOf(owner.uid)) return undefined
  return `${owner.kind} ${owner.name} has ${active.length} pods with ${pod.metadata.name}, and ${asked}`
}

/** The number in the name of a stateful set's pod. */
export const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name ?? '')?.[1])

const nodeOf = (object: KubernetesObject | undefined): string => (object as Pod | undefined)?.spec.nodeName ?? ''

function boundAgain({ old }: Change, pod: Pod): string | undefined {
  const before = nodeOf(old)
  const isSame = old?.metadata.uid === pod.metadata.uid
  return isSame && before !== '' && before !== nodeOf(pod)
    ? `${labelOf(pod)} moves from ${before} to ${nodeOf(pod)}`
    : undefined
}

/** The scheduler knows of a cordon as late as anybody; daemons run on cordoned nodes too, and pods of files. */
function boundToCordoned({ old }: Change, pod: Pod, view: View): string | undefined {
  if (nodeOf(old) !== '' || nodeOf(pod) === '' || controllerOf(pod)?.kind === 'DaemonSet') return undefined
  if (isMirror(pod)) return undefined
  const node = view.find('Node', undefined, nodeOf(pod))
  const versions = view.recent<Node>(node?.metadata.uid ?? '')
  if (versions.length === 0) return `${labelOf(pod)} is bound to ${nodeOf(pod)}, which is not there`
  return versions.every(({ spec }) => spec?.unschedulable === true)
    ? `${labelOf(pod)} is bound to ${nodeOf(pod)}, which is cordoned`
    : undefined
}

function runsAgain({ old }: Change, pod: Pod): string | undefined {
  const before = old as Pod | undefined
  if (before === undefined || before.metadata.uid !== pod.metadata.uid || !hasEnded(before)) return undefined
  return before.status?.phase === pod.status?.phase
    ? undefined
    : `${labelOf(pod)} was ${before.status?.phase} and is ${pod.status?.phase}`
}

/**
 * Who deletes a pod without its node: an administrator who says so, and the collector of pods, which may not know yet that there is one. What that has given up
 * has failed, and goes at once whoever deletes it.
 */
const isTakenFromNode = (pod: Pod, view: View): boolean =>
  (view.isForced(pod) && view.deleterOf(pod) === 'player') ||
  (!view.isCalm && (isGivenUp(pod) || (view.isForced(pod) && view.deleterOf(pod) === 'pod-garbage-collector')))

const isGivenUp = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'DeletionByPodGC') === true

/** The agent deletes a pod for good when its containers have ended, and nobody else does while its node is there. What shows a pod of a file is no pod. */
function leavesRunning({ old, object }: Change, view: View): string | undefined {
  if (object !== undefined || old?.kind !== 'Pod') return undefined
  const pod = old as Pod
  const runs = pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true
  const isNodeThere = view.find('Node', undefined, nodeOf(pod)) !== undefined
  if (!runs || !isNodeThere || isMirror(pod) || isTakenFromNode(pod, view)) return undefined
  return `${labelOf(pod)} has left the API and runs on ${nodeOf(pod)} (deleted by ${view.deleterOf(pod)})`
}

import { compareText, type Node, type Pod } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { availableAt } from '../pods/pod-state.ts'
import { burstMax, podCreation, podDeletion } from './coverage.ts'
import { isUpToDate, type RevisionHashes } from './daemon-pod.ts'
import { eligibility } from './eligibility.ts'
import { maxSurge, maxUnavailable } from './limits.ts'
import type { ObservedDaemonSet, PodsByNode } from './observed.ts'

/**
 * Replaces pods of former templates, on as many nodes at a time as the strategy lets (upstream's rollingUpdate). An old pod that is
 * not available serves nobody: it is replaced at once.
 */
export function rollForward(
  observed: ObservedDaemonSet,
  podsByNode: PodsByNode,
  hashes: RevisionHashes,
  nowMs: Time,
): readonly Action[] {
  const { daemonSet, nodes } = observed
  const belongs = eligibility(daemonSet)
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', node]))
  const desired = nodes.filter((node) => belongs(node) === 'runs').length
  const minReadySeconds = daemonSet.spec.minReadySeconds ?? 0
  const isAvailable = (pod: Pod) => availableAt(pod, minReadySeconds) <= nowMs
  const isNew = (pod: Pod) => isUpToDate(daemonSet, pod, hashes)
  const states = [...podsByNode].map(([name, pods]) => stateOf(name, byName.get(name), pods, isNew))
  const surge = maxSurge(daemonSet, desired)
  if (surge === 0) {
    const replaced = replacedInPlace(states, maxUnavailable(daemonSet, desired), isAvailable)
    return replaced.slice(0, burstMax).map((pod) => podDeletion(pod, 'the pod is of a former template'))
  }
  const { grown, replaced } = surging(states, desired, surge, isAvailable, (node) => belongs(node) === 'runs')
  return [
    ...grown.slice(0, burstMax).map((name) => podCreation(daemonSet, name, hashes.present)),
    ...replaced
      .slice(0, burstMax)
      .map((pod) => podDeletion(pod, 'the pod is of a former template, and others serve in its place')),
  ]
}

/** The pods of a node during a rollout. */
interface NodeState {
  readonly name: string
  readonly node: Node | undefined
  readonly oldPod: Pod | undefined
  readonly newPod: Pod | undefined
  /** It has more pods than it may have: first they are to become fewer. */
  readonly isCrowded: boolean
}

function stateOf(name: string, node: Node | undefined, pods: readonly Pod[], isNew: (pod: Pod) => boolean): NodeState {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const newPods = staying.filter(isNew)
  const oldPods = staying.filter((pod) => !isNew(pod))
  const isCrowded = newPods.length > 1 || oldPods.length > 1
  return { name, node, oldPod: oldPods[0], newPod: newPods[0], isCrowded }
}

/** The old pods that may go now, by the names of their nodes. New ones come when they are gone. */
function replacedInPlace(
  states: readonly NodeState[],
  unavailableMax: number,
  isAvailable: (pod: Pod) => boolean,
): readonly Pod[] {
  const useless: Pod[] = []
  const candidates: PodOfNode[] = []
  let unavailable = 0
  for (const { name, oldPod, newPod, isCrowded } of states) {
    // Where both are there or none is, the node is on its way: whatever is there is not to be counted on.
    if (isCrowded || (oldPod === undefined) === (newPod === undefined)) unavailable++
    else if (newPod !== undefined) unavailable += isAvailable(newPod) ? 0 : 1
    else if (oldPod !== undefined && isAvailable(oldPod)) candidates.push({ name, pod: oldPod })
    else if (oldPod !== undefined) {
      useless.push(oldPod)
      unavailable++
    }
  }
  return [...useless, ...firstByNode(candidates, unavailableMax - unavailable)]
}

interface PodOfNode {
  /** The node's. */
  readonly name: string
  readonly pod: Pod
}

/** The pods of the first so many nodes by name, whenever each pod was heard of: a copy of the cluster goes the same way. */
const firstByNode = (pods: readonly PodOfNode[], count: number): readonly Pod[] =>
  pods
    .toSorted((a, b) => compareText(a.name, b.name))
    .slice(0, Math.max(0, count))
    .map(({ pod }) => pod)

/**
 * The nodes that get a new pod beside the old one now, and the old pods that go: those whose successor is available, and those on
 * nodes that get no new pods, once enough others are available. Of these, unavailable ones go at once.
 */
function surging(
  states: readonly NodeState[],
  desired: number,
  surgeMax: number,
  isAvailable: (pod: Pod) => boolean,
  belongsOn: (node: Node) => boolean,
): { readonly grown: readonly string[]; readonly replaced: readonly Pod[] } {
  const useless: string[] = []
  const candidates: string[] = []
  const replaced: Pod[] = []
  const outOfPlace: PodOfNode[] = []
  let surge = 0
  let available = 0
  for (const { name, node, oldPod, newPod, isCrowded } of states) {
    if (isCrowded) {
      surge++
      continue
    }
    const serving = oldPod ?? newPod
    if (serving !== undefined && isAvailable(serving)) available++
    if (oldPod === undefined) continue
    if (newPod !== undefined) {
      if (isAvailable(newPod)) replaced.push(oldPod)
      else surge++
    } else if (node !== undefined && belongsOn(node)) {
      if (isAvailable(oldPod)) candidates.push(name)
      else useless.push(name)
    } else if (node !== undefined) {
      if (isAvailable(oldPod)) outOfPlace.push({ name, pod: oldPod })
      else replaced.push(oldPod)
    }
  }
  return {
    grown: [...useless, ...candidates.toSorted(compareText).slice(0, Math.max(0, surgeMax - surge))],
    replaced: [...replaced, ...firstByNode(outOfPlace, available - desired)],
  }
}

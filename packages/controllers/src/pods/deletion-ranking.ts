import { type ContainerStatus, compareText, isSidecar, type Pod } from '@coracle/api'
import { fnv1a, type Time } from '@coracle/environment'
import { isActive, isReady, readySince, timeOf } from './pod-state.ts'

/** Tells what deleting a pod costs compared with others of its controller: an int32, 0 where absent or malformed. */
export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

export interface DeletionRankingOptions {
  /** Pods that share a node count as doubled up if they are among these. */
  readonly related: readonly Pod[]
  readonly nowMs: Time
}

/**
 * Pods in the order in which they are to be deleted when there are too many: those that are missed least come first.
 * The rules are upstream's (controller_utils.go, ActivePodsWithRanks); the first that tells two pods apart decides.
 */
export function byDeletionRank(pods: readonly Pod[], { related, nowMs }: DeletionRankingOptions): readonly Pod[] {
  const onNode = new Map<string, number>()
  for (const pod of related) if (isActive(pod)) onNode.set(nodeOf(pod), (onNode.get(nodeOf(pod)) ?? 0) + 1)
  const ranked = withLots(pods.map((pod) => merits(pod, onNode.get(nodeOf(pod)) ?? 0)))
  const ages: CompareAges = (a, b, sinceA, sinceB) => compareMagnitudes(a, b, sinceA, sinceB, nowMs)
  return ranked.sort((a, b) => compare(a, b, ages)).map(({ pod }) => pod)
}

/**
 * The same by what the pods do alone, as for those of a Job: what deleting them costs and which nodes they share does not count, and of
 * two ages the younger always goes first (controller_utils.go, ActivePods).
 */
export function byActivity(pods: readonly Pod[]): readonly Pod[] {
  const ranked = withLots(pods.map((pod) => ({ ...merits(pod, 0), cost: 0 })))
  return ranked.sort((a, b) => compare(a, b, compareTimes)).map(({ pod }) => pod)
}

type CompareAges = (a: Ranked, b: Ranked, sinceA: Time | undefined, sinceB: Time | undefined) => number

/** What there is to say for and against a pod. */
interface Merits {
  readonly pod: Pod
  readonly uid: string
  readonly isAssigned: boolean
  readonly phase: number
  readonly isReady: boolean
  readonly cost: number
  readonly onSameNode: number
  readonly readySince: Time | undefined
  readonly restarts: number
  readonly sidecarRestarts: number
  readonly createdAt: Time | undefined
}

interface Ranked extends Merits {
  /** Decides between pods that may go alike: the lowest goes first. */
  readonly lot: number
}

const phaseRanks: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

function merits(pod: Pod, onSameNode: number): Merits {
  return {
    pod,
    uid: pod.metadata.uid ?? '',
    isAssigned: nodeOf(pod) !== '',
    phase: phaseRanks[pod.status?.phase ?? ''] ?? 0,
    isReady: isReady(pod),
    cost: deletionCost(pod),
    onSameNode,
    readySince: readySince(pod),
    restarts: mostRestarts(pod.status?.containerStatuses),
    sidecarRestarts: mostRestarts(sidecarStatuses(pod)),
    createdAt: timeOf(pod.metadata.creationTimestamp),
  }
}

/**
 * Gives each pod a lot by its node and by how many older ones are there. Pods go as if by chance, and yet from the nodes that a plan has
 * foretold: the uids of pods that are still to come, by which upstream decides, nobody can foretell.
 */
function withLots(all: readonly Merits[]): Ranked[] {
  const drawn = new Map<string, number>()
  return all.toSorted(compareOnNode).map((each) => {
    const { namespace, name, generateName = name } = each.pod.metadata
    const node = nodeOf(each.pod)
    const older = drawn.get(node) ?? 0
    drawn.set(node, older + 1)
    return { ...each, lot: fnv1a(`${older} ${namespace}/${generateName} ${node}`) }
  })
}

/** By all that tells pods of one node apart, and then by uid. */
const compareOnNode = (a: Merits, b: Merits): number =>
  (a.createdAt ?? 0) - (b.createdAt ?? 0) ||
  (a.readySince ?? 0) - (b.readySince ?? 0) ||
  a.restarts - b.restarts ||
  a.sidecarRestarts - b.sidecarRestarts ||
  compareText(a.uid, b.uid)

function compare(a: Ranked, b: Ranked, compareAges: CompareAges): number {
  if (a.isAssigned !== b.isAssigned) return a.isAssigned ? 1 : -1
  if (a.phase !== b.phase) return a.phase - b.phase
  if (a.isReady !== b.isReady) return a.isReady ? 1 : -1
  if (a.cost !== b.cost) return a.cost - b.cost
  if (a.onSameNode !== b.onSameNode) return b.onSameNode - a.onSameNode
  if (a.isReady && a.readySince !== b.readySince) return compareAges(a, b, a.readySince, b.readySince)
  if (a.restarts !== b.restarts) return b.restarts - a.restarts
  if (a.sidecarRestarts !== b.sidecarRestarts) return b.sidecarRestarts - a.sidecarRestarts
  if (a.createdAt !== b.createdAt) return compareAges(a, b, a.createdAt, b.createdAt)
  return compareLots(a, b)
}

/** Nothing that counts tells them apart: the same of them goes whoever decides, so that a plan of it comes true. */
const compareLots = (a: Ranked, b: Ranked): number => a.lot - b.lot || compareText(a.uid, b.uid)

/**
 * The younger first, but only where the ages differ by an order of magnitude (a power of two): otherwise always the youngest
 * would go, and with it what was last put on a new node (KEP-2185). In between lots decide.
 */
function compareMagnitudes(
  a: Ranked,
  b: Ranked,
  sinceA: Time | undefined,
  sinceB: Time | undefined,
  nowMs: Time,
): number {
  if (sinceA === undefined || sinceB === undefined) return sinceA === undefined ? -1 : 1
  const difference = magnitude(nowMs - sinceA) - magnitude(nowMs - sinceB)
  if (difference !== 0) return difference
  return compareLots(a, b)
}

/** What has been so for a shorter time first. */
function compareTimes(_a: Ranked, _b: Ranked, sinceA: Time | undefined, sinceB: Time | undefined): number {
  if (sinceA === undefined || sinceB === undefined) return sinceA === undefined ? -1 : 1
  return sinceB - sinceA
}

/** Of an age in nanoseconds, as upstream counts. */
const magnitude = (ageMs: number): number => (ageMs > 0 ? Math.floor(Math.log2(ageMs * 1e6)) : -1)

function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[deletionCostAnnotation] ?? ''
  const cost = Number(text)
  return /^(0|-\d+|[1-9]\d*)$/.test(text) && cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0
}

function sidecarStatuses(pod: Pod): readonly ContainerStatus[] {
  const sidecars = new Set(pod.spec.initContainers?.filter(isSidecar).map(({ name }) => name))
  return pod.status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []
}

function mostRestarts(statuses: readonly ContainerStatus[] | undefined): number {
  return statuses?.reduce((most, { restartCount }) => Math.max(most, restartCount), 0) ?? 0
}

const nodeOf = (pod: Pod): string => pod.spec.nodeName ?? ''

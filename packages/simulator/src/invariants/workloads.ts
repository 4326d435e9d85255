import type { DaemonSet, Deployment, KubernetesObject, Pod, ReplicaSet, StatefulSet } from '@coracle/api'
import { shareOf } from '../share-of.ts'
import { type Change, controllerOf, hasEnded, type Invariant, isActive, isNew, labelOf, type View } from '../view.ts'
import { ordinalOf } from './pods.ts'

/** What rollouts and numbered pods promise. */
export const workloadInvariants: readonly Invariant[] = [
  { name: 'a rollout keeps within its surge', check: tooManyInRollout },
  { name: 'a rollout keeps enough pods available', check: tooFewInRollout },
  { name: 'Recreate never runs two versions', check: twoVersions },
  { name: 'a node gets one pod of a daemon set at a time', check: twoOnNode },
  { name: 'a pod in order comes after those before it', check: outOfOrder },
  { name: 'a set in order takes one pod down at a time', check: twoGoing },
]

interface Limits {
  readonly most: number
  readonly fewest: number
}

/** How many pods a Deployment may have, and how many have to be available. */
function limitsOf({ spec }: Deployment): Limits {
  const desired = spec.replicas ?? 1
  if (spec.strategy?.type === 'Recreate') return { most: desired, fewest: 0 }
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {}
  const surge = shareOf(maxSurge, desired, Math.ceil)
  const missing = shareOf(maxUnavailable, desired, Math.floor)
  return { most: desired + surge, fewest: desired - (surge === 0 && missing === 0 ? 1 : Math.min(missing, desired)) }
}

interface Resize {
  readonly set: ReplicaSet
  readonly from: number
  readonly to: number
  readonly deployment: string
}

const sizeOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1

/** A ReplicaSet of a Deployment that gets another size, or is made with one. */
function resizeOf(change: Change): Resize | undefined {
  const { old, object } = change
  if (object?.kind !== 'ReplicaSet') return undefined
  const set = object as ReplicaSet
  const owner = controllerOf(set)
  if (owner?.kind !== 'Deployment') return undefined
  const from = isNew(change) ? 0 : sizeOf(old as ReplicaSet)
  return from === sizeOf(set) ? undefined : { set, from, to: sizeOf(set), deployment: owner.uid }
}

const setsOf = (deployment: string, view: View): readonly ReplicaSet[] =>
  view.list<ReplicaSet>('ReplicaSet').filter((set) => controllerOf(set)?.uid === deployment)

/**
 * When a ReplicaSet grows, all of the Deployment together ask for no more than the Deployment may have, by some version of it that
 * the controller may have seen. Scaled by hand, a ReplicaSet is set right afterwards.
 */
function tooManyInRollout(change: Change, view: View): string | undefined {
  const resize = resizeOf(change)
  if (resize === undefined || resize.to < resize.from) return undefined
  const most = Math.max(...view.recent<Deployment>(resize.deployment).map((each) => limitsOf(each).most))
  // Each may be seen as it was a moment ago: what another asks for now may be less than what was seen.
  const total = setsOf(resize.deployment, view)
    .map((set) => (set.metadata.uid === resize.set.metadata.uid ? resize.to : fewestSeen(set, view)))
    .reduce((sum, size) => sum + size, 0)
  return total > most ? `${labelOf(resize.set)} grows to ${resize.to}: ${total} of at most ${most} pods` : undefined
}

/**
 * The smallest size of a ReplicaSet that the controller may have seen; none where it may not know that there is one. It does not
 * learn so from an answer that was lost, and its cache may show it late. Once it has resized it, it knows it.
 */
function fewestSeen(set: ReplicaSet, view: View): number {
  const isResized = (set.metadata.generation ?? 1) > 1
  if (!isResized && view.isCreationUnanswered(set)) return 0
  return Math.min(...view.recent<ReplicaSet>(set.metadata.uid ?? '').map(sizeOf))
}

/**
 * When an old ReplicaSet shrinks in a rollout, enough pods stay available, by what the ReplicaSets said lately. It says what the
 * Deployment does, and not what befalls its pods: nodes and users may take more.
 */
function tooFewInRollout(change: Change, view: View): string | undefined {
  const resize = resizeOf(change)
  if (resize === undefined || resize.to > resize.from) return undefined
  const deployments = view.recent<Deployment>(resize.deployment)
  const latest = deployments.at(-1)
  const isScaling = new Set(deployments.map(({ spec }) => spec.replicas ?? 1)).size > 1
  if (latest === undefined || latest.metadata.deletionTimestamp !== undefined || isScaling) return undefined
  const fewest = Math.min(...deployments.map((each) => limitsOf(each).fewest))
  const sets = setsOf(resize.deployment, view)
  // A surplus is taken away without regard to availability.
  const total = sets.reduce(
    (sum, set) => sum + (set.metadata.uid === resize.set.metadata.uid ? resize.from : sizeOf(set)),
    0,
  )
  if (total - (resize.from - resize.to) >= Math.max(...deployments.map((each) => limitsOf(each).most))) return undefined
  const elsewhere = sets
    .filter(({ metadata }) => metadata.uid !== resize.set.metadata.uid)
    .reduce((sum, set) => sum + Math.max(0, ...availableIn(set, view)), 0)
  // Its own pods that are not available any more are no loss: it is judged by the most it had lately, and by what it has now.
  const isTooMany = (own: number): boolean => {
    const unavailable = resize.from - Math.min(resize.from, own)
    const lost = Math.max(0, resize.from - resize.to - unavailable)
    return lost > 0 && elsewhere + own - lost < fewest
  }
  const own = availableIn(resize.set, view)
  const available = elsewhere + Math.max(0, ...own)
  return isTooMany(Math.max(0, ...own)) && isTooMany(own.at(-1) ?? 0)
    ? `${labelOf(resize.set)} shrinks from ${resize.from} to ${resize.to}: ${available} pods are available, and ${fewest} have to be`
    : undefined
}

/** How many pods of a ReplicaSet were available, by what it said lately. */
const availableIn = ({ metadata }: ReplicaSet, view: View): readonly number[] =>
  view.recent<ReplicaSet>(metadata.uid ?? '').map(({ status }) => status?.availableReplicas ?? 0)

/** A version of pods comes when those of all others have ended. */
function twoVersions(change: Change, view: View): string | undefined {
  const resize = resizeOf(change)
  if (resize === undefined || resize.to < resize.from || !view.isCalm) return undefined
  const deployments = view.recent<Deployment>(resize.deployment)
  if (deployments.some(({ spec }) => spec.strategy?.type !== 'Recreate')) return undefined
  // Growing in proportion, as a paused one does, starts no version.
  if (resize.from > 0) return undefined
  const others = setsOf(resize.deployment, view)
    .filter(({ metadata }) => metadata.uid !== resize.set.metadata.uid)
    .flatMap(({ metadata }) => view.podsOf(metadata.uid ?? ''))
    .filter((pod) => !hasEnded(pod))
  return others.length > 0
    ? `${labelOf(resize.set)} grows to ${resize.to} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`
    : undefined
}

/** The owner of a new pod, where it is of this kind. */
function madeFor<T extends KubernetesObject>(
  change: Change,
  kind: string,
  view: View,
): { readonly pod: Pod; readonly owner: string; readonly versions: readonly T[] } | undefined {
  if (change.object?.kind !== 'Pod' || !isNew(change)) return undefined
  const pod = change.object as Pod
  const owner = controllerOf(pod)
  if (owner?.kind !== kind) return undefined
  return { pod, owner: owner.uid, versions: view.recent<T>(owner.uid) }
}

/** The node a daemon is for: it is bound by an affinity to the node's name. */
function targetNode({ spec }: Pod): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return spec.nodeName || required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0]
}

function twoOnNode(change: Change, view: View): string | undefined {
  const made = madeFor<DaemonSet>(change, 'DaemonSet', view)
  if (made === undefined) return undefined
  const mayHaveTwo = made.versions.some(({ spec }) => (spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0) !== 0)
  const node = targetNode(made.pod)
  const others = view
    .podsOf(made.owner)
    .filter((other) => other !== made.pod && isActive(other) && targetNode(other) === node)
  const most = (mayHaveTwo ? 1 : 0) + view.unansweredPodsOf(made.owner)
  return others.length > most
    ? `${node} gets ${labelOf(made.pod)} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`
    : undefined
}

function outOfOrder(change: Change, view: View): string | undefined {
  const made = madeFor<StatefulSet>(change, 'StatefulSet', view)
  const latest = made?.versions.at(-1)
  if (made === undefined || latest === undefined || latest.spec.podManagementPolicy === 'Parallel') return undefined
  const { name, namespace } = latest.metadata
  const start = latest.spec.ordinals?.start ?? 0
  const before = Array.from(
    { length: Math.max(0, ordinalOf(made.pod) - start) },
    (_, index) => `${name}-${start + index}`,
  )
  // Who is cut off from the news takes a pod for there that has gone.
  const missing = view.isCalm ? before.filter((each) => view.find('Pod', namespace, each) === undefined) : []
  return missing.length > 0 ? `${labelOf(made.pod)} comes before ${missing.join(', ')}` : undefined
}

/** The controller of an ordered set deletes a pod that runs only while no other of the set is on its way out. */
function twoGoing({ old, object }: Change, view: View): string | undefined {
  if (!view.isCalm || old?.kind !== 'Pod' || object === undefined || old.metadata.uid !== object.metadata.uid)
    return undefined
  const pod = object as Pod
  const owner = controllerOf(pod)
  const isGoing = old.metadata.deletionTimestamp === undefined && pod.metadata.deletionTimestamp !== undefined
  if (!isGoing || owner?.kind !== 'StatefulSet' || hasEnded(pod)) return undefined
  if (view.deleterOf(pod) !== 'statefulset-controller') return undefined
  const set = view.recent<StatefulSet>(owner.uid).at(-1)
  if (set === undefined || set.spec.podManagementPolicy === 'Parallel') return undefined
  const others = view
    .podsOf(owner.uid)
    .filter((other) => other !== pod && other.metadata.deletionTimestamp !== undefined && !hasEnded(other))
  return others.length > 0
    ? `${labelOf(pod)} is deleted while ${others.map(({ metadata }) => metadata.name).join(', ')} is going`
    : undefined
}

import type { DaemonSet, Deployment, Pod, ReplicaSet, StatefulSet } from '@coracle/api'
import { type Change, controllerOf, hasEnded, type Invariant, isReady, labelOf, type View } from '../view.ts'
import { isHeldUp } from './held-up.ts'
import { ordinalOf } from './pods.ts'

/** What updates of sets promise: whom they replace, and what they keep of before. */
export const updateInvariants: readonly Invariant[] = [
  { name: 'a set replaces no pod that it is to leave', check: replacedEarly },
  { name: 'a daemon set takes no more pods down than it may', check: tooManyDaemonsDown },
  { name: 'in the end a set has the numbers that were asked for', finally: wrongNumbers },
  { name: 'in the end a Deployment keeps as many versions as it is to', finally: tooManyVersions },
]

interface Deleted<T> {
  readonly pod: Pod
  readonly owner: string
  readonly versions: readonly T[]
}

/** A pod that runs and that the controller of a kind of set makes go. */
function deletedBy<T extends StatefulSet | DaemonSet>(
  { old, object }: Change,
  view: View,
  kind: string,
  component: string,
): Deleted<T> | undefined {
  if (old?.kind !== 'Pod' || object?.metadata.uid !== old.metadata.uid) return undefined
  const [before, pod] = [old as Pod, object as Pod]
  const owner = controllerOf(pod)
  const isGoing = before.metadata.deletionTimestamp === undefined && pod.metadata.deletionTimestamp !== undefined
  if (!isGoing || owner?.kind !== kind || hasEnded(pod) || view.deleterOf(pod) !== component) return undefined
  return { pod: before, owner: owner.uid, versions: view.recent<T>(owner.uid) }
}

/** A pod that is wanted goes only to come again as another version: never below the partition, nor where somebody deletes by hand. */
function replacedEarly(change: Change, view: View): string | undefined {
  const deleted = deletedBy<StatefulSet>(change, view, 'StatefulSet', 'statefulset-controller')
  if (deleted === undefined || deleted.versions.length === 0) return undefined
  const ordinal = ordinalOf(deleted.pod)
  const isLeft = deleted.versions.every(({ spec }) => {
    const start = spec.ordinals?.start ?? 0
    const isWanted = start <= ordinal && ordinal < start + (spec.replicas ?? 1)
    const { type = 'RollingUpdate', rollingUpdate } = spec.updateStrategy ?? {}
    return isWanted && (type === 'OnDelete' || ordinal < start + (rollingUpdate?.partition ?? 0))
  })
  return isLeft ? `${labelOf(deleted.pod)} is replaced, and was to be left` : undefined
}

/**
 * A daemon set in a rolling update takes a ready pod of before down while no more than so many nodes are without. Judged where nothing
 * else has befallen its pods in this moment.
 */
function tooManyDaemonsDown(change: Change, view: View): string | undefined {
  const deleted = deletedBy<DaemonSet>(change, view, 'DaemonSet', 'daemon-set-controller')
  const latest = deleted?.versions.at(-1)
  if (deleted === undefined || latest === undefined || !view.isCalm || !isReady(deleted.pod)) return undefined
  const { pod, owner } = deleted
  const { maxUnavailable = 1, maxSurge = 0 } = latest.spec.updateStrategy?.rollingUpdate ?? {}
  if (maxSurge !== 0 || typeof maxUnavailable !== 'number') return undefined
  const node = view.find('Node', undefined, pod.spec.nodeName ?? '')
  const isSettled =
    deleted.versions.every(({ metadata }) => metadata.generation === latest.metadata.generation) &&
    view
      .podsOf(owner)
      .every((each) => each.metadata.uid === pod.metadata.uid || view.recent(each.metadata.uid ?? '').length === 1) &&
    view.recent(node?.metadata.uid ?? '').length === 1
  const isRunning = (each: Pod) => each.metadata.deletionTimestamp === undefined && isReady(each)
  const without = (latest.status?.desiredNumberScheduled ?? 0) - view.podsOf(owner).filter(isRunning).length
  return isSettled && without > maxUnavailable
    ? `${labelOf(pod)} is taken down, which leaves ${without} nodes without of at most ${maxUnavailable}`
    : undefined
}

function wrongNumbers(view: View): readonly string[] {
  return view.list<StatefulSet>('StatefulSet').flatMap((set) => {
    const { replicas = 1, ordinals } = set.spec
    const start = ordinals?.start ?? 0
    const all = view.podsOf(set.metadata.uid ?? '')
    if (isHeldUp(set, view)) return []
    const wrong = all.filter((pod) => ordinalOf(pod) < start || ordinalOf(pod) >= start + replicas)
    return wrong.map((pod) => `${labelOf(pod)} is there, and ${labelOf(set)} has numbers from ${start} on`)
  })
}

function tooManyVersions(view: View): readonly string[] {
  return view.list<Deployment>('Deployment').flatMap((deployment) => {
    const { revisionHistoryLimit = 10 } = deployment.spec
    const own = view.list<ReplicaSet>('ReplicaSet').filter((set) => controllerOf(set)?.uid === deployment.metadata.uid)
    const former = own.length - 1
    return former <= revisionHistoryLimit
      ? []
      : [`${labelOf(deployment)} keeps ${former} former versions of at most ${revisionHistoryLimit}`]
  })
}

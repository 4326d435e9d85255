import type { KubernetesObject, OwnerReference, Pod, ReplicaSet } from '@coracle/api'
import type { Workload } from './workloads.ts'

/** What an invariant may look at. */
export interface View {
  listPods(): readonly Pod[]
  listWorkloads(): readonly Workload[]
  /** Sizes that an owner of pods was given lately, the latest last. */
  sizesOf(uid: string): readonly number[]
}

/** A change of a pod; `old` is absent where it is new. */
export interface PodChange {
  readonly pod: Pod
  readonly old: Pod | undefined
  readonly view: View
}

/** A rule that holds whatever happens. Each part returns what is wrong, or undefined. */
export interface Invariant {
  readonly name: string
  /**
   * Whether it holds only while answers arrive and the observer hears everything. Who does not learn that its write took effect
   * may write again (upstream's controllers too), and has to put that right in the end.
   */
  readonly needsAnswers?: true
  /** Holds at every change of a pod. */
  readonly check?: (change: PodChange) => string | undefined
  /** Holds in the end, when faults have stopped and time has passed. */
  readonly finally?: (view: View) => readonly string[]
}

export const invariants: readonly Invariant[] = [
  { name: 'a pod has at most one controller', check: ({ pod }) => twoControllers(pod) },
  { name: 'no more pods are made than were asked for', needsAnswers: true, check: tooMany },
  { name: 'a node gets one pod of a daemon set at a time', needsAnswers: true, check: twoOnNode },
  { name: 'a pod in order comes after those before it', needsAnswers: true, check: outOfOrder },
  { name: 'what an owner owned goes with it', finally: leftBehind },
  { name: 'in the end every workload is as it was asked to be', finally: notConverged },
]

function twoControllers({ metadata }: Pod): string | undefined {
  const owners = metadata.ownerReferences?.filter(({ controller }) => controller === true) ?? []
  return owners.length > 1
    ? `pod ${metadata.name} is controlled by ${owners.map(({ name }) => name).join(' and ')}`
    : undefined
}

/** When a pod is made, the owner has fewer than some size that it was given lately; a numbered one is among those wanted. */
function tooMany({ pod, old, view }: PodChange): string | undefined {
  const owner = controllerOf(pod)
  if (old !== undefined || owner === undefined) return undefined
  const sizes = view.sizesOf(owner.uid)
  if (sizes.length === 0) return undefined
  const most = Math.max(...sizes)
  const asked = `at most ${most} were asked for`
  if (owner.kind === 'StatefulSet') {
    return ordinalOf(pod) < most ? undefined : `StatefulSet ${owner.name} gets ${pod.metadata.name}, and ${asked}`
  }
  const active = view.listPods().filter((other) => isActive(other) && controllerOf(other)?.uid === owner.uid)
  if (active.length <= most) return undefined
  return `${owner.kind} ${owner.name} has ${active.length} pods with ${pod.metadata.name}, and ${asked}`
}

function twoOnNode({ pod, old, view }: PodChange): string | undefined {
  const owner = controllerOf(pod)
  if (old !== undefined || owner?.kind !== 'DaemonSet') return
  const daemonSet = view.listWorkloads().find(({ metadata }) => metadata.uid === owner.uid)
  const { updateStrategy } = (daemonSet?.spec ?? {}) as {
    updateStrategy?: { rollingUpdate?: { maxSurge?: number | string } }
  }
  const surge = updateStrategy?.rollingUpdate?.maxSurge ?? 0
  const node = targetNode(pod)
  const others = view
    .listPods()
    .filter(
      (other) =>
        other !== pod && isActive(other) && controllerOf(other)?.uid === owner.uid && targetNode(other) === node,
    )
  const most = surge === 0 ? 0 : 1
  return others.length > most
    ? `node ${node} gets ${pod.metadata.name} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`
    : undefined
}

function outOfOrder({ pod, old, view }: PodChange): string | undefined {
  const owner = controllerOf(pod)
  if (old !== undefined || owner?.kind !== 'StatefulSet') return
  const set = view.listWorkloads().find(({ metadata }) => metadata.uid === owner.uid)
  const { podManagementPolicy } = (set?.spec ?? {}) as { podManagementPolicy?: string }
  if (set === undefined || podManagementPolicy === 'Parallel') return
  const ordinal = ordinalOf(pod)
  const present = new Set(view.listPods().map(({ metadata }) => metadata.name))
  const missing = Array.from({ length: ordinal }, (_, index) => `${owner.name}-${index}`).filter(
    (name) => !present.has(name),
  )
  return missing.length > 0 ? `${pod.metadata.name} came before ${missing.join(', ')}` : undefined
}

/** Nothing is left whose owners are all gone. */
function leftBehind(view: View): readonly string[] {
  const all: readonly KubernetesObject[] = [...view.listPods(), ...view.listWorkloads()]
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  return all
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
    .filter(({ metadata }) => metadata.ownerReferences?.every(({ uid }) => !uids.has(uid)))
    .map(
      ({ kind, metadata }) =>
        `${kind} ${metadata.name} outlives ${metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`,
    )
}

function notConverged(view: View): readonly string[] {
  return [
    ...view.listWorkloads().flatMap((workload) => problemsOf(workload, view)),
    ...view
      .listPods()
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => `pod ${metadata.name} is still going`),
  ]
}

/** The counts that each kind's status ends with, by what was asked for. */
function problemsOf(workload: Workload, view: View): readonly string[] {
  const { kind, metadata } = workload
  const status = (workload.status ?? {}) as Readonly<Record<string, number | undefined>>
  const text = `${kind} ${metadata.name}`
  if (metadata.deletionTimestamp !== undefined) return [`${text} is still going`]
  const problems: string[] = []
  const expectCount = (field: string, wanted: number) => {
    const found = status[field] ?? 0
    if (found !== wanted) problems.push(`${text}: status.${field} is ${found} and not ${wanted}`)
  }
  expectCount('observedGeneration', metadata.generation ?? 0)
  const active = view.listPods().filter((pod) => isActive(pod) && controllerOf(pod)?.uid === metadata.uid)
  if (kind === 'DaemonSet') {
    expectCount('currentNumberScheduled', status.desiredNumberScheduled ?? 0)
    expectCount('numberReady', status.desiredNumberScheduled ?? 0)
    if (active.length !== (status.desiredNumberScheduled ?? 0))
      problems.push(`${text} has ${active.length} pods for ${status.desiredNumberScheduled} nodes`)
    return problems
  }
  const desired = (workload as ReplicaSet).spec.replicas ?? 1
  if (kind === 'Deployment') {
    const { paused } = workload.spec as { paused?: boolean }
    if (paused !== true) {
      for (const field of ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'])
        expectCount(field, desired)
      expectCount('unavailableReplicas', 0)
    }
    return problems
  }
  // A pod that was taken aside keeps its name, without which the set cannot make another.
  if (kind === 'StatefulSet' && view.listPods().some((pod) => isNamesake(pod, workload))) return problems
  for (const field of ['replicas', 'readyReplicas', 'availableReplicas']) expectCount(field, desired)
  if (active.length !== desired) problems.push(`${text} has ${active.length} pods and wants ${desired}`)
  return problems
}

function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/** A pod that is named like one of a set, and is not its own. */
function isNamesake({ metadata }: Pod, set: Workload): boolean {
  const parent = /^(.*)-\d+$/.exec(metadata.name ?? '')?.[1]
  return parent === set.metadata.name && controllerOf({ metadata } as Pod)?.uid !== set.metadata.uid
}

/** The number in the name of a stateful set's pod. */
const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name ?? '')?.[1])

function isActive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded'
}

function targetNode({ spec }: Pod): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return spec.nodeName || required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0]
}

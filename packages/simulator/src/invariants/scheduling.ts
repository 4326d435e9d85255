import {
  addQuantities,
  compareQuantity,
  formatQuantity,
  type Node,
  type Pod,
  podRequests,
  type ResourceQuantities,
  selectorFromLabelSelector,
  specOnNode,
} from '@coracle/api'
import { type Change, hasEnded, type Invariant, labelOf, type View } from '../view.ts'

/** What the scheduler promises. */
export const schedulingInvariants: readonly Invariant[] = [
  { name: 'a node has room for its pods', check: onBinding(overcommitted) },
  { name: 'pods that keep apart run apart', check: onBinding(together) },
  { name: 'nobody gives way to who is less important', check: preempted },
]

type BindingCheck = (pod: Pod, node: string, view: View) => string | undefined

/** A rule about pods as they get their nodes. Judged in calm: who has just begun to lead may not know of the last bindings before. */
function onBinding(check: BindingCheck): NonNullable<Invariant['check']> {
  return ({ old, object }, view) => {
    if (object?.kind !== 'Pod' || !view.isCalm) return undefined
    const pod = object as Pod
    const before = old?.metadata.uid === pod.metadata.uid ? (old as Pod).spec.nodeName : undefined
    const { nodeName } = pod.spec
    return nodeName === undefined || before === nodeName ? undefined : check(pod, nodeName, view)
  }
}

const podsOn = (nodeName: string, view: View): readonly Pod[] =>
  view.list<Pod>('Pod').filter((pod) => pod.spec.nodeName === nodeName && !hasEnded(pod))

function overcommitted(pod: Pod, nodeName: string, view: View): string | undefined {
  const node = view.find('Node', undefined, nodeName) as Node | undefined
  const { allocatable = {} } = node?.status ?? {}
  const used = podsOn(nodeName, view)
    .map((each): ResourceQuantities => podRequests(specOnNode(each)))
    .reduce(addQuantities, new Map())
  for (const [name, amount] of used) {
    if (compareQuantity(amount, allocatable[name] ?? '0') > 0)
      return `${labelOf(pod)} comes to ${nodeName}: ${formatQuantity(amount)} ${name} of ${allocatable[name]}`
  }
  return undefined
}

/** Pods that keep apart here do so by the name of their node. */
function together(pod: Pod, nodeName: string, view: View): string | undefined {
  const other = podsOn(nodeName, view).find(
    (each) => each.metadata.uid !== pod.metadata.uid && (avoids(pod, each) || avoids(each, pod)),
  )
  return other === undefined ? undefined : `${labelOf(pod)} comes to ${nodeName} beside ${labelOf(other)}`
}

const avoids = (pod: Pod, other: Pod): boolean =>
  pod.metadata.namespace === other.metadata.namespace &&
  pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(
    ({ labelSelector, topologyKey }) =>
      topologyKey === 'kubernetes.io/hostname' &&
      selectorFromLabelSelector(labelSelector).matches(other.metadata.labels),
  ) === true

/** Who makes room leaves for somebody who waits and is more important. */
function preempted({ old, object }: Change, view: View): string | undefined {
  if (object?.kind !== 'Pod' || old?.metadata.uid !== object.metadata.uid) return undefined
  const [before, pod] = [old as Pod, object as Pod]
  if (!leavesForAnother(pod) || leavesForAnother(before)) return undefined
  const { priority = 0 } = pod.spec
  const isFor = view
    .list<Pod>('Pod')
    .some((other) => other.spec.nodeName === undefined && (other.spec.priority ?? 0) > priority && !hasEnded(other))
  return isFor || !view.isCalm ? undefined : `${labelOf(pod)} makes room, and nobody more important waits`
}

const leavesForAnother = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler') ===
  true

import { formatTime, type Node, type Taint } from '@coracle/api'
import { type Condition, getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** Taints of nodes whose agent says they are not ready, and of nodes nobody hears from. */
export const notReadyTaint = 'node.kubernetes.io/not-ready'
export const unreachableTaint = 'node.kubernetes.io/unreachable'

/** Conditions that keep new pods off a node while they are True. */
const pressureTaints: readonly (readonly [condition: string, taint: string])[] = [
  ['MemoryPressure', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'node.kubernetes.io/pid-pressure'],
]

const unschedulableTaint = 'node.kubernetes.io/unschedulable'

const isManaged = ({ key, effect }: Taint): boolean => {
  if (key === notReadyTaint || key === unreachableTaint) return effect === 'NoSchedule' || effect === 'NoExecute'
  return effect === 'NoSchedule' && (key === unschedulableTaint || pressureTaints.some(([, taint]) => taint === key))
}

/** As the API server puts it on nodes when they are created. */
const isFromCreation = ({ key, effect }: Taint): boolean => key === notReadyTaint && effect === 'NoSchedule'

/**
 * What may be done with the taint that makes the pods of a node go which is not ready: put it on, leave it if it is there
 * (as the one that suits the condition), or take it off.
 */
export type EvictionTaint = 'add' | 'keep' | 'remove'

/** Whether a node is made to evict because it is not ready. */
export function isTaintedForEviction(node: Node): boolean {
  return (
    node.spec?.taints?.some(
      ({ key, effect }) => effect === 'NoExecute' && (key === notReadyTaint || key === unreachableTaint),
    ) === true
  )
}

/**
 * The taints a node is to have with these conditions: its own, and those that conditions stand for
 * (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions). The very list of the
 * node comes back where nothing changes.
 */
export function taintsFor(
  node: Node,
  conditions: readonly Condition[],
  eviction: EvictionTaint,
  nowMs: Time,
): readonly Taint[] | undefined {
  const old = node.spec?.taints ?? []
  const wanted = wantedTaints(node, conditions, eviction)
  const has = (list: readonly Taint[], { key, effect }: Taint) =>
    list.some((each) => each.key === key && each.effect === effect)
  const kept = old.filter((taint) => !isManaged(taint) || has(wanted, taint))
  const added = wanted.filter((taint) => !has(old, taint))
  if (added.length === 0 && kept.length === old.length) return node.spec?.taints
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: formatTime(nowMs) }))]
}

function wantedTaints(node: Node, conditions: readonly Condition[], eviction: EvictionTaint): readonly Taint[] {
  const taints: Taint[] = []
  const ready = getCondition(conditions, 'Ready')?.status
  // An agent that has yet to report says nothing about its node, which keeps the taint it was created with: upstream takes
  // that off here, and relies on a node without capacity to take no pods.
  if (ready === undefined) taints.push(...(node.spec?.taints ?? []).filter(isFromCreation))
  if (ready === 'False' || ready === 'Unknown') {
    const key = ready === 'False' ? notReadyTaint : unreachableTaint
    taints.push({ key, effect: 'NoSchedule' })
    const isEvicting = eviction === 'add' || (eviction === 'keep' && isTaintedForEviction(node))
    if (isEvicting) taints.push({ key, effect: 'NoExecute' })
  }
  for (const [type, key] of pressureTaints) {
    if (getCondition(conditions, type)?.status === 'True') taints.push({ key, effect: 'NoSchedule' })
  }
  if (node.spec?.unschedulable === true) taints.push({ key: unschedulableTaint, effect: 'NoSchedule' })
  return taints
}

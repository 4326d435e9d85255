import type { Pod, PodDisruptionBudget } from '@coracle/api'
import type { NodeInfo } from '../node-info.ts'
import type { PreparedPod } from '../prepared-pod.ts'
import { priorityOf } from '../priority.ts'
import { splitByBudgets } from './budgets.ts'

/** The pods that would have to leave a node. */
export interface Victims {
  readonly node: NodeInfo
  /** The most important first. */
  readonly pods: readonly Pod[]
  /** How many of them their disruption budgets do not allow to go. */
  readonly violations: number
}

/** Why no pod leaving would help, in words for users. */
export interface NoVictims {
  readonly reasons: readonly string[]
}

const noVictims: NoVictims = { reasons: ['No preemption victims found for incoming pod'] }

/**
 * The fewest and least important pods without which the node takes the pod: all that are less important than it leave, and come back
 * as far as there is room, first those whose disruption budgets do not allow them to go.
 */
export function selectVictims(
  prepared: PreparedPod,
  node: NodeInfo,
  budgets: readonly PodDisruptionBudget[],
): Victims | NoVictims {
  const priority = priorityOf(prepared.pod)
  const lesser = [...node.pods.values()].filter((pod) => priorityOf(pod) < priority).sort(byImportance)
  if (lesser.length === 0) return noVictims
  const trial = prepared.tryOn(node)
  try {
    for (const pod of lesser) trial.remove(pod)
    const refusal = trial.refuse()
    if (refusal !== undefined) return refusal
    const staysNot = (pod: Pod): boolean => {
      trial.add(pod)
      if (trial.refuse() === undefined) return false
      trial.remove(pod)
      return true
    }
    const { guarded, others } = splitByBudgets(lesser, budgets)
    const guardedVictims = guarded.filter(staysNot)
    const victims = [...guardedVictims, ...others.filter(staysNot)].sort(byImportance)
    // That it was refused had another reason, such as pods which are to come there.
    if (victims.length === 0) return noVictims
    return { node, pods: victims, violations: guardedVictims.length }
  } finally {
    trial.end()
  }
}

/** Later than every time. */
const notYet = '~'

/** When a pod was started, as text that sorts; those that were not are taken to start now. */
export const startOf = ({ status }: Pod): string => status?.startTime ?? notYet

/** The more important first: by priority, then those that have run for longer. */
export function byImportance(a: Pod, b: Pod): number {
  const difference = priorityOf(b) - priorityOf(a)
  if (difference !== 0) return difference
  return startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0
}

import type { KubernetesObject, LabelSelectorMatcher, Pod } from '@coracle/api'
import { isActive } from '../pods/pod-state.ts'

/** Which pods belong to a controller, and what has to change for it. */
export interface Claims {
  /** Active pods that are its own, or will be once adopted. */
  readonly pods: readonly Pod[]
  /** Matching pods that are nobody's. */
  readonly adopted: readonly Pod[]
  /** Pods of its own that no longer match: they go on running, without it. */
  readonly released: readonly Pod[]
}

export interface Candidates {
  /** Pods that the owner controls. */
  readonly controlled: readonly Pod[]
  /** Pods of the namespace that no controller has. */
  readonly orphans: readonly Pod[]
  /**
   * Pods beside which one of its own counts as doubled up on a node: those of all objects that one controller has made, and
   * none for an object that nobody controls (as upstream has it).
   */
  readonly related?: readonly Pod[]
}

/**
 * Sorts pods by whose they are (upstream: ControllerRefManager). The selector is the bond; a pod that another controls is
 * never among the candidates. An owner that is being deleted takes and gives away nothing: the garbage collector does.
 */
export function claimPods(owner: KubernetesObject, selector: LabelSelectorMatcher, candidates: Candidates): Claims {
  const isGoing = owner.metadata.deletionTimestamp !== undefined
  const matches = (pod: Pod) => selector.matches(pod.metadata.labels)
  const active = candidates.controlled.filter(isActive)
  const kept = active.filter(matches)
  const adopted = isGoing ? [] : candidates.orphans.filter((pod) => isActive(pod) && matches(pod))
  const released = isGoing || kept.length === active.length ? [] : active.filter((pod) => !matches(pod))
  return { pods: adopted.length === 0 ? kept : [...kept, ...adopted], adopted, released }
}

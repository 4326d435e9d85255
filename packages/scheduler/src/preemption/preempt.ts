import type { Pod, PodDisruptionBudget } from '@coracle/api'
import type { Random } from '@coracle/environment'
import type { Cluster } from '../cluster.ts'
import { type Diagnosis, explainPreemption } from '../fit-error.ts'
import type { PreparedPod } from '../prepared-pod.ts'
import { priorityOf } from '../priority.ts'
import { type NoVictims, selectVictims, startOf, type Victims } from './victims.ts'

/** Of so many nodes, or of this share of those that could do, the best is chosen (upstream's). */
const candidatesMin = 100
const candidatesPercentage = 10

/** Reason of the condition `DisruptionTarget` of pods that leave for a more important one. */
export const preemptionReason = 'PreemptionByScheduler'

export type Preemption =
  | { readonly type: 'preempts'; readonly victims: Victims }
  /** No pods leaving would help: what was meant for the pod is free for others. */
  | { readonly type: 'hopeless'; readonly message: string }
  /** The pod may not have others leave, or not yet. */
  | { readonly type: 'not-eligible'; readonly message: string }

export interface PreemptionInput {
  readonly prepared: PreparedPod
  readonly diagnosis: Diagnosis
  readonly cluster: Cluster
  readonly budgets: readonly PodDisruptionBudget[]
  readonly random: Random
}

/** Decides which less important pods leave, if any, so that a pod fits which found no node. Changes nothing. */
export function planPreemption({ prepared, diagnosis, cluster, budgets, random }: PreemptionInput): Preemption {
  const ineligible = whyNotEligible(prepared.pod, diagnosis, cluster)
  if (ineligible !== undefined) return { type: 'not-eligible', message: ineligible }
  const nodes = diagnosis.refusals.filter(({ refusal }) => refusal.isHelpedByEviction).map(({ node }) => node)
  const wanted = Math.max(candidatesMin, Math.floor((nodes.length * candidatesPercentage) / 100))
  const start = Math.floor(random.next() * nodes.length)
  const candidates: Victims[] = []
  const failures: NoVictims[] = []
  let hasHarmless = false
  for (const node of [...nodes.slice(start), ...nodes.slice(0, start)]) {
    const found = selectVictims(prepared, node, budgets)
    if (!('pods' in found)) {
      failures.push(found)
      continue
    }
    candidates.push(found)
    hasHarmless ||= found.violations === 0
    if (hasHarmless && candidates.length >= wanted) break
  }
  const best = pickVictims(candidates)
  if (best === undefined) return { type: 'hopeless', message: explainPreemption(diagnosis, failures) }
  return { type: 'preempts', victims: best }
}

function whyNotEligible(pod: Pod, { refusals }: Diagnosis, cluster: Cluster): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = cluster.nominatedNode(pod.metadata.uid ?? '')
  const refused = refusals.find(({ node }) => node.name === nominated)
  if (refused?.refusal.isHelpedByEviction !== true) return undefined
  const isMakingRoom = [...refused.node.pods.values()].some(
    (other) => priorityOf(other) < priorityOf(pod) && isLeavingForOthers(other),
  )
  return isMakingRoom ? 'not eligible due to a terminating pod on the nominated node.' : undefined
}

const isLeavingForOthers = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined &&
  status?.conditions?.some(
    ({ type, status: state, reason }) => type === 'DisruptionTarget' && state === 'True' && reason === preemptionReason,
  ) === true

/** What is compared of candidates, one after another where those before are equal: the smaller is the better (upstream's order). */
const criteria: readonly ((victims: Victims) => number)[] = [
  ({ violations }) => violations,
  ({ pods: [first] }) => (first === undefined ? Number.NEGATIVE_INFINITY : priorityOf(first)),
  // Shifted, so that priorities below 0 do not make many victims look better than few.
  ({ pods }) => pods.reduce((sum, pod) => sum + priorityOf(pod) + 2 ** 31, 0),
  ({ pods }) => pods.length,
]

/** The candidate that does least harm; undefined where there is none. */
export function pickVictims(candidates: readonly Victims[]): Victims | undefined {
  let best = candidates
  for (const criterion of criteria) {
    const least = Math.min(...best.map(criterion))
    best = best.filter((each) => criterion(each) === least)
  }
  // Last, those whose most important victims have run for the shortest time.
  const latest = best.map(startOfMostImportant).reduce((a, b) => (a > b ? a : b), '')
  return best.find((each) => startOfMostImportant(each) === latest)
}

function startOfMostImportant({ pods }: Victims): string {
  const highest = pods.filter((pod) => priorityOf(pod) === priorityOf(pods[0] ?? pod))
  return highest.map(startOf).reduce((a, b) => (a < b ? a : b), '~')
}

import type { Pod } from '@coracle/api'
import { podDemand } from './pod-demand.ts'

/** A pod of the node that may have to go. */
export interface PreemptablePod {
  readonly uid: string
  readonly pod: Pod
  /** Ends it, for a pod that lacks so named a resource. */
  preempt(resource: string): void
}

/** How much of a resource is lacking. */
export interface Requirement {
  readonly name: string
  readonly amount: number
}

/** What the system itself depends on (upstream's SystemCriticalPriority). */
const criticalPriorityMin = 2_000_000_000

/** Whether the node makes room for a pod at the cost of others. */
export const isCritical = ({ spec }: Pod): boolean => (spec.priority ?? 0) >= criticalPriorityMin

/** The pods that go, or what all of them together cannot give up. */
export type Preemption = { readonly victims: readonly PreemptablePod[] } | { readonly missing: readonly Requirement[] }

/**
 * Pods that give up what is lacking for a critical pod: of best effort rather than burstable ones, and of these rather than
 * guaranteed ones; as few as can be, and small ones (upstream's getPodsToPreempt).
 */
export function podsToPreempt(
  pod: Pod,
  others: readonly PreemptablePod[],
  lacking: readonly Requirement[],
): Preemption {
  const candidates = others.filter((other) => mayGoFor(pod, other.pod))
  const of = (quality: string) => candidates.filter((other) => other.pod.status?.qosClass === quality)
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')]
  const missing = left(lacking, [...bestEffort, ...burstable, ...guaranteed])
  if (missing.length > 0) return { missing }
  const first = nearest(guaranteed, left(lacking, [...bestEffort, ...burstable]))
  const second = nearest(burstable, left(lacking, [...bestEffort, ...first]))
  return { victims: [...nearest(bestEffort, left(lacking, [...first, ...second])), ...second, ...first] }
}

const mayGoFor = (pod: Pod, other: Pod): boolean =>
  (isCritical(pod) && !isCritical(other)) || (pod.spec.priority ?? 0) > (other.spec.priority ?? 0)

const requestOf = ({ pod }: PreemptablePod, name: string): number =>
  name === 'pods' ? 1 : (podDemand(pod.spec).amounts.get(name) ?? 0)

/** What is still lacking when these pods have gone. */
const left = (lacking: readonly Requirement[], gone: readonly PreemptablePod[]): readonly Requirement[] =>
  lacking.flatMap(({ name, amount }) => {
    const rest = gone.reduce((sum, each) => sum - requestOf(each, name), amount)
    return rest > 0 ? [{ name, amount: rest }] : []
  })

/** Of these pods those that go until nothing is lacking: the next is the one that leaves least of it, or the smaller of two alike. */
function nearest(pods: readonly PreemptablePod[], lacking: readonly Requirement[]): readonly PreemptablePod[] {
  const chosen: PreemptablePod[] = []
  const rest = [...pods]
  for (let missing = lacking; missing.length > 0 && rest.length > 0; ) {
    const wanted = missing
    const best = rest.reduce((a, b) => ((distance(b, wanted) - distance(a, wanted) || smaller(b, a)) < 0 ? b : a))
    rest.splice(rest.indexOf(best), 1)
    chosen.push(best)
    missing = left(missing, [best])
  }
  return chosen
}

/** How far a pod is from giving up what is lacking: each resource counts the same. */
const distance = (pod: PreemptablePod, lacking: readonly Requirement[]): number =>
  lacking.reduce((sum, { name, amount }) => sum + (Math.max(0, amount - requestOf(pod, name)) / amount) ** 2, 0)

const smaller = (a: PreemptablePod, b: PreemptablePod): number =>
  requestOf(a, 'memory') - requestOf(b, 'memory') || requestOf(a, 'cpu') - requestOf(b, 'cpu')

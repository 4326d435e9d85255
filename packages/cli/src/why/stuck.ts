import type { Explainer, Facts, Stuck } from './facts.ts'
import { objectExplainers } from './object-explainers.ts'
import { podExplainers } from './pod-explainers.ts'
import { workloadExplainers } from './workload-explainers.ts'

/** By kind, what is asked of its objects; what is asked of all stands first. */
const explainers: Readonly<Record<string, readonly Explainer[]>> = { Pod: podExplainers, ...workloadExplainers }

/** Everything that holds an object up, what matters most first. */
export function explainStuck(facts: Facts): readonly Stuck[] {
  const asked = [...objectExplainers, ...(explainers[facts.object.kind] ?? [])]
  return asked.flatMap((explain) => explain(facts) ?? [])
}

import { compareText, formatSelector, type TopologySpreadConstraint } from '@coracle/api'
import type { Description } from './description.ts'

/** How pods are to be spread, one line for each constraint; nothing where there is none. */
export function describeTopologySpread(
  text: Description,
  level: number,
  constraints: readonly TopologySpreadConstraint[] = [],
): void {
  if (constraints.length === 0) return
  const sorted = constraints.toSorted((a, b) => compareText(a.topologyKey, b.topologyKey))
  text.lines(level, 'Topology Spread Constraints', sorted.map(constraintText))
}

function constraintText({ topologyKey, whenUnsatisfiable, maxSkew, labelSelector }: TopologySpreadConstraint): string {
  const selector = labelSelector === undefined ? '' : ` for selector ${formatSelector(labelSelector)}`
  return `${topologyKey}:${whenUnsatisfiable} when max skew ${maxSkew} is exceeded${selector}`
}

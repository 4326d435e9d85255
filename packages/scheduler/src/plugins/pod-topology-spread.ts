import type { Node, Pod } from '@coracle/api'
import type { Cluster } from '../cluster.ts'
import type { ClusterEvent } from '../cluster-event.ts'
import type { NodeInfo } from '../node-info.ts'
import type { TopologySums } from '../topology-sums.ts'
import { type ClusterFilter, type ClusterPlugin, type NodeScorer, type Refusal, scoreMax } from './plugin.ts'
import {
  defaultConstraints,
  hasAllKeys,
  hostnameLabel,
  type PodConstraint,
  podConstraints,
  type SpreadConstraint,
  type SpreadConstraints,
  SpreadCounts,
} from './spread-constraints.ts'
import { topologyValue } from './topology-value.ts'

const mismatch = "node(s) didn't match pod topology spread constraints"
const tooUneven: Refusal = { reasons: [mismatch], isHelpedByEviction: true }
const noPlace: Refusal = { reasons: [`${mismatch} (missing required label)`], isHelpedByEviction: false }

/**
 * Pods are spread over places, such as zones, as they ask for: no place may have more than `maxSkew` of them above the one that
 * has fewest, or should not. https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
 */
export const podTopologySpread: ClusterPlugin = {
  name: 'PodTopologySpread',
  scope: 'cluster',
  weight: 2,
  signature({ metadata: { namespace, labels }, spec }) {
    const { topologySpreadConstraints, nodeSelector, affinity, tolerations } = spec
    if (topologySpreadConstraints === undefined) return undefined
    return [namespace, labels, topologySpreadConstraints, nodeSelector, affinity?.nodeAffinity, tolerations]
  },
  filter(pod, cluster) {
    const required = podConstraints(pod, 'DoNotSchedule')
    return required && createFilter(pod, required, countsOf(required, cluster))
  },
  scorer(pod, cluster, candidates) {
    const preferred =
      pod.spec.topologySpreadConstraints === undefined
        ? defaultConstraints(pod, cluster)
        : podConstraints(pod, 'ScheduleAnyway')
    return preferred && createScorer(preferred, countsOf(preferred, cluster), candidates)
  },
  isHelpedBy(pod, event) {
    const constraints = podConstraints(pod, 'DoNotSchedule')?.constraints ?? []
    return canLevel(constraints, event)
  },
}

function countsOf(constraints: SpreadConstraints, cluster: Cluster): SpreadCounts {
  return cluster.index(`PodTopologySpread ${constraints.key}`, () => new SpreadCounts(constraints))
}

function createFilter(
  pod: Pod,
  { constraints }: SpreadConstraints<PodConstraint>,
  { sums }: SpreadCounts,
): ClusterFilter {
  const selves = constraints.map(({ counts }) => (counts(pod) ? 1 : 0))
  const adjust = (other: Pod, { node }: NodeInfo, amount: 1 | -1) => {
    if (!hasAllKeys(node, constraints)) return
    for (const [which, { topologyKey, counts, includes }] of constraints.entries()) {
      if (counts(other) && includes(node)) sums[which]?.adjust(topologyValue(node, topologyKey) ?? '', amount)
    }
  }
  return {
    refuse({ node }) {
      for (const [which, { topologyKey, maxSkew, minDomains }] of constraints.entries()) {
        const place = topologyValue(node, topologyKey)
        if (place === undefined) return noPlace
        const { size, minimum } = sums[which] ?? { size: 0, minimum: 0 }
        const fewest = size < minDomains ? 0 : minimum
        const skew = (sums[which]?.get(place) ?? 0) + (selves[which] ?? 0) - fewest
        if (skew > maxSkew) return tooUneven
      }
      return undefined
    },
    add: (other, node) => adjust(other, node, 1),
    remove: (other, node) => adjust(other, node, -1),
  }
}

/** The fewer pods count in the places of a node, the better; where there are many places, a pod counts more. */
function createScorer(
  { constraints, areAllNeeded }: SpreadConstraints,
  { sums }: SpreadCounts,
  candidates: readonly NodeInfo[],
): NodeScorer {
  const isScored = ({ node }: NodeInfo) => !areAllNeeded || hasAllKeys(node, constraints)
  const scored = areAllNeeded ? candidates.filter(isScored) : candidates
  const parts = constraints.flatMap((constraint, which) => {
    const counts = sums[which]
    // Where no node is in a place, there is nothing to compare.
    return counts === undefined || counts.size === 0 ? [] : [partialScore(constraint, counts, scored)]
  })
  return {
    score(node) {
      if (!isScored(node)) return -1
      let score = 0
      for (const part of parts) score += part(node)
      return Math.round(score)
    },
    normalize(scores) {
      let least = Number.POSITIVE_INFINITY
      let most = 0
      for (let index = 0; index < scores.length; index++) {
        const score = scores[index] as number
        if (score < 0) continue
        least = Math.min(least, score)
        most = Math.max(most, score)
      }
      for (let index = 0; index < scores.length; index++) {
        const score = scores[index] as number
        if (score < 0) scores[index] = 0
        else scores[index] = most === 0 ? scoreMax : Math.floor((scoreMax * (most + least - score)) / most)
      }
    },
  }
}

function partialScore(
  { topologyKey, maxSkew }: SpreadConstraint,
  counts: TopologySums,
  scored: readonly NodeInfo[],
): (node: NodeInfo) => number {
  const placeOf = ({ node }: NodeInfo) => topologyValue(node, topologyKey)
  // Nodes that are in no place are one more, as for upstream.
  const placeCount = topologyKey === hostnameLabel ? scored.length : new Set(scored.map(placeOf)).size
  const weight = Math.log(placeCount + 2)
  return (node) => {
    const count = counts.at(node)
    return count === undefined ? 0 : count * weight + (maxSkew - 1)
  }
}

/** Whether the event can make the places of a pod with these constraints more even. */
function canLevel(constraints: readonly PodConstraint[], event: ClusterEvent): boolean {
  switch (event.type) {
    case 'node-changed': {
      const { node, old } = event
      return old === undefined ? hasAllKeys(node, constraints) : hasMoved(constraints, old, node)
    }
    case 'node-removed':
      return hasAllKeys(event.node, constraints)
    case 'pod-placed': {
      const { pod, old } = event
      return constraints.some(({ counts }) => counts(pod) !== (old !== undefined && counts(old)))
    }
    case 'pod-removed': {
      // It counted until it was deleted, and was perhaps being deleted for a while.
      const { deletionTimestamp: _, ...metadata } = event.pod.metadata
      return constraints.some(({ counts }) => counts({ ...event.pod, metadata }))
    }
    default:
      return false
  }
}

/** Whether a node is in another place than before, or counts now and did not, or the reverse. */
const hasMoved = (constraints: readonly SpreadConstraint[], old: Node, node: Node): boolean =>
  constraints.some(
    ({ topologyKey, includes }) =>
      topologyValue(old, topologyKey) !== topologyValue(node, topologyKey) || includes(old) !== includes(node),
  )

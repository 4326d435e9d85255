import type { Node, Pod } from '@coracle/api'
import type { Cluster } from '../cluster.ts'
import type { ClusterEvent } from '../cluster-event.ts'
import type { NodeIndex } from '../node-indexes.ts'
import type { NodeInfo } from '../node-info.ts'
import { type Contribution, TopologySums } from '../topology-sums.ts'
import { type AffinityTerm, type AffinityTerms, affinityTermsOf } from './affinity-terms.ts'
import { type ClusterFilter, type ClusterPlugin, type NodeScorer, type Refusal, scoreMax } from './plugin.ts'
import { topologyValue } from './topology-value.ts'

const refusal = (reason: string, isHelpedByEviction: boolean): Refusal => ({ reasons: [reason], isHelpedByEviction })

const affinityRefusal = refusal("node(s) didn't match pod affinity rules", false)
const antiAffinityRefusal = refusal("node(s) didn't match pod anti-affinity rules", true)
const existingRefusal = refusal("node(s) didn't satisfy existing pods anti-affinity rules", true)

/** What a requirement of a pod on a node counts for the pods it means, beside that pod's own preferences (upstream's default). */
const requirementWeight = 1

/**
 * Pods come to places, such as zones, where certain other pods are, and not to places where others are, as both they and the others
 * ask for. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
 */
export const interPodAffinity: ClusterPlugin = {
  name: 'InterPodAffinity',
  scope: 'cluster',
  weight: 2,
  signature: ({ metadata: { namespace, labels }, spec: { affinity } }) => [
    namespace,
    labels,
    affinity?.podAffinity,
    affinity?.podAntiAffinity,
  ],
  filter(pod, cluster) {
    const terms = affinityTermsOf(pod)
    if (terms.required.length + terms.requiredAnti.length === 0 && cluster.nodesWithAffinity.size === 0)
      return undefined
    const counts = cluster.index(indexKey('required', pod, cluster), () => new AffinityCounts(pod, cluster))
    return createFilter(pod, terms, counts, cluster)
  },
  scorer(pod, cluster) {
    const { preferred, preferredAnti } = affinityTermsOf(pod)
    const hasPreferences = preferred.length + preferredAnti.length > 0
    if (!hasPreferences && cluster.nodesWithAffinity.size === 0) return undefined
    const scores = cluster.index(indexKey('preferred', pod, cluster), () => {
      return new TopologySums(({ node, pods, podsWithAffinity }) => {
        const others = hasPreferences ? pods : podsWithAffinity
        return [...others.values()].flatMap((other) => inPlaces(preferences(pod, other, cluster), node))
      })
    })
    return scores.hasAny ? createScorer(scores) : undefined
  },
  isHelpedBy: (pod, event, cluster) => canHelp(pod, affinityTermsOf(pod), event, cluster),
}

/** Pods that no term tells apart have the same counts. */
const indexKey = (use: string, pod: Pod, { namespacesVersion }: Cluster): string =>
  `InterPodAffinity ${use} ${namespacesVersion} ${JSON.stringify(interPodAffinity.signature(pod))}`

/** A label of nodes, and how much it counts. */
type Count = readonly [topologyKey: string, amount: number]

const placeOf = (topologyKey: string, value: string): string => `${topologyKey}=${value}`

/** The counts where the node is, as far as it is in such places. */
function inPlaces(counts: readonly Count[], node: Node): readonly Contribution[] {
  return counts.flatMap(([topologyKey, amount]): Contribution[] => {
    const value = topologyValue(node, topologyKey)
    return value === undefined ? [] : [[placeOf(topologyKey, value), amount]]
  })
}

/** In which places there are how many pods that the required terms are about. */
class AffinityCounts implements NodeIndex {
  /** Pods that all terms of affinity mean. */
  readonly wanted: TopologySums
  /** Pods that a term of anti-affinity means. */
  readonly unwanted: TopologySums
  /** Pods that have a term of anti-affinity which means the pod. */
  readonly unwilling: TopologySums
  readonly #parts: readonly { readonly sums: TopologySums; readonly countsOf: (other: Pod) => readonly Count[] }[]

  constructor(pod: Pod, cluster: Cluster) {
    const { required, requiredAnti } = affinityTermsOf(pod)
    const wanted = (other: Pod) => (meansAll(required, other, pod, cluster) ? required.map(one) : [])
    const unwanted = (other: Pod) => requiredAnti.filter((term) => term.means(other, pod, cluster)).map(one)
    const unwilling = (other: Pod) =>
      affinityTermsOf(other)
        .requiredAnti.filter((term) => term.means(pod, other, cluster))
        .map(one)
    this.wanted = sumOver(wanted, required.length === 0 ? undefined : 'pods')
    this.unwanted = sumOver(unwanted, requiredAnti.length === 0 ? undefined : 'pods')
    this.unwilling = sumOver(unwilling, 'podsWithAffinity')
    this.#parts = [
      { sums: this.wanted, countsOf: wanted },
      { sums: this.unwanted, countsOf: unwanted },
      { sums: this.unwilling, countsOf: unwilling },
    ]
  }

  put(node: NodeInfo): void {
    for (const { sums } of this.#parts) sums.put(node)
  }

  remove(name: string): void {
    for (const { sums } of this.#parts) sums.remove(name)
  }

  /** Counts the other pod on the node for the time being, or counts it no more. */
  adjust(other: Pod, { node }: NodeInfo, sign: 1 | -1): void {
    for (const { sums, countsOf } of this.#parts) {
      for (const [place, amount] of inPlaces(countsOf(other), node)) sums.adjust(place, sign * amount)
    }
  }
}

const one = ({ topologyKey }: AffinityTerm): Count => [topologyKey, 1]

/** Adds up what each of these pods of a node counts. */
function sumOver(
  countsOf: (other: Pod) => readonly Count[],
  which: 'pods' | 'podsWithAffinity' | undefined,
): TopologySums {
  return new TopologySums((info) => {
    if (which === undefined || info[which].size === 0) return []
    return [...info[which].values()].flatMap((other) => inPlaces(countsOf(other), info.node))
  })
}

const meansAll = (terms: readonly AffinityTerm[], other: Pod, owner: Pod, cluster: Cluster): boolean =>
  terms.length > 0 && terms.every((term) => term.means(other, owner, cluster))

function createFilter(
  pod: Pod,
  { required, requiredAnti }: AffinityTerms,
  counts: AffinityCounts,
  cluster: Cluster,
): ClusterFilter {
  // The first of pods that want to be together goes anywhere: else none ever would.
  const wantsItself = meansAll(required, pod, pod, cluster)
  const isWithWanted = (node: Node): boolean => {
    if (!required.every(({ topologyKey }) => topologyValue(node, topologyKey) !== undefined)) return false
    const areThere = required.every(({ topologyKey }) => {
      return counts.wanted.get(placeOf(topologyKey, topologyValue(node, topologyKey) ?? '')) > 0
    })
    return areThere || (wantsItself && !counts.wanted.hasAny)
  }
  return {
    refuse({ node }) {
      const { labels = {} } = node.metadata
      if (!isWithWanted(node)) return affinityRefusal
      const isWithUnwanted = requiredAnti.some(({ topologyKey }) => {
        const value = topologyValue(node, topologyKey)
        return value !== undefined && counts.unwanted.get(placeOf(topologyKey, value)) > 0
      })
      if (isWithUnwanted) return antiAffinityRefusal
      if (!counts.unwilling.hasAny) return undefined
      const isUnwanted = Object.entries(labels).some(([key, value]) => counts.unwilling.get(placeOf(key, value)) > 0)
      return isUnwanted ? existingRefusal : undefined
    },
    add: (other, node) => counts.adjust(other, node, 1),
    remove: (other, node) => counts.adjust(other, node, -1),
  }
}

/** What the other pod counts for where this one goes, by the preferences of both. */
function preferences(pod: Pod, other: Pod, cluster: Cluster): readonly Count[] {
  const own = affinityTermsOf(pod)
  const others = affinityTermsOf(other)
  const counted = (terms: readonly AffinityTerm[], meant: Pod, owner: Pod, factor: number): readonly Count[] =>
    terms
      .filter((term) => term.means(meant, owner, cluster))
      .map(({ topologyKey, weight }) => [topologyKey, factor * weight])
  return [
    ...counted(own.preferred, other, pod, 1),
    ...counted(own.preferredAnti, other, pod, -1),
    ...counted(others.required, pod, other, requirementWeight),
    ...counted(others.preferred, pod, other, 1),
    ...counted(others.preferredAnti, pod, other, -1),
  ]
}

function createScorer(sums: TopologySums): NodeScorer {
  return {
    score({ node: { metadata } }) {
      let score = 0
      for (const [key, value] of Object.entries(metadata.labels ?? {})) score += sums.get(placeOf(key, value))
      return score
    },
    normalize(scores) {
      let least = Number.POSITIVE_INFINITY
      let most = Number.NEGATIVE_INFINITY
      for (const score of scores) {
        least = Math.min(least, score)
        most = Math.max(most, score)
      }
      for (let index = 0; index < scores.length; index++) {
        const above = (scores[index] as number) - least
        scores[index] = most === least ? 0 : Math.floor((scoreMax * above) / (most - least))
      }
    },
  }
}

/** Whether the event can bring wanted pods to a place, or take unwanted or unwilling ones away. */
function canHelp(pod: Pod, { required, requiredAnti }: AffinityTerms, event: ClusterEvent, cluster: Cluster): boolean {
  const isWanted = (other: Pod) => meansAll(required, other, pod, cluster)
  const isUnwanted = (other: Pod) => requiredAnti.some((term) => term.means(other, pod, cluster))
  const isUnwilling = (other: Pod) =>
    affinityTermsOf(other).requiredAnti.some((term) => term.means(pod, other, cluster))
  // The first of its kind goes anywhere: when the last one there is gone, or is of that kind no more, it may.
  const mayBeFirstWithout = (other: Pod) => isWanted(other) && isWanted(pod)
  switch (event.type) {
    case 'node-changed': {
      const { node, old } = event
      // Pods may be there already, and be in another place now.
      if (required.some(({ topologyKey }) => isElsewhere(topologyKey, old, node))) return true
      if (old === undefined) return false
      if (requiredAnti.some(({ topologyKey }) => isElsewhere(topologyKey, node, old))) return true
      const others =
        cluster
          .node(node.metadata.name ?? '')
          ?.podsWithAffinity.values()
          .toArray() ?? []
      return others.some((other) =>
        affinityTermsOf(other).requiredAnti.some(
          (term) => isElsewhere(term.topologyKey, node, old) && term.means(pod, other, cluster),
        ),
      )
    }
    case 'pod-placed': {
      const { pod: now, old } = event
      if (old === undefined) return isWanted(now)
      if (isUnwanted(old) && !isUnwanted(now)) return true
      return isWanted(now) ? !isWanted(old) : mayBeFirstWithout(old)
    }
    case 'pod-removed':
      return isUnwanted(event.pod) || isUnwilling(event.pod) || mayBeFirstWithout(event.pod)
    case 'node-removed':
    case 'namespace-changed':
      return true
    default:
      return false
  }
}

/** Whether the node has a place by this label, and before had none or another. */
function isElsewhere(topologyKey: string, before: Node | undefined, node: Node): boolean {
  const value = topologyValue(node, topologyKey)
  return value !== undefined && value !== (before && topologyValue(before, topologyKey))
}

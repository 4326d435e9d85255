import {
  type Labels,
  type Node,
  type Pod,
  requiredNodeMatcher,
  selectorFromLabelSelector,
  type TopologySpreadConstraint,
} from '@coracle/api'
import type { Cluster } from '../cluster.ts'
import type { NodeIndex } from '../node-indexes.ts'
import type { NodeInfo } from '../node-info.ts'
import { TopologySums } from '../topology-sums.ts'
import { isRepelled } from './taint-toleration.ts'
import { topologyValue } from './topology-value.ts'

/** Label of nodes that each has with a value of its own. */
export const hostnameLabel = 'kubernetes.io/hostname'

/** Something by which a pod is spread, read once. */
export interface SpreadConstraint {
  readonly topologyKey: string
  readonly maxSkew: number
  /** How many pods of the node count. */
  countOn(node: NodeInfo): number
  /** Whether pods of the node count. */
  includes(node: Node): boolean
}

/** A constraint that a pod has itself. */
export interface PodConstraint extends SpreadConstraint {
  /** With fewer places than this the smallest is taken to be empty. */
  readonly minDomains: number
  /** Whether another pod counts, if it is on a node that counts. */
  counts(other: Pod): boolean
}

/** The constraints of a pod that belong together, as the pod itself or the default has them. */
export interface SpreadConstraints<C extends SpreadConstraint = SpreadConstraint> {
  /** Equal for pods that count the same. */
  readonly key: string
  readonly constraints: readonly C[]
  /** Whether nodes count only that have the labels of all constraints. */
  readonly areAllNeeded: boolean
}

/** The constraints of the pod that say this of what to do where they cannot be met; undefined where there are none. */
export function podConstraints(
  pod: Pod,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
): SpreadConstraints<PodConstraint> | undefined {
  const meant = pod.spec.topologySpreadConstraints?.filter((each) => each.whenUnsatisfiable === whenUnsatisfiable) ?? []
  if (meant.length === 0) return undefined
  return {
    key: JSON.stringify([meant, ...countedBy(pod)]),
    constraints: meant.map((each) => read(each, pod)),
    areAllNeeded: true,
  }
}

/** What decides, beside the constraints, which pods on which nodes are counted. */
const countedBy = ({ metadata: { namespace }, spec: { nodeSelector, affinity, tolerations } }: Pod) => [
  namespace,
  nodeSelector,
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
  tolerations,
]

function read(constraint: TopologySpreadConstraint, pod: Pod): PodConstraint {
  const { topologyKey, maxSkew, minDomains = 1, labelSelector } = constraint
  const selector = selectorFromLabelSelector(labelSelector)
  // An empty selector counts nothing here, unlike elsewhere (upstream's countPodsMatchSelector).
  const isEmpty = selector.requirements.length === 0
  const { namespace } = pod.metadata
  const counts = ({ metadata }: Pod) =>
    !isEmpty &&
    metadata.namespace === namespace &&
    metadata.deletionTimestamp === undefined &&
    selector.matches(metadata.labels)
  const countOn = ({ pods }: NodeInfo) => countWhere(pods.values(), counts)
  return { topologyKey, maxSkew, minDomains, counts, countOn, includes: inclusion(constraint, pod) }
}

function inclusion(
  { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: Partial<TopologySpreadConstraint>,
  pod: Pod,
): (node: Node) => boolean {
  const matches = nodeAffinityPolicy === 'Honor' ? requiredNodeMatcher(pod.spec) : undefined
  const honorsTaints = nodeTaintsPolicy === 'Honor'
  return (node) => matches?.(node) !== false && !(honorsTaints && isRepelled(pod, node))
}

/** Kinds of owners whose pods are spread without being told to. */
const spreadOwners: ReadonlySet<string> = new Set(['ReplicationController', 'ReplicaSet', 'StatefulSet'])

/**
 * What is preferred for pods that say nothing, as upstream's default has it: over nodes, and less so over zones. Counted are the pods
 * of the same owner, or of the same services where no such owner is; upstream counts by the selectors of both, which comes to the same
 * for pods that are not being adopted.
 */
export function defaultConstraints(pod: Pod, cluster: Cluster): SpreadConstraints | undefined {
  const siblings = siblingsOf(pod, cluster)
  if (siblings === undefined) return undefined
  const { key, countOn } = siblings
  const includes = inclusion({}, pod)
  const over = (topologyKey: string, maxSkew: number): SpreadConstraint => ({
    topologyKey,
    maxSkew,
    countOn,
    includes,
  })
  return {
    key: JSON.stringify([key, ...countedBy(pod)]),
    constraints: [over(hostnameLabel, 3), over('topology.kubernetes.io/zone', 5)],
    areAllNeeded: false,
  }
}

/** Pods that a pod is spread among without saying so: how many count, and what tells them from others. */
interface Siblings {
  readonly key: unknown
  countOn(node: NodeInfo): number
}

function siblingsOf(pod: Pod, cluster: Cluster): Siblings | undefined {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner === undefined || !spreadOwners.has(owner.kind)) return siblingsByServices(pod, cluster)
  // Nodes know it, so that a pod more costs the same however many there are.
  const countOn = ({ podsByOwner }: NodeInfo) => podsByOwner.get(owner.uid) ?? 0
  return { key: owner.uid, countOn }
}

/** Pods that are behind all services that the pod is behind. */
function siblingsByServices({ metadata }: Pod, cluster: Cluster): Siblings | undefined {
  const { namespace = '', labels = {} } = metadata
  const selectors = cluster
    .serviceSelectors(namespace)
    .filter((selector) => hasLabels(labels, Object.entries(selector)))
  if (selectors.length === 0) return undefined
  const selector = Object.entries<string>(Object.assign({}, ...selectors)).sort(([a], [b]) => (a < b ? -1 : 1))
  const counts = ({ metadata: other }: Pod) =>
    other.namespace === namespace && other.deletionTimestamp === undefined && hasLabels(other.labels ?? {}, selector)
  return { key: selector, countOn: ({ pods }) => countWhere(pods.values(), counts) }
}

const hasLabels = (labels: Labels, wanted: readonly (readonly [name: string, value: string])[]): boolean =>
  wanted.every(([name, value]) => labels[name] === value)

/** Whether the node is in a place for each of the constraints. */
export const hasAllKeys = (node: Node, constraints: readonly SpreadConstraint[]): boolean =>
  constraints.every(({ topologyKey }) => topologyValue(node, topologyKey) !== undefined)

/** For each constraint how many pods count in each place. */
export class SpreadCounts implements NodeIndex {
  readonly sums: readonly TopologySums[]

  constructor({ constraints, areAllNeeded }: SpreadConstraints) {
    this.sums = constraints.map(
      (constraint) =>
        new TopologySums((info) => {
          const { node } = info
          const place = topologyValue(node, constraint.topologyKey)
          if (place === undefined || !constraint.includes(node)) return []
          return areAllNeeded && !hasAllKeys(node, constraints) ? [] : [[place, constraint.countOn(info)]]
        }),
    )
  }

  put(node: NodeInfo): void {
    for (const sums of this.sums) sums.put(node)
  }

  remove(name: string): void {
    for (const sums of this.sums) sums.remove(name)
  }
}

function countWhere(pods: Iterable<Pod>, counts: PodConstraint['counts']): number {
  let count = 0
  for (const pod of pods) if (counts(pod)) count++
  return count
}

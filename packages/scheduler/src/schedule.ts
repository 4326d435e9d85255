import type { Pod } from '@coracle/api'
import type { Random } from '@coracle/environment'
import type { Cluster } from './cluster.ts'
import type { Diagnosis, NodeRefusal } from './fit-error.ts'
import type { Framework } from './framework.ts'
import type { NodeInfo } from './node-info.ts'
import type { PreparedPod } from './prepared-pod.ts'

/** Every node is looked at in a cluster up to this size; in larger ones a share of them (upstream's). */
const feasibleMin = 100
const percentageMin = 5

export type Decision =
  | { readonly type: 'fits'; readonly node: NodeInfo; readonly because: string }
  | { readonly type: 'unschedulable'; readonly prepared: PreparedPod; readonly diagnosis: Diagnosis }

export interface ScheduleOptions {
  readonly random: Random
  /** Where among the nodes to begin looking, so that not always the same are found first. */
  readonly start?: number
  /** Of so many percent of all nodes that take the pod the best is chosen; of upstream's share unless set. */
  readonly percentageOfNodesToScore?: number | undefined
}

/**
 * Picks the node for a pod: filters until enough nodes are found that fit, scores those, takes the best, and among
 * equals one by chance. Where room has been made for the pod on a node, it comes there. Decides only; nothing is changed.
 * `examined` tells how far it looked, for the next start.
 */
export function schedule(
  pod: Pod,
  cluster: Cluster,
  framework: Framework,
  { random, start = 0, percentageOfNodesToScore }: ScheduleOptions,
): Decision & { readonly examined: number } {
  const prepared = framework.prepare(pod, cluster)
  const { named, rejection } = prepared
  if (rejection !== undefined) {
    const nothing = { refusals: [], namedBy: [], isContradictory: false }
    return {
      type: 'unschedulable',
      prepared,
      diagnosis: { nodeCount: cluster.nodeCount, rejection, ...nothing },
      examined: 0,
    }
  }
  const nominated = cluster.node(cluster.nominatedNode(pod.metadata.uid ?? '') ?? '')
  if (nominated !== undefined && prepared.refuse(nominated) === undefined) {
    return { type: 'fits', node: nominated, because: `room was made for it on ${nominated.name}`, examined: 1 }
  }
  const candidates =
    named === undefined ? cluster.nodes : [...named.nodeNames].flatMap((name) => cluster.node(name) ?? [])
  const wanted = feasibleWanted(candidates.length, percentageOfNodesToScore)
  const feasible: NodeInfo[] = []
  const refusals: NodeRefusal[] = []
  let examined = 0
  while (examined < candidates.length && feasible.length < wanted) {
    const node = candidates[(start + examined) % candidates.length] as NodeInfo
    examined++
    const refusal = prepared.refuse(node)
    if (refusal === undefined) feasible.push(node)
    else refusals.push({ node, refusal })
  }
  const node = best(prepared, feasible, random)
  if (node !== undefined) {
    const because = `${feasible.length} of ${examined} nodes looked at can take it, ${node.name} suits it best`
    return { type: 'fits', node, because, examined }
  }
  const diagnosis = {
    nodeCount: cluster.nodeCount,
    refusals,
    namedBy: named?.plugins ?? [],
    isContradictory: named?.nodeNames.size === 0,
  }
  return { type: 'unschedulable', prepared, diagnosis, examined }
}

/** How many feasible nodes are enough: all of a small cluster, from half down to a twentieth of a large one. */
export function feasibleWanted(nodeCount: number, percentageWanted?: number): number {
  if (nodeCount < feasibleMin) return nodeCount
  const percentage = percentageWanted ?? Math.max(percentageMin, Math.floor(50 - nodeCount / 125))
  return Math.min(nodeCount, Math.max(feasibleMin, Math.floor((nodeCount * percentage) / 100)))
}

function best(prepared: PreparedPod, feasible: readonly NodeInfo[], random: Random): NodeInfo | undefined {
  if (feasible.length <= 1) return feasible[0]
  const totals = prepared.rank(feasible)
  let chosen = 0
  let equals = 1
  for (let index = 1; index < totals.length; index++) {
    const difference = (totals[index] ?? 0) - (totals[chosen] ?? 0)
    if (difference > 0) {
      chosen = index
      equals = 1
    } else if (difference === 0 && random.next() < 1 / ++equals) {
      // Each of the equals ends up chosen with the same probability, and the list is walked once.
      chosen = index
    }
  }
  return feasible[chosen]
}

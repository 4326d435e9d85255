import type { Pod } from '@coracle/api'
import { fnv1a } from '@coracle/environment'
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
  /** Where among the nodes to begin looking, so that not always the same are found first. */
  readonly start?: number
  /** Of so many percent of all nodes that take the pod the best is chosen; of upstream's share unless set. */
  readonly percentageOfNodesToScore?: number | undefined
}

/**
 * Picks the node for a pod: filters until enough nodes are found that fit, scores those, takes the best, and among
 * equals the one that the pod's name falls to. Where room has been made for the pod on a node, it comes there. Decides only; nothing is changed.
 * `examined` tells how far it looked, for the next start.
 */
export function schedule(
  pod: Pod,
  cluster: Cluster,
  framework: Framework,
  { start = 0, percentageOfNodesToScore }: ScheduleOptions = {},
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
  const node = best(prepared, feasible)
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
  const percentage = percentageWanted ?? Math.max(percentageMin, Math.floor(50 - nodeCount / 125))
  return Math.min(nodeCount, Math.max(feasibleMin, Math.floor((nodeCount * percentage) / 100)))
}

function best(prepared: PreparedPod, feasible: readonly NodeInfo[]): NodeInfo | undefined {
  if (feasible.length <= 1) return feasible[0]
  const totals = prepared.rank(feasible)
  const { namespace, name, generateName } = prepared.pod.metadata
  const isOneOfMany = generateName !== undefined && !isNumbered(prepared.pod)
  const podHash = fnv1a(`${namespace}/${isOneOfMany ? generateName : name}`)
  let chosen: NodeInfo | undefined
  let [most, chosenLot] = [Number.NEGATIVE_INFINITY, 0]
  for (let index = 0; index < feasible.length; index++) {
    const total = totals[index] as number
    if (total < most) continue
    const node = feasible[index] as NodeInfo
    const lot = lotOf(podHash, node, isOneOfMany ? node.podCount : 0)
    if (total === most && lot <= chosenLot) continue
    chosen = node
    most = total
    chosenLot = lot
  }
  return chosen
}

/** Whether a pod is one of a stateful set, which has a name for itself, and keeps it. */
const isNumbered = ({ metadata: { ownerReferences = [] } }: Pod): boolean =>
  ownerReferences.some(({ controller, kind }) => controller === true && kind === 'StatefulSet')

/**
 * What a pod draws for a node: of nodes that suit it alike it gets the one with the highest lot (rendezvous hashing). Pods are spread as
 * if by chance, and whoever is asked again gives the same answer. Pods whose names end in random letters draw by what their names begin
 * with, and another lot for a node each time that a pod has come to it.
 */
function lotOf(podHash: number, { nameHash }: NodeInfo, round: number): number {
  // The last steps of MurmurHash3: each bit of what goes in decides about each bit of the lot.
  let lot = podHash ^ nameHash ^ Math.imul(round, 0x9e3779b1)
  lot = Math.imul(lot ^ (lot >>> 16), 0x85ebca6b)
  lot = Math.imul(lot ^ (lot >>> 13), 0xc2b2ae35)
  return (lot ^ (lot >>> 16)) >>> 0
}

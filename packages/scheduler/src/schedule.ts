import type { Pod } from '@coracle/api'
import type { Random } from '@coracle/environment'
import type { NodeInfo } from './node-info.ts'
import { filters, scorers } from './plugins/index.ts'
import { notNamed, requiredNodeNames } from './plugins/node-affinity.ts'
import type { Filter, NodeFilter } from './plugins/plugin.ts'

/** Every node is looked at in a cluster up to this size; in larger ones a share of them (upstream's). */
const feasibleMin = 100
const percentageMin = 5

export type Decision =
  | { readonly type: 'fits'; readonly node: NodeInfo }
  /** `message` is for people, as upstream words it: `0/3 nodes are available: 3 Insufficient cpu. …` */
  | { readonly type: 'unschedulable'; readonly message: string }

export interface ScheduleOptions {
  readonly random: Random
  /** Where among the nodes to begin looking, so that not always the same are found first. */
  readonly start?: number
}

/**
 * Picks the node for a pod: filters until enough nodes are found that fit, scores those, takes the best, and among
 * equals one by chance. Decides only; nothing is changed. `examined` tells how far it looked, for the next start.
 */
export function schedule(
  pod: Pod,
  nodes: readonly NodeInfo[],
  { random, start = 0 }: ScheduleOptions,
): Decision & { readonly examined: number } {
  if (nodes.length === 0) return { type: 'unschedulable', message: 'no nodes available to schedule pods', examined: 0 }
  const named = requiredNodeNames(pod)
  if (named?.size === 0) return { type: 'unschedulable', message: describeConflict(pod, nodes.length), examined: 0 }
  const prepared = prepareFilters(pod)
  const candidates = named === undefined ? nodes : nodes.filter(({ node }) => named.has(node.metadata.name ?? ''))
  const wanted = feasibleWanted(candidates.length)
  const feasible: NodeInfo[] = []
  const refusals: Refusal[] = []
  let examined = 0
  while (examined < candidates.length && feasible.length < wanted) {
    const node = candidates[(start + examined) % candidates.length] as NodeInfo
    examined++
    const refusal = refuse(prepared, node)
    if (refusal === undefined) feasible.push(node)
    else refusals.push(refusal)
  }
  const node = best(pod, feasible, random)
  if (node === undefined) return { type: 'unschedulable', message: describe(pod, refusals, nodes.length), examined }
  return { type: 'fits', node, examined }
}

interface Refusal {
  readonly node: NodeInfo
  readonly by: Filter
  readonly reasons: readonly string[]
}

interface PreparedFilter {
  readonly by: Filter
  readonly filter: NodeFilter
}

function prepareFilters(pod: Pod): PreparedFilter[] {
  return filters.flatMap((by) => {
    const filter = by.prepare(pod)
    return filter === undefined ? [] : [{ by, filter }]
  })
}

function refuse(prepared: readonly PreparedFilter[], node: NodeInfo): Refusal | undefined {
  for (const { by, filter } of prepared) {
    const reasons = filter(node)
    if (reasons.length > 0) return { node, by, reasons }
  }
  return undefined
}

/** Whether one of these nodes, as they are now, would take the pod. */
export function fitsSomewhere(pod: Pod, nodes: readonly NodeInfo[]): boolean {
  const named = requiredNodeNames(pod)
  const prepared = prepareFilters(pod)
  return nodes.some((info) => {
    const isMeant = named === undefined || named.has(info.node.metadata.name ?? '')
    return isMeant && refuse(prepared, info) === undefined
  })
}

/** How many feasible nodes are enough: all of a small cluster, from half down to a twentieth of a large one. */
export function feasibleWanted(nodeCount: number): number {
  if (nodeCount < feasibleMin) return nodeCount
  const percentage = Math.max(percentageMin, Math.floor(50 - nodeCount / 125))
  return Math.max(feasibleMin, Math.floor((nodeCount * percentage) / 100))
}

function best(pod: Pod, feasible: readonly NodeInfo[], random: Random): NodeInfo | undefined {
  if (feasible.length <= 1) return feasible[0]
  const totals = new Float64Array(feasible.length)
  for (const { prepare, weight, normalize } of scorers) {
    const score = prepare(pod)
    if (score === undefined) continue
    const scores = Float64Array.from(feasible, score)
    normalize?.(scores)
    for (let index = 0; index < totals.length; index++)
      totals[index] = (totals[index] ?? 0) + weight * (scores[index] ?? 0)
  }
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

const evictionUseless = 'Preemption is not helpful for scheduling'

/**
 * Upstream's sentence. Pods all have one priority as yet, so no eviction ever helps; the second half says so in the words
 * that upstream has for it. Nodes that were not looked at because the pod names others are told of too.
 */
function describe(pod: Pod, refusals: readonly Refusal[], nodeCount: number): string {
  const others: readonly string[] = Array.from({ length: nodeCount - refusals.length }, () => notNamed)
  const reasons = histogram([...refusals.flatMap(({ reasons: each }) => each), ...others])
  const outlook = refusals.map(({ by, node }) =>
    by.helpedByEviction?.(pod, node) ? 'No preemption victims found for incoming pod' : evictionUseless,
  )
  return sentence(pod, nodeCount, reasons, [...outlook, ...others.map(() => evictionUseless)])
}

/** What is said where no node can be meant, and none has been looked at. */
function describeConflict(pod: Pod, nodeCount: number): string {
  const outlook = Array.from({ length: nodeCount }, () => evictionUseless)
  return sentence(pod, nodeCount, 'pod affinity terms conflict', outlook)
}

function sentence(pod: Pod, nodeCount: number, reasons: string, outlook: readonly string[]): string {
  const available = `0/${nodeCount} nodes are available`
  const preemption =
    pod.spec?.preemptionPolicy === 'Never'
      ? 'not eligible due to preemptionPolicy=Never'
      : `${available}: ${histogram(outlook)}`
  return `${available}: ${reasons}. preemption: ${preemption}.`
}

function histogram(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
    .map(([text, count]) => `${count} ${text}`)
    .sort()
    .join(', ')
}

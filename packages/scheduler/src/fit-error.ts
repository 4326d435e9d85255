import type { NodeInfo } from './node-info.ts'
import type { PluginRefusal } from './pod-class.ts'
import type { Preemption } from './preemption/preempt.ts'

/** A node and why it does not take the pod. */
export interface NodeRefusal {
  readonly node: NodeInfo
  readonly refusal: PluginRefusal
}

/** Why no node takes a pod. */
export interface Diagnosis {
  readonly nodeCount: number
  /** Why none was looked at, where it is so whichever the node. */
  readonly rejection?: PluginRefusal | undefined
  /** Nodes that were looked at. All others were not, since the pod names the nodes it may go to. */
  readonly refusals: readonly NodeRefusal[]
  /** The plugins that say so. */
  readonly namedBy: readonly string[]
  /** It names nodes in ways that contradict each other: none can be meant. */
  readonly isContradictory: boolean
}

const evictionUseless = 'Preemption is not helpful for scheduling'

/** Upstream's sentence on why no node takes the pod: `0/3 nodes are available: 3 Insufficient cpu.` */
export function explain({ nodeCount, rejection, refusals, namedBy, isContradictory }: Diagnosis): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods'
  if (rejection !== undefined) return sentence(nodeCount, rejection.reasons.join(', '))
  if (isContradictory) return sentence(nodeCount, 'pod affinity terms conflict')
  const counts = countTexts(refusals.flatMap(({ refusal }) => refusal.reasons))
  addCount(counts, `node(s) didn't satisfy plugin(s) [${namedBy.join(' ')}]`, nodeCount - refusals.length)
  return sentence(nodeCount, histogram(counts))
}

/** Upstream's sentence on why removing other pods does not help either. `attempts` are the nodes where that was considered. */
export function explainPreemption(
  { nodeCount }: Diagnosis,
  attempts: readonly { readonly reasons: readonly string[] }[],
): string {
  const counts = countTexts(attempts.flatMap(({ reasons }) => reasons))
  addCount(counts, evictionUseless, nodeCount - attempts.length)
  return sentence(nodeCount, histogram(counts))
}

/** Whether it was settled before any node was looked at. */
export const isSettledEarly = ({ rejection, isContradictory }: Diagnosis): boolean =>
  rejection !== undefined || isContradictory

/**
 * Upstream's words on what was tried for a pod that no node takes: nothing that it claims of devices could be given back, then what came of
 * preemption. Where no node was looked at, upstream's first helper (DynamicResources) does not find what it would have noted of the pod by then: the
 * error of that, `not found`, ends kube-scheduler's event (`… persistentvolumeclaim "c" not found. not found`), and there is no second.
 */
export function explainNoHelp(
  diagnosis: Diagnosis,
  preemption: Preemption | undefined,
  devices = 'no new claims to deallocate',
): string {
  if (diagnosis.nodeCount === 0 || preemption?.type === 'preempts') return ''
  if (isSettledEarly(diagnosis) || preemption === undefined) return 'not found'
  return `${devices}, preemption: ${preemption.message}`
}

const sentence = (nodeCount: number, reasons: string): string => `0/${nodeCount} nodes are available: ${reasons}.`

function countTexts(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) addCount(counts, text, 1)
  return counts
}

function addCount(counts: Map<string, number>, text: string, count: number): void {
  if (count > 0) counts.set(text, (counts.get(text) ?? 0) + count)
}

const histogram = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([text, count]) => `${count} ${text}`)
    .sort()
    .join(', ')

import type { Pod, PodSpec } from '@coracle/api'
import type { Cluster } from '../cluster.ts'
import type { ClusterEvent } from '../cluster-event.ts'
import type { NodeInfo } from '../node-info.ts'

/** The most a plugin's score can be. */
export const scoreMax = 100

/** Why a node does not take a pod. */
export interface Refusal {
  /** In words, one each for what is wrong. Equal ones are counted over all nodes and shown to users. */
  readonly reasons: readonly string[]
  /** Whether the node could take the pod with fewer others in the cluster: those that are less important may have to go. */
  readonly isHelpedByEviction: boolean
}

/**
 * Thrown by a filter, ends the attempt to place a pod: something is wrong with what it asks for, and it comes to no node, also where one
 * would take it. The message is told to users, and the pod is tried again after a while.
 */
export class AttemptError extends Error {}

/** A plugin's word on one pod: which nodes do not take it. */
export interface NodeFilter {
  /** The only nodes that can be meant, where the pod says so by name: no other is looked at. Empty where it contradicts itself. */
  readonly nodeNames?: ReadonlySet<string> | undefined
  /** Undefined where the node takes the pod. */
  refuse(node: NodeInfo): Refusal | undefined
}

/** As `NodeFilter`, where the answer hangs on pods of other nodes too. */
export interface ClusterFilter extends NodeFilter {
  /** Why no node takes the pod, whichever it is: then none is looked at. */
  readonly rejection?: Refusal
  /** From here on the answer is as if this other pod were on the node, too. */
  add(other: Pod, node: NodeInfo): void
  /** From here on the answer is as if this other pod were not on the node. What is removed is added again, or the reverse. */
  remove(other: Pod, node: NodeInfo): void
}

/** A plugin's word on one pod: how well nodes suit it. */
export interface NodeScorer {
  /** On any scale, which `normalize` brings to 0–100. */
  score(node: NodeInfo): number
  /** Brings the scores of all candidates, which come in the order of `nodes`, to 0–100 in place. Absent where they are that already. */
  normalize?(scores: Float64Array, nodes: readonly NodeInfo[]): void
}

interface PluginBase {
  /** Upstream's name, where upstream has such a plugin. */
  readonly name: string
  /** What its scores count beside those of others. Of a plugin that does not score it says nothing. */
  readonly weight?: number
}

/**
 * A plugin whose answers hang on the pod's spec and on the node it is asked about, with the pods there, and on nothing else. They
 * are kept: pods of one template ask about a node once until the node changes.
 */
export interface NodePlugin extends PluginBase {
  readonly scope: 'node'
  /**
   * All of the spec that the answers hang on, as JSON has it. Undefined where the plugin has nothing to say. Pods with equal
   * signatures are taken for the same: what was answered about one is answered about the other.
   */
  readonly signature: (spec: PodSpec) => unknown
  /** Undefined where no node is refused. */
  filter?(pod: Pod): NodeFilter | undefined
  /** Undefined where all nodes suit alike. */
  scorer?(pod: Pod): NodeScorer | undefined
}

/** A plugin that sees the cluster. It is prepared for each attempt, and asked anew about each node. */
export interface ClusterPlugin extends PluginBase {
  readonly scope: 'cluster'
  /** As that of a `NodePlugin`, of the whole pod. */
  signature(pod: Pod): unknown
  filter?(pod: Pod, cluster: Cluster): ClusterFilter | undefined
  /** `candidates` are the nodes that take the pod. */
  scorer?(pod: Pod, cluster: Cluster, candidates: readonly NodeInfo[]): NodeScorer | undefined
  /**
   * Whether a pod that this plugin kept from a node could be taken after the event by a node which the event is not about
   * (upstream's queueing hints). Absent where no event can do that: nodes that events are about are looked at anyway.
   */
  isHelpedBy?(pod: Pod, event: ClusterEvent, cluster: Cluster): boolean
  /**
   * What is done for a pod that found no node, of which a sentence tells: undefined where there is nothing that could help (upstream's
   * PostFilter). Only plugins are asked that kept the pod from a node.
   */
  postFilter?(pod: Pod): { readonly message: string; readonly done?: Promise<void> } | undefined
  /**
   * Sets aside what the pod takes up when it has been decided to put it on the node. A sentence says why that cannot be:
   * then the pod is tried again.
   */
  reserve?(pod: Pod, node: NodeInfo): string | undefined
  /** Takes back what was reserved: the pod does not come there after all. Called for every plugin, also where nothing was. */
  unreserve?(pod: Pod, node: NodeInfo): void
  /**
   * What has to be done before the pod is bound to the node; undefined where that is nothing. An error leaves it unbound, and it is
   * tried again.
   */
  preBind?(pod: Pod, node: NodeInfo): Promise<void> | undefined
}

/** What decides, beside others, which node a pod gets. */
export type Plugin = NodePlugin | ClusterPlugin

/** Scales scores so that the largest is 100; with `reverse` the largest is 0 and none is 100. */
export function normalizeToMax(scores: Float64Array, reverse = false): void {
  let largest = 0
  for (const score of scores) largest = Math.max(largest, score)
  for (let index = 0; index < scores.length; index++) {
    const scaled = largest === 0 ? 0 : Math.floor(((scores[index] ?? 0) * scoreMax) / largest)
    scores[index] = reverse ? scoreMax - scaled : scaled
  }
}

import type { Pod } from '@coracle/api'
import type { NodeInfo } from '../node-info.ts'

/** The most a plugin's score can be. */
export const scoreMax = 100

/** Why a node does not take the pod; empty where it does. */
export type NodeFilter = (node: NodeInfo) => readonly string[]

/** How well a node suits the pod. Any scale; `Scorer.normalize` brings it to 0–100. */
export type NodeScore = (node: NodeInfo) => number

/** Refuses nodes. */
export interface Filter {
  /** Upstream's name of the plugin. */
  readonly name: string
  /** Whether a node that was refused could take the pod with fewer others on it. Absent where that never helps. */
  helpedByEviction?(pod: Pod, node: NodeInfo): boolean
  /** Looks at the pod once; undefined where it has nothing to say about it, so that nodes are not even asked. */
  prepare(pod: Pod): NodeFilter | undefined
}

/** Prefers nodes. */
export interface Scorer {
  readonly name: string
  readonly weight: number
  prepare(pod: Pod): NodeScore | undefined
  /** Brings the scores of all candidates to 0–100, in place. Absent where they are that already. */
  normalize?(scores: Float64Array): void
}

/** No reason at all: the node fits. */
export const fits: readonly string[] = []

/** Scales scores so that the largest is 100; with `reverse` the largest is 0 and none is 100. */
export function normalizeToMax(scores: Float64Array, reverse = false): void {
  let largest = 0
  for (const score of scores) largest = Math.max(largest, score)
  for (let index = 0; index < scores.length; index++) {
    const scaled = largest === 0 ? 0 : Math.floor(((scores[index] ?? 0) * scoreMax) / largest)
    scores[index] = reverse ? scoreMax - scaled : scaled
  }
}

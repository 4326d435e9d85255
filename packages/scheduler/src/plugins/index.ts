import { nodeAffinity, nodeAffinityScore } from './node-affinity.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { balancedAllocation, leastAllocated, nodeResourcesFit } from './node-resources.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import type { Filter, Scorer } from './plugin.ts'
import { taintToleration, taintTolerationScore } from './taint-toleration.ts'

/** In the order they are asked: the first to refuse a node gives the reason. */
export const filters: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
]

export const scorers: readonly Scorer[] = [taintTolerationScore, nodeAffinityScore, leastAllocated, balancedAllocation]

import { interPodAffinity } from './inter-pod-affinity.ts'
import { nodeAffinity } from './node-affinity.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { balancedAllocation, nodeResourcesFit } from './node-resources.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import type { Plugin } from './plugin.ts'
import { podTopologySpread } from './pod-topology-spread.ts'
import { taintToleration } from './taint-toleration.ts'

/** In the order they are asked: the first to refuse a node gives the reason. */
export const defaultPlugins: readonly Plugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  balancedAllocation,
  podTopologySpread,
  interPodAffinity,
]

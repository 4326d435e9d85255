import { isTolerated, type Node, type Pod, type Taint } from '@coracle/api'
import { type NodePlugin, normalizeToMax, type Refusal } from './plugin.ts'

const untolerated: Refusal = { reasons: ['node(s) had untolerated taint(s)'], isHelpedByEviction: false }

/** Nodes with a NoSchedule or NoExecute taint take only pods that tolerate it; the fewer untolerated PreferNoSchedule ones, the better. */
export const taintToleration: NodePlugin = {
  name: 'TaintToleration',
  scope: 'node',
  weight: 3,
  signature: ({ tolerations }) => tolerations,
  filter(pod) {
    return { refuse: ({ node }) => (isRepelled(pod, node) ? untolerated : undefined) }
  },
  scorer(pod) {
    const counts = (taint: Taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, pod.spec.tolerations)
    return {
      score: ({ node }) => node.spec?.taints?.filter(counts).length ?? 0,
      normalize: (scores) => normalizeToMax(scores, true),
    }
  },
}

/** Whether a taint of the node keeps the pod away. */
export function isRepelled({ spec: { tolerations } }: Pod, { spec }: Node): boolean {
  return spec?.taints?.some((taint) => taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations)) === true
}

import { isTolerated } from '@coracle/api'
import type { NodePlugin, Refusal } from './plugin.ts'

const unschedulable: Refusal = { reasons: ['node(s) were unschedulable'], isHelpedByEviction: false }
const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const

/** Cordoned nodes take no pods, except those that tolerate the taint which stands for it. */
export const nodeUnschedulable: NodePlugin = {
  name: 'NodeUnschedulable',
  scope: 'node',
  signature: ({ tolerations }) => isTolerated(taint, tolerations),
  filter(pod) {
    if (isTolerated(taint, pod.spec.tolerations)) return undefined
    return { refuse: ({ node }) => (node.spec?.unschedulable ? unschedulable : undefined) }
  },
}

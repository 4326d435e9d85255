import { isTolerated } from '@coracle/api'
import { type Filter, fits } from './plugin.ts'

const unschedulable = ['node(s) were unschedulable'] as const
const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const

/** Cordoned nodes take no pods, except those that tolerate the taint which stands for it. */
export const nodeUnschedulable: Filter = {
  name: 'NodeUnschedulable',
  prepare(pod) {
    const tolerated = isTolerated(taint, pod.spec?.tolerations)
    return tolerated ? undefined : (node) => (node.node.spec?.unschedulable ? unschedulable : fits)
  },
}

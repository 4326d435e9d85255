import type { Taint, Toleration } from '@coracle/api'
import { type Filter, fits, normalizeToMax, type Scorer } from './plugin.ts'

const untolerated = ['node(s) had untolerated taint(s)'] as const

/** Nodes with a NoSchedule or NoExecute taint take only pods that tolerate it. */
export const taintToleration: Filter = {
  name: 'TaintToleration',
  prepare(pod) {
    const tolerations = pod.spec?.tolerations ?? []
    return ({ node }) => {
      const taints = node.spec?.taints
      if (taints === undefined) return fits
      const refused = taints.some((taint) => taint.effect !== 'PreferNoSchedule' && !toleratesTaint(tolerations, taint))
      return refused ? untolerated : fits
    }
  },
}

/** The fewer PreferNoSchedule taints a pod does not tolerate, the better. */
export const taintTolerationScore: Scorer = {
  name: 'TaintToleration',
  weight: 3,
  prepare(pod) {
    const tolerations = (pod.spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === 'PreferNoSchedule')
    return ({ node }) => {
      const taints = node.spec?.taints
      if (taints === undefined) return 0
      return taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !toleratesTaint(tolerations, taint)).length
    }
  },
  normalize: (scores) => normalizeToMax(scores, true),
}

/** Whether one of the tolerations covers the taint (core/v1 helpers' ToleratesTaint). */
export function toleratesTaint(
  tolerations: readonly Toleration[],
  taint: Pick<Taint, 'key' | 'value' | 'effect'>,
): boolean {
  return tolerations.some((toleration) => {
    if (toleration.effect && toleration.effect !== taint.effect) return false
    if (toleration.key && toleration.key !== taint.key) return false
    if (toleration.operator === 'Exists') return true
    return (toleration.value ?? '') === (taint.value ?? '')
  })
}

import { isTolerated } from '@coracle/api'
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
      const refused = taints.some((taint) => taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations))
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
      return taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)).length
    }
  },
  normalize: (scores) => normalizeToMax(scores, true),
}

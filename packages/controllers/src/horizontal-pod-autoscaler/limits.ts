import type { ScalingPolicy, ScalingRules } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { changeWithin, type Memory } from './memory.ts'

/** A count within its limits, and which of them held it back, in the words of the condition ScalingLimited. */
export interface Limited {
  readonly replicas: number
  readonly reason: string
  readonly message: string
}

/** How many replicas there may be. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const tooFew = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const tooFastUp = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const tooFastDown = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

/** Without a behavior a count at most doubles at a time, and four are always allowed. */
export const scaleUpFactor = 2
export const scaleUpAlways = 4

/** Keeps a count within its bounds and, growing, to the usual rate. */
export function limit(current: number, wanted: number, { min, max }: Bounds): Limited {
  const fastest = Math.max(scaleUpFactor * current, scaleUpAlways)
  if (wanted < min) return { replicas: min, ...tooFew }
  if (wanted > Math.min(max, fastest)) {
    return max > fastest ? { replicas: fastest, ...tooFastUp } : { replicas: max, ...tooMany }
  }
  return { replicas: wanted, ...withinRange }
}

/** Keeps a count within its bounds and to the rates of a behavior, by what has changed within their periods. */
export function limitByRules(
  memory: Memory,
  { current, wanted }: { readonly current: number; readonly wanted: number },
  { min, max }: Bounds,
  rules: { readonly up: ScalingRules; readonly down: ScalingRules },
  nowMs: Time,
): Limited {
  if (wanted > current) {
    // After a growth that used up its period nothing may grow, and nothing shrinks for it.
    const fastest = Math.max(current, scaleUpLimit(current, memory, rules.up, nowMs))
    if (wanted <= Math.min(max, fastest)) return { replicas: wanted, ...withinRange }
    return max > fastest ? { replicas: fastest, ...tooFastUp } : { replicas: max, ...tooMany }
  }
  if (wanted < current) {
    const fastest = Math.min(current, scaleDownLimit(current, memory, rules.down, nowMs))
    if (wanted >= Math.max(min, fastest)) return { replicas: wanted, ...withinRange }
    return min < fastest ? { replicas: fastest, ...tooFastDown } : { replicas: min, ...tooFew }
  }
  return { replicas: wanted, ...withinRange }
}

/** The most there may be by these rules. Policies count from where their period began. */
function scaleUpLimit(current: number, memory: Memory, rules: ScalingRules, nowMs: Time): number {
  if (rules.selectPolicy === 'Disabled') return current
  const limits = (rules.policies ?? []).map((policy) => {
    const start = countAtStart(current, memory, policy, nowMs)
    // Rounded up: a share of few would come to nothing, and never grow.
    return policy.type === 'Pods' ? start + policy.value : Math.ceil(start * (1 + policy.value / 100))
  })
  return rules.selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits)
}

/** The fewest there may be by these rules. */
function scaleDownLimit(current: number, memory: Memory, rules: ScalingRules, nowMs: Time): number {
  if (rules.selectPolicy === 'Disabled') return current
  const limits = (rules.policies ?? []).map((policy) => {
    const start = countAtStart(current, memory, policy, nowMs)
    return policy.type === 'Pods' ? start - policy.value : Math.trunc(start * (1 - policy.value / 100))
  })
  // The policy that changes least leaves the most.
  return rules.selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits)
}

function countAtStart(current: number, { scaleUps, scaleDowns }: Memory, policy: ScalingPolicy, nowMs: Time): number {
  return current - changeWithin(scaleUps, policy, nowMs) + changeWithin(scaleDowns, policy, nowMs)
}

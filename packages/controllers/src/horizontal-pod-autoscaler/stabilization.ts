import type { Time } from '@coracle/environment'
import { type Memory, type Recommendation, remembered } from './memory.ts'

/** For so long a count is not shrunk below what was asked for, where the autoscaler does not say (upstream's flag). */
export const downscaleStabilizationSeconds = 300

/** How long recommendations are looked back at, in seconds. */
export interface Windows {
  readonly up: number
  readonly down: number
}

export interface Stabilized {
  readonly replicas: number
  readonly memory: Memory
}

/**
 * The count that all recommendations of the windows agree with: growing only so far as every one of its window went, and
 * shrinking no further. The new recommendation is remembered.
 */
export function stabilize(memory: Memory, current: number, wanted: number, windows: Windows, nowMs: Time): Stabilized {
  const within =
    (seconds: number) =>
    ({ atMs }: Recommendation) =>
      atMs > nowMs - seconds * 1000
  const counts = (of: readonly Recommendation[]): readonly number[] => of.map(({ replicas }) => replicas)
  const { recommendations } = memory
  const least = Math.min(wanted, ...counts(recommendations.filter(within(windows.up))))
  const most = Math.max(wanted, ...counts(recommendations.filter(within(windows.down))))
  const replicas = Math.min(Math.max(current, least), most)
  return { replicas, memory: withRecommendation(memory, wanted, windows, nowMs) }
}

/** The same without a behavior: shrinking no further than the most of the usual window, and growing at once. */
export function stabilizeDown(memory: Memory, wanted: number, nowMs: Time): Stabilized {
  const windows = { up: 0, down: downscaleStabilizationSeconds }
  const sinceMs = nowMs - windows.down * 1000
  const recent = memory.recommendations.filter(({ atMs }) => atMs >= sinceMs)
  const replicas = Math.max(wanted, ...recent.map((each) => each.replicas))
  return { replicas, memory: withRecommendation(memory, wanted, windows, nowMs) }
}

/** What is older than both windows is forgotten. */
function withRecommendation(memory: Memory, replicas: number, { up, down }: Windows, nowMs: Time): Memory {
  const sinceMs = nowMs - Math.max(up, down) * 1000
  const kept = memory.recommendations.filter(({ atMs }) => atMs >= sinceMs)
  const recommendations = [...kept.slice(1 - remembered.recommendationsMax), { replicas, atMs: nowMs }]
  return { ...memory, recommendations }
}

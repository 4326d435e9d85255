import type { ScalingPolicy } from '@coracle/api'
import type { Time } from '@coracle/environment'

/** A count that the metrics asked for. */
export interface Recommendation {
  readonly replicas: number
  readonly atMs: Time
}

/** A change of the count that was carried out, by so many replicas. */
export interface ScaleEvent {
  readonly change: number
  readonly atMs: Time
}

/** What an autoscaler remembers of the past: it looks back before it changes anything. It is lost with the controller. */
export interface Memory {
  readonly recommendations: readonly Recommendation[]
  readonly scaleUps: readonly ScaleEvent[]
  readonly scaleDowns: readonly ScaleEvent[]
}

/** Windows are an hour at most, which is 240 looks, and one for each change of the spec. What is beyond this is forgotten first. */
export const remembered = { recommendationsMax: 1024, scaleEventsMax: 1024 } as const

/** A memory that begins with the count there is: nothing before it is known, so nothing shrinks in the first window. */
export const firstMemory = (replicas: number, nowMs: Time): Memory => ({
  recommendations: [{ replicas, atMs: nowMs }],
  scaleUps: [],
  scaleDowns: [],
})

/** The memory where the clock has been put back since: nothing in it is of a time that is still to come. */
export function upTo(nowMs: Time, memory: Memory): Memory {
  const all = [...memory.recommendations, ...memory.scaleUps, ...memory.scaleDowns]
  if (all.every(({ atMs }) => atMs <= nowMs)) return memory
  const past = <E extends { readonly atMs: Time }>(of: readonly E[]): readonly E[] =>
    of.map((each) => (each.atMs <= nowMs ? each : { ...each, atMs: nowMs }))
  return {
    recommendations: past(memory.recommendations),
    scaleUps: past(memory.scaleUps),
    scaleDowns: past(memory.scaleDowns),
  }
}

/** How much the count has changed in the last so many seconds. */
export function changeWithin(events: readonly ScaleEvent[], { periodSeconds }: ScalingPolicy, nowMs: Time): number {
  const recent = events.filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
  return recent.reduce((sum, { change }) => sum + change, 0)
}

/** The memory after the count was changed; what no policy looks back at is forgotten. */
export function withScaleEvent(
  memory: Memory,
  change: number,
  policies: { readonly up: readonly ScalingPolicy[]; readonly down: readonly ScalingPolicy[] },
  nowMs: Time,
): Memory {
  const kept = (events: readonly ScaleEvent[], of: readonly ScalingPolicy[]): readonly ScaleEvent[] => {
    const longestMs = Math.max(0, ...of.map(({ periodSeconds }) => periodSeconds)) * 1000
    return events.filter(({ atMs }) => atMs >= nowMs - longestMs).slice(1 - remembered.scaleEventsMax)
  }
  const both = [...policies.up, ...policies.down]
  const event = { change: Math.abs(change), atMs: nowMs }
  const scaleUps = kept(memory.scaleUps, both)
  const scaleDowns = kept(memory.scaleDowns, both)
  return change > 0
    ? { ...memory, scaleUps: [...scaleUps, event], scaleDowns }
    : { ...memory, scaleUps, scaleDowns: [...scaleDowns, event] }
}

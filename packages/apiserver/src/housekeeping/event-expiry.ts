import { events, type KubernetesObject, parseTime } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { KindStorage } from '../registry/kind-storage.ts'

/** How long an event is kept after it was last written (upstream's --event-ttl). */
export const eventTtlMs = 60 * 60_000

/** How often expired events are looked for. */
export const expirySweepIntervalMs = 60_000

/** Most events removed in one sweep; what is left waits for the next. */
export const expiredPerSweepMax = 5000

/** Removes events when their time is over, until the returned function is called. */
export function startEventExpiry(environment: Environment, registries: Registries): () => void {
  const served = registries.byStorageKey(events.storageKey)
  return served === undefined ? () => {} : expireEventsOf(environment, served.storage)
}

function expireEventsOf({ clock, logger }: Environment, storage: KindStorage): () => void {
  const { cache } = storage
  /** When each event was last written, the longest ago first: a sweep sees only what has expired. */
  const writtenMs = new Map<string, number>()
  const present = [...cache.values()].map(({ object }) => ({ object, timeMs: lastWrittenMs(object, clock.now()) }))
  for (const { object, timeMs } of present.sort((a, b) => a.timeMs - b.timeMs)) {
    writtenMs.set(cache.keyOf(object.metadata.namespace ?? '', object.metadata.name ?? ''), timeMs)
  }
  cache.onChange(({ type, key, timeMs }) => {
    writtenMs.delete(key)
    if (type !== 'DELETED') writtenMs.set(key, timeMs)
  })

  const sweep = (): void => {
    for (const key of expiredKeys(writtenMs, clock.now())) {
      // One that cannot be removed now is there for the next sweep.
      const stored = cache.get(key)
      if (stored === undefined) {
        writtenMs.delete(key)
        continue
      }
      storage.expire(stored).catch((error: unknown) => logger.warn('event not removed', { key, error: String(error) }))
    }
    timer = clock.setTimer(expirySweepIntervalMs, sweep, { housekeeping: true })
  }
  let timer = clock.setTimer(expirySweepIntervalMs, sweep, { housekeeping: true })
  return () => timer.cancel()
}

/** Those that have expired. What was written by a clock that was ahead counts as written now: nothing after it is to wait for its time. */
function expiredKeys(writtenMs: Map<string, number>, nowMs: number): readonly string[] {
  const expired: string[] = []
  const ahead: string[] = []
  for (const [key, timeMs] of writtenMs) {
    if (timeMs > nowMs) {
      ahead.push(key)
      continue
    }
    if (timeMs > nowMs - eventTtlMs || expired.length === expiredPerSweepMax) break
    expired.push(key)
  }
  for (const key of ahead) {
    writtenMs.delete(key)
    writtenMs.set(key, nowMs)
  }
  return expired
}

interface EventTimes {
  readonly lastTimestamp?: string
  readonly eventTime?: string
  readonly series?: { readonly lastObservedTime?: string }
}

/** Of an event from before the start: the best its own fields can tell. */
function lastWrittenMs(object: KubernetesObject, nowMs: number): number {
  const { lastTimestamp, eventTime, series } = object as KubernetesObject & EventTimes
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, object.metadata.creationTimestamp]
  const known = times.map((time) => parseTime(time ?? '')).filter((ms) => !Number.isNaN(ms))
  return known.length === 0 ? nowMs : Math.min(nowMs, Math.max(...known))
}

import type { Clock } from '@coracle/environment'
import { BoundedMap } from './bounded-map.ts'

/** Entries kept per cache of the correlator; the least recently used go first. */
export const correlatorEntriesMax = 4096

/** Beyond this many messages that differ only in wording within the interval, they become one event. */
const similarMax = 10
const similarIntervalMs = 600_000

/** What one source may say about one object: so many at once, then one every five minutes. */
const burstMax = 25
const refillIntervalMs = 300_000

/** An occurrence, before it is known whether it is news. */
export interface Occurrence {
  /** Identifies the source and the object. */
  readonly about: string
  /** Identifies the type and the reason. */
  readonly what: string
  readonly message: string
}

/** What to make of an occurrence: under which key it counts, and with which message; or nothing. */
export interface Correlated {
  readonly key: string
  readonly message: string
  /** Whether it stands for several that differ in their messages. */
  readonly isCombined: boolean
  /** Too much has been said about the object: count it, but do not write. */
  readonly isSpam: boolean
}

/**
 * Keeps events few, by the rules of client-go's EventCorrelator: identical ones share a key (and are counted there),
 * the tenth that differs only in its message joins a combined one, and an object that keeps failing is written about
 * 25 times, then once in five minutes.
 */
export function createEventCorrelator(clock: Clock): (occurrence: Occurrence) => Correlated {
  const groups = new BoundedMap<string, { readonly messages: Set<string>; lastMs: number }>(correlatorEntriesMax)
  const isSpam = createSpamFilter(clock)

  function isCombined(group: string, message: string, nowMs: number): boolean {
    let similar = groups.get(group)
    if (similar === undefined || nowMs - similar.lastMs > similarIntervalMs) {
      similar = { messages: new Set(), lastMs: nowMs }
      groups.set(group, similar)
    }
    similar.messages.add(message)
    similar.lastMs = nowMs
    if (similar.messages.size < similarMax) return false
    similar.messages.delete(message)
    return true
  }

  return ({ about, what, message }) => {
    const nowMs = clock.monotonicMs()
    const group = `${about}\n${what}`
    const combined = isCombined(group, message, nowMs)
    return {
      key: combined ? group : `${group}\n${message}`,
      message: combined ? `(combined from similar events): ${message}` : message,
      isCombined: combined,
      isSpam: isSpam(about),
    }
  }
}

/** Whether enough has been said about something: it may be spoken of 25 times, and then once in five minutes. */
export function createSpamFilter(clock: Clock): (about: string) => boolean {
  const budgets = new BoundedMap<string, { tokens: number; atMs: number }>(correlatorEntriesMax)
  return (about) => {
    const nowMs = clock.monotonicMs()
    let budget = budgets.get(about)
    if (budget === undefined) {
      budget = { tokens: burstMax, atMs: nowMs }
      budgets.set(about, budget)
    }
    budget.tokens = Math.min(burstMax, budget.tokens + (nowMs - budget.atMs) / refillIntervalMs)
    budget.atMs = nowMs
    if (budget.tokens < 1) return true
    budget.tokens -= 1
    return false
  }
}

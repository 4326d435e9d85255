import type { Cause } from './cause.ts'

/** A cause in a chain: what followed from what. */
export interface CauseLink {
  readonly cause: Cause
  /** Revisions of this chain that led to it, the latest first. Empty at an end. */
  readonly from: readonly number[]
  /** Why the chain goes no further here; absent where it does. */
  readonly end?: ChainEnd
}

/**
 * - `request`: somebody asked for it, of their own accord.
 * - `time`: a component acted with nothing newly seen: at a time, at its start, or because of what it met outside of the API.
 * - `forgotten`: what led to it is no longer in the record, or never was.
 */
export type ChainEnd = 'request' | 'time' | 'forgotten'

/** Most links of a chain. */
export const chainLinksMax = 1000

/**
 * The revisions that led to one revision, itself included, the latest first: every link names earlier ones only. `causeAt` gives the
 * cause of a revision as far as the record has it. Empty where that of `revision` itself is not there.
 */
export function chainOf(causeAt: (revision: number) => Cause | undefined, revision: number): readonly CauseLink[] {
  const links: CauseLink[] = []
  const wanted = new Set([revision])
  while (wanted.size > 0 && links.length < chainLinksMax) {
    const latest = Math.max(...wanted)
    wanted.delete(latest)
    const cause = causeAt(latest)
    if (cause === undefined) continue
    const from = seenBefore(cause).filter((seen) => causeAt(seen) !== undefined)
    for (const seen of from) wanted.add(seen)
    links.push(from.length > 0 ? { cause, from } : { cause, from, end: endOf(cause) })
  }
  return links
}

/** The revisions a cause names as newly seen that can have led to it: earlier ones, the latest first. */
export function seenBefore({ reconcile, revision }: Cause): readonly number[] {
  const earlier = new Set(reconcile?.seen.filter((seen) => seen < revision))
  return [...earlier].sort((a, b) => b - a)
}

function endOf(cause: Cause): ChainEnd {
  if (cause.reconcile === undefined) return 'request'
  return seenBefore(cause).length === 0 ? 'time' : 'forgotten'
}

import type { Tally } from './bursts.ts'
import type { ChangeOf } from './log-changes.ts'

/** How long after a sum the next one may come: twice as long each time, up to the longest. */
export const sumPeriodMs = { first: 1_000, longest: 10_000 } as const

/** A controller is gone on with in sums for this long after the last change: the last of many are not told one by one. */
const goesOnMs = 2_000

interface Told {
  readonly timeMs: number
  readonly change: ChangeOf
}

/** What has happened to the pods of one controller since it was last told. */
export class BurstSummary {
  readonly group: string
  /** The same news of several pods, by what they say apart from numbers. */
  readonly #news = new Map<string, { readonly pods: Set<string>; last: ChangeOf }>()
  #hasSteps = false
  #timeMs = 0
  #dueMs = Number.NEGATIVE_INFINITY
  #periodMs: number = sumPeriodMs.first
  #changedMs = 0

  constructor(group: string) {
    this.group = group
  }

  add(timeMs: number, change: ChangeOf, nowMs: number): void {
    this.#timeMs = timeMs
    this.#changedMs = nowMs
    if (change.isStep === true) {
      this.#hasSteps = true
      return
    }
    const key = change.what.replaceAll(/\d+/g, '#')
    const same = this.#news.get(key)
    if (same === undefined) this.#news.set(key, { pods: new Set([change.about]), last: change })
    else {
      same.pods.add(change.about)
      same.last = change
    }
  }

  /** Whether there is something to tell, and it is time to. */
  isDue(nowMs: number): boolean {
    return (this.#news.size > 0 || this.#hasSteps) && nowMs >= this.#dueMs
  }

  /** Whether all is told, and nothing has changed for a while. */
  isOver(nowMs: number): boolean {
    return this.#news.size === 0 && !this.#hasSteps && nowMs >= this.#changedMs + Math.max(goesOnMs, this.#periodMs)
  }

  /** The lines of the sum, which is empty afterwards. The next one takes longer. */
  take({ ready, total }: Tally, nowMs: number): readonly Told[] {
    const [timeMs, about] = [this.#timeMs, this.group]
    const news = [...this.#news.values()].map(({ pods, last }): Told => {
      const what = `${pods.size} ${pods.size === 1 ? 'pod' : 'pods'} ${last.what}`
      return { timeMs, change: { about, what, tone: last.tone } }
    })
    const isTallied = this.#hasSteps && total > 0
    const tone = ready === total ? 'good' : 'plain'
    this.#news.clear()
    this.#hasSteps = false
    this.#dueMs = nowMs + this.#periodMs
    this.#periodMs = Math.min(2 * this.#periodMs, sumPeriodMs.longest)
    return isTallied ? [...news, { timeMs, change: { about, what: `${ready} of ${total} ready`, tone } }] : news
  }
}

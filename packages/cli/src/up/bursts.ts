import type { Clock, Timer } from '@coracle/environment'
import { BurstSummary } from './burst-summary.ts'
import { Flood } from './flood.ts'
import type { ChangeOf } from './log-changes.ts'

/** Changes of pods that come within this time are told together. */
export const gatherMs = 300

/** So many pods of one controller are told of one by one; of more the sum is told. */
export const toldOneByOneMax = 4

/** How many pods a controller has, and how many of them are ready. */
export interface Tally {
  readonly ready: number
  readonly total: number
}

/** What is known of a controller's pods. */
export interface PodGroups {
  /** The controller of a pod, as lines name it, by the pod's own name in lines; undefined where it has none. */
  groupOf(about: string): string | undefined
  tally(group: string): Tally
}

interface Gathered {
  readonly timeMs: number
  readonly change: ChangeOf
  /** Undefined as long as the pod is not known. */
  group: string | undefined
}

/**
 * Sums up what happens to many pods of one controller at a time: `50 of 50 ready` instead of four lines for each. Sums come
 * less and less often as long as it goes on, so that eight thousand pods are some tens of lines. What is not about pods is
 * passed on at once, and of floods of the same only the number.
 */
export class Bursts {
  readonly #clock: Clock
  readonly #flood: Flood
  #groups: PodGroups | undefined
  #gathered: Gathered[] = []
  #timer: Timer | undefined
  /** The controllers whose pods are summed up at present. */
  readonly #summaries = new Map<string, BurstSummary>()

  constructor(clock: Clock, print: (timeMs: number, change: ChangeOf) => void) {
    this.#clock = clock
    this.#flood = new Flood(clock, print)
  }

  /** From now on it is known which pods belong together. */
  follow(groups: PodGroups): void {
    this.#groups = groups
  }

  tell(change: ChangeOf): void {
    const timeMs = this.#clock.now()
    if (!change.about.startsWith('pod/')) {
      this.#flood.tell(timeMs, change)
      return
    }
    this.#gathered.push({ timeMs, change, group: this.#groups?.groupOf(change.about) })
    this.#timer ??= this.#clock.setTimer(gatherMs, () => this.#tellDue())
  }

  /** Tells what is gathered. */
  flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sort()
    for (const summary of this.#summaries.values()) this.#print(summary)
    this.#flood.flush()
  }

  #tellDue(): void {
    this.#timer = undefined
    this.#sort()
    const nowMs = this.#clock.monotonicMs()
    for (const [group, summary] of this.#summaries) {
      if (summary.isOver(nowMs)) this.#summaries.delete(group)
      else if (summary.isDue(nowMs)) this.#print(summary)
    }
    if (this.#summaries.size > 0) this.#timer = this.#clock.setTimer(gatherMs, () => this.#tellDue())
  }

  /** What was gathered goes to the sum of its controller, or is told where there are few. */
  #sort(): void {
    const gathered = this.#gathered
    this.#gathered = []
    const nowMs = this.#clock.monotonicMs()
    // A pod that was not known when it changed may be by now.
    for (const each of gathered) each.group ??= this.#groups?.groupOf(each.change.about)
    const summaries = new Map(
      [...Map.groupBy(gathered, ({ group }) => group)].map(([group, changes]) => [
        group,
        this.#summaryOf(group, changes),
      ]),
    )
    for (const { timeMs, change, group } of gathered) {
      const summary = summaries.get(group)
      if (summary === undefined) this.#flood.tell(timeMs, change)
      else summary.add(timeMs, change, nowMs)
    }
  }

  /** The sum that changes of a controller's pods go to: the one there is, or a new one where they are many. */
  #summaryOf(group: string | undefined, changes: readonly Gathered[]): BurstSummary | undefined {
    if (group === undefined) return undefined
    const present = this.#summaries.get(group)
    if (present !== undefined) return present
    if (new Set(changes.map(({ change }) => change.about)).size <= toldOneByOneMax) return undefined
    const summary = new BurstSummary(group)
    this.#summaries.set(group, summary)
    return summary
  }

  #print(summary: BurstSummary): void {
    const tally = this.#groups?.tally(summary.group) ?? { ready: 0, total: 0 }
    for (const { timeMs, change } of summary.take(tally, this.#clock.monotonicMs())) this.#flood.tell(timeMs, change)
  }
}

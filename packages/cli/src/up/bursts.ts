import type { Clock, Timer } from '@coracle/environment'
import type { ChangeOf } from './log-changes.ts'

/** Changes of pods that come within this time are told together. */
export const gatherMs = 300

/** So many pods of one controller are told of one by one; of more the sum is told. */
export const toldOneByOneMax = 4

/** A controller whose pods were summed up is gone on with in sums for this long: the last of many are not told one by one. */
const goesOnMs = 2000

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
}

/**
 * Sums up what happens to many pods of one controller at a time: `50 of 50 ready` instead of four lines for each. What is
 * not about pods is passed on at once.
 */
export class Bursts {
  readonly #clock: Clock
  readonly #print: (timeMs: number, change: ChangeOf) => void
  #groups: PodGroups | undefined
  #gathered: Gathered[] = []
  #timer: Timer | undefined
  /** Until when the pods of a controller are summed up, however few change. */
  readonly #summedUntilMs = new Map<string, number>()

  constructor(clock: Clock, print: (timeMs: number, change: ChangeOf) => void) {
    this.#clock = clock
    this.#print = print
  }

  /** From now on it is known which pods belong together. */
  follow(groups: PodGroups): void {
    this.#groups = groups
  }

  tell(change: ChangeOf): void {
    const timeMs = this.#clock.now()
    if (!change.about.startsWith('pod/')) {
      this.#print(timeMs, change)
      return
    }
    this.#gathered.push({ timeMs, change })
    this.#timer ??= this.#clock.setTimer(gatherMs, () => this.flush())
  }

  /** Tells what is gathered. */
  flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const gathered = this.#gathered
    this.#gathered = []
    const byGroup = Map.groupBy(gathered, ({ change }) => this.#groups?.groupOf(change.about))
    const bursts = [...byGroup].filter(([group, changes]) => group !== undefined && this.#isBurst(group, changes))
    const summed = new Set(bursts.flatMap(([, changes]) => changes))
    for (const each of gathered) if (!summed.has(each)) this.#print(each.timeMs, each.change)
    for (const [group = '', changes] of bursts) this.#sumUp(group, changes)
  }

  #isBurst(group: string, changes: readonly Gathered[]): boolean {
    const nowMs = this.#clock.monotonicMs()
    const pods = new Set(changes.map(({ change }) => change.about)).size
    if (pods > toldOneByOneMax) this.#summedUntilMs.set(group, nowMs + goesOnMs)
    else if (!(nowMs < (this.#summedUntilMs.get(group) ?? 0))) this.#summedUntilMs.delete(group)
    return this.#summedUntilMs.has(group)
  }

  #sumUp(group: string, changes: readonly Gathered[]): void {
    const timeMs = changes.at(-1)?.timeMs ?? this.#clock.now()
    const news = changes.map(({ change }) => change).filter(({ isStep }) => isStep !== true)
    for (const [what, same] of Map.groupBy(news, (change) => change.what)) {
      const pods = new Set(same.map(({ about }) => about)).size
      this.#print(timeMs, {
        about: group,
        what: `${pods} ${pods === 1 ? 'pod' : 'pods'} ${what}`,
        tone: same[0]?.tone ?? 'plain',
      })
    }
    const { ready, total } = this.#groups?.tally(group) ?? { ready: 0, total: 0 }
    if (total === 0 || !changes.some(({ change }) => change.isStep === true)) return
    this.#print(timeMs, { about: group, what: `${ready} of ${total} ready`, tone: ready === total ? 'good' : 'plain' })
  }
}

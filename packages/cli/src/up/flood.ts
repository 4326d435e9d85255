import type { Clock } from '@coracle/environment'
import type { ChangeOf } from './log-changes.ts'

/** Of so many objects of a kind the same is told one by one within a window; of more their number. */
export const sameMax = 20

/** The first window, and the longest: as long as a flood goes on, each is twice as long as the one before. */
export const floodWindowMs = { first: 1_000, longest: 10_000 } as const

/** Different things that are counted at a time; more are told one by one. */
const keysMax = 1_000

type Print = (timeMs: number, change: ChangeOf) => void

interface Same {
  told: number
  /** How many were not told of in this window, and the last of them. */
  more: number
  last: { readonly timeMs: number; readonly change: ChangeOf } | undefined
  windowMs: number
}

/**
 * Passes changes on, but of the same that happens to very many objects of one kind, or that a component says again and again, only
 * the first ones: the others are told of as a number, now and then. What is the same is said before the first colon.
 */
export class Flood {
  readonly #clock: Clock
  readonly #print: Print
  readonly #same = new Map<string, Same>()

  constructor(clock: Clock, print: Print) {
    this.#clock = clock
    this.#print = print
  }

  tell(timeMs: number, change: ChangeOf): void {
    const same = this.#sameAs(change)
    if (same === undefined || same.told < sameMax) {
      if (same !== undefined) same.told += 1
      this.#print(timeMs, change)
      return
    }
    same.more += 1
    same.last = { timeMs, change }
  }

  /** Tells what is counted. */
  flush(): void {
    for (const same of this.#same.values()) this.#tellMore(same)
  }

  /** Undefined where too much is counted already. */
  #sameAs({ about, what }: ChangeOf): Same | undefined {
    const [statement = ''] = what.split(': ', 1)
    const key = `${kindOf(about)} ${statement.replaceAll(numbered, '#')}`
    const known = this.#same.get(key)
    if (known !== undefined || this.#same.size >= keysMax) return known
    const same: Same = { told: 0, more: 0, last: undefined, windowMs: floodWindowMs.first }
    this.#same.set(key, same)
    this.#endWindow(key, same)
    return same
  }

  #endWindow(key: string, same: Same): void {
    this.#clock.setTimer(same.windowMs, () => {
      if (same.more === 0) {
        this.#same.delete(key)
        return
      }
      this.#tellMore(same)
      same.windowMs = Math.min(2 * same.windowMs, floodWindowMs.longest)
      this.#endWindow(key, same)
    })
  }

  #tellMore(same: Same): void {
    const { more, last } = same
    same.more = 0
    same.last = undefined
    if (last === undefined) return
    const { about, what, tone } = last.change
    this.#print(
      last.timeMs,
      more === 1
        ? last.change
        : { about: about.includes('/') ? `${kindOf(about)}/…` : about, what: `${more} more: ${what}`, tone },
    )
  }
}

/** Words that differ from object to object: numbers, addresses, names that end in something random. */
const numbered = /[\w.:-]*\d[\w.:-]*/g

/** `pod` of `pod/web`; a component as it is. */
function kindOf(about: string): string {
  const [kind = ''] = about.split('/', 1)
  return kind
}

import type { PriorityLevelConfiguration } from '@coracle/api'
import { LevelQueues, type QueueSettings, type Waiting } from './level-queues.ts'
import { type SeatShare, seatShares } from './seat-shares.ts'
import { widestOf } from './work-estimate.ts'

/** A request of a level, with a seat or waiting for one. */
export interface SeatRequest extends Waiting {
  readonly level: string
  /** How many seats it takes. */
  readonly seats: number
  /** Called, once, when a request that waited has its seats. */
  readonly onSeat: () => void
  /** Called whenever it is its turn and some seats are free, though not as many as it takes. */
  readonly onShort?: () => void
}

/** How a level is used. */
export interface LevelCounts extends SeatShare {
  readonly name: string
  /** Seats in use. */
  readonly seated: number
  /** Requests that wait. */
  readonly waiting: number
}

interface Level {
  readonly name: string
  share: SeatShare
  /** Without a place where requests without a seat are refused. */
  queues: LevelQueues<SeatRequest>
  settings: string
  /** Most seats of one of its requests; undefined where it sets no limit. */
  widest: number | undefined
  inUse: number
}

const noShare: SeatShare = { nominal: 0, reserved: 0, most: 0 }
/** Of a level that is gone: those who wait still have their turn, one at a time. */
const lastShare: SeatShare = { nominal: 1, reserved: 1, most: 1 }

/**
 * The seats of a server: requests are answered while they have theirs, those of each level in so many. A level has some seats for itself. The
 * others are lent: whoever needs one has it while its owner does not, and an owner comes first when one is given back. A request that takes
 * several waits until they are free together, and nobody with less need takes them meanwhile.
 */
export class Seats {
  readonly #total: number
  readonly #levels = new Map<string, Level>()
  readonly #holders = new Map<SeatRequest, Level>()
  /** Levels in which somebody waits, or has waited until lately. */
  readonly #waiting = new Set<Level>()
  /** Seats that can be lent, and those of them that are in use, by their owners or others. */
  #lendable = 0
  #lent = 0

  constructor(total: number) {
    this.#total = total
  }

  /** Sets how seats are divided. A level that is gone is kept until nobody has a seat of it or waits for one. */
  set(levels: readonly PriorityLevelConfiguration[]): void {
    const shares = seatShares(levels, this.#total)
    for (const level of this.#levels.values()) level.share = lastShare
    for (const {
      metadata: { name = '' },
      spec,
    } of levels) {
      const level = this.#levels.get(name) ?? newLevel(name)
      this.#levels.set(name, level)
      level.share = shares.get(name) ?? noShare
      const { type, queuing } = spec?.limited?.limitResponse ?? { type: 'Reject' }
      const settings = type === 'Queue' ? queuing : undefined
      level.widest = settings && widestOf(level.share.nominal, settings.handSize)
      this.#setQueues(level, settings ?? noQueues)
    }
    this.#lendable = 0
    this.#lent = 0
    for (const level of this.#levels.values()) {
      this.#lendable += level.share.nominal - level.share.reserved
      this.#lent += Math.max(0, level.inUse - level.share.reserved)
      this.#forgetIfUnused(level)
    }
    this.#seatWaiting()
  }

  /** `seated` at once, `waiting` until it is called or `leave`s, or `refused`. */
  request(request: SeatRequest): 'seated' | 'waiting' | 'refused' {
    const level = this.#levels.get(request.level)
    if (level === undefined) return 'refused'
    // Nobody overtakes those who wait.
    const isNext = level.queues.size === 0 && this.#mayTake(level, request)
    if (isNext && !this.#isBorrowedBefore(level, request)) {
      this.#take(level, request)
      return 'seated'
    }
    if (!level.queues.add(request)) return 'refused'
    this.#waiting.add(level)
    if (this.#hasFree(level)) level.queues.peek()?.onShort?.()
    return 'waiting'
  }

  /** The request is answered, or waits no longer. */
  leave(request: SeatRequest): void {
    const level = this.#holders.get(request)
    if (level === undefined) {
      this.#levels.get(request.level)?.queues.remove(request)
      return
    }
    this.#holders.delete(request)
    this.#lent -= borrowed(level, level.inUse) - borrowed(level, level.inUse - request.seats)
    level.inUse -= request.seats
    this.#seatWaiting()
    this.#forgetIfUnused(level)
  }

  /** Each level: its seats, how many are in use and how many requests wait. */
  levels(): readonly LevelCounts[] {
    return [...this.#levels.values()].map(({ name, share, inUse, queues }) => ({
      name,
      ...share,
      seated: inUse,
      waiting: queues.size,
    }))
  }

  /** How many seats a level has, and how many may wait: what its use is measured against, as upstream. */
  limitsOf(name: string): { readonly seats: number; readonly places: number } {
    const { share = noShare, queues } = this.#levels.get(name) ?? {}
    const seats = share.nominal > 0 ? share.nominal : Math.max(1, Math.round(this.#total / 10))
    return { seats, places: Math.max(1, queues?.places ?? 0) }
  }

  /** Most seats that a request of a level is to take; undefined where the level sets no limit. */
  widestOf(name: string): number | undefined {
    return this.#levels.get(name)?.widest
  }

  #mayTake(level: Level, request: SeatRequest): boolean {
    if (!isWithin(level, request)) return false
    return this.#lent + moreBorrowed(level, request) <= this.#lendable || isTooWide(level, request)
  }

  #hasFree({ inUse, share }: Level): boolean {
    return inUse < share.reserved || (inUse < share.most && this.#lent < this.#lendable)
  }

  #take(level: Level, request: SeatRequest): void {
    this.#lent += moreBorrowed(level, request)
    level.inUse += request.seats
    this.#holders.set(request, level)
  }

  /** Whether seats that are lent are wanted by a level with more need, which waits until there are enough. */
  #isBorrowedBefore(level: Level, request: SeatRequest): boolean {
    if (this.#waiting.size === 0 || moreBorrowed(level, request) === 0) return false
    return [...this.#waiting].some((other) => {
      const first = other.queues.peek()
      return first !== undefined && isWithin(other, first) && needOf(other) < needOf(level)
    })
  }

  /** Gives out what is free: first to levels that have less than is theirs, then to those that borrow, of which that with the least goes first. */
  #seatWaiting(): void {
    for (let level = this.#neediest(); level !== undefined; level = this.#neediest()) {
      const request = level.queues.next()
      if (level.queues.size === 0) this.#waiting.delete(level)
      // Those who waited may have left.
      if (request === undefined) continue
      this.#take(level, request)
      request.onSeat()
    }
  }

  /** The level whose turn it is and that has seats for who waits first. What is lent is kept for the neediest until it is enough. */
  #neediest(): Level | undefined {
    let isKept = false
    for (const level of [...this.#waiting].toSorted((a, b) => needOf(a) - needOf(b))) {
      const first = level.queues.peek()
      if (first === undefined || !isWithin(level, first)) continue
      if (this.#mayTake(level, first) && !(isKept && moreBorrowed(level, first) > 0)) return level
      if (this.#hasFree(level)) first.onShort?.()
      isKept = true
    }
    return undefined
  }

  #setQueues(level: Level, given: QueueSettings): void {
    const settings = JSON.stringify(given)
    if (settings === level.settings) return
    const { waiting } = level.queues
    level.settings = settings
    level.queues = new LevelQueues(given)
    for (const request of waiting) level.queues.add(request, true)
  }

  #forgetIfUnused(level: Level): void {
    if (level.share === lastShare && level.inUse === 0 && level.queues.size === 0) this.#levels.delete(level.name)
  }
}

/** Of a level that refuses what has no seat: only those wait who did when it came to be so. */
const noQueues: QueueSettings = { queues: 1, handSize: 1, queueLengthLimit: 0 }

/** Whether a level would have no more seats with a request than it may have at most. */
const isWithin = (level: Level, request: SeatRequest): boolean =>
  level.inUse + request.seats <= level.share.most || isTooWide(level, request)

/** Whether a request takes more seats than its level has: it is answered alone. */
const isTooWide = ({ inUse, share }: Level, { seats }: SeatRequest): boolean =>
  inUse === 0 && seats > Math.max(1, share.nominal)

/** How many of so many seats a level takes of those that can be lent. */
const borrowed = ({ share }: Level, inUse: number): number => Math.max(0, inUse - share.reserved)

const moreBorrowed = (level: Level, { seats }: SeatRequest): number =>
  borrowed(level, level.inUse + seats) - borrowed(level, level.inUse)

const newLevel = (name: string): Level => ({
  name,
  share: noShare,
  queues: new LevelQueues(noQueues),
  settings: '',
  widest: undefined,
  inUse: 0,
})

/** The share of its seats that a level has: what has none, and borrows, comes last. */
const needOf = ({ inUse, share }: Level): number => (share.nominal === 0 ? Number.MAX_VALUE : inUse / share.nominal)

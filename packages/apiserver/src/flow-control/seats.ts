import type { PriorityLevelConfiguration } from '@coracle/api'
import { LevelQueues, type QueueSettings, type Waiting } from './level-queues.ts'
import { type SeatShare, seatShares } from './seat-shares.ts'

/** A request of a level, with a seat or waiting for one. */
export interface SeatRequest extends Waiting {
  readonly level: string
  /** Called, once, when a request that waited has its seat. */
  readonly onSeat: () => void
}

/** How a level is used. */
export interface LevelCounts extends SeatShare {
  readonly name: string
  readonly seated: number
  readonly waiting: number
}

interface Level {
  readonly name: string
  share: SeatShare
  /** Without a place where requests without a seat are refused. */
  queues: LevelQueues<SeatRequest>
  settings: string
  inUse: number
}

const noShare: SeatShare = { nominal: 0, reserved: 0, most: 0 }
/** Of a level that is gone: those who wait still have their turn, one at a time. */
const lastShare: SeatShare = { nominal: 1, reserved: 1, most: 1 }

/**
 * The seats of a server: so many requests are answered at a time, those of each level in so many. A level has some seats for itself. The
 * others are lent: whoever needs one has it while its owner does not, and an owner comes first when one is given back.
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
      this.#setQueues(level, type === 'Queue' && queuing !== undefined ? queuing : noQueues)
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
    if (level.queues.size === 0 && this.#mayTake(level)) {
      this.#take(level, request)
      return 'seated'
    }
    if (!level.queues.add(request)) return 'refused'
    this.#waiting.add(level)
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
    if (level.inUse > level.share.reserved) this.#lent -= 1
    level.inUse -= 1
    this.#seatWaiting()
    this.#forgetIfUnused(level)
  }

  /** Each level: its seats, and how many requests have one or wait for one. */
  levels(): readonly LevelCounts[] {
    return [...this.#levels.values()].map(({ name, share, inUse, queues }) => ({
      name,
      ...share,
      seated: inUse,
      waiting: queues.size,
    }))
  }

  /** How many requests of a level may be answered, and how many may wait: what its use is measured against, as upstream. */
  limitsOf(name: string): { readonly seats: number; readonly places: number } {
    const { share = noShare, queues } = this.#levels.get(name) ?? {}
    const seats = share.nominal > 0 ? share.nominal : Math.max(1, Math.round(this.#total / 10))
    return { seats, places: Math.max(1, queues?.places ?? 0) }
  }

  #mayTake({ inUse, share }: Level): boolean {
    if (inUse < share.reserved) return true
    return inUse < share.most && this.#lent < this.#lendable
  }

  #take(level: Level, request: SeatRequest): void {
    if (level.inUse >= level.share.reserved) this.#lent += 1
    level.inUse += 1
    this.#holders.set(request, level)
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

  #neediest(): Level | undefined {
    let neediest: Level | undefined
    for (const level of this.#waiting) {
      if (!this.#mayTake(level)) continue
      if (neediest === undefined || needOf(level) < needOf(neediest)) neediest = level
    }
    return neediest
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

const newLevel = (name: string): Level => ({
  name,
  share: noShare,
  queues: new LevelQueues(noQueues),
  settings: '',
  inUse: 0,
})

/** The share of its seats that a level has: what has none, and borrows, comes last. */
const needOf = ({ inUse, share }: Level): number => (share.nominal === 0 ? Number.MAX_VALUE : inUse / share.nominal)

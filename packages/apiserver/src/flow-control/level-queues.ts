import { dealHand } from './shuffle-sharding.ts'

/** What waits for a seat. */
export interface Waiting {
  /** What tells the flow it belongs to from others of its level. */
  readonly flow: string
}

interface Queue<W> {
  readonly index: number
  readonly waiting: Set<W>
  /** How far the queue has come, in requests: the queue that has come least far is next. */
  served: number
}

export interface QueueSettings {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

/**
 * The queues of a level. Each flow waits in the shortest of its hand of queues, and queues take turns, so that however much one flow sends,
 * the others get their share (start-time fair queuing, each request of the same weight).
 */
export class LevelQueues<W extends Waiting> {
  readonly #settings: QueueSettings
  /** Those in which somebody waits, by their index: there may be very many that are empty. */
  readonly #busy = new Map<number, Queue<W>>()
  readonly #queueOf = new Map<W, Queue<W>>()
  /** How far the queue had come that was served last: one that was empty begins there, and has saved nothing up. */
  #served = 0
  /** Queues that are empty and have come one request further: who comes back has had its turn. */
  readonly #ahead = new Set<number>()

  constructor(settings: QueueSettings) {
    this.#settings = settings
  }

  /** How many may wait in all queues together. */
  get places(): number {
    return this.#settings.queues * this.#settings.queueLengthLimit
  }

  get size(): number {
    return this.#queueOf.size
  }

  /** Takes a request in; false where the shortest queue of its flow is full. One that has waited elsewhere is taken in regardless. */
  add(request: W, hasWaited = false): boolean {
    const { queues, handSize, queueLengthLimit } = this.#settings
    let shortest: number | undefined
    let length = Number.POSITIVE_INFINITY
    for (const index of dealHand(request.flow, queues, handSize)) {
      const size = this.#busy.get(index)?.waiting.size ?? 0
      if (size >= length) continue
      shortest = index
      length = size
    }
    if (shortest === undefined || (length >= queueLengthLimit && !hasWaited)) return false
    const queue = this.#busy.get(shortest) ?? this.#begin(shortest)
    queue.waiting.add(request)
    this.#queueOf.set(request, queue)
    return true
  }

  /** The request does not wait any more, whoever waited longer. */
  remove(request: W): void {
    const queue = this.#queueOf.get(request)
    if (queue === undefined) return
    this.#queueOf.delete(request)
    queue.waiting.delete(request)
    if (queue.waiting.size > 0) return
    this.#busy.delete(queue.index)
    if (queue.served > this.#served) this.#ahead.add(queue.index)
  }

  /** Whose turn it is; it waits no more. Undefined where nobody waits. */
  next(): W | undefined {
    let chosen: Queue<W> | undefined
    for (const queue of this.#busy.values()) if (chosen === undefined || queue.served < chosen.served) chosen = queue
    if (chosen === undefined) return undefined
    const [first] = chosen.waiting
    if (first === undefined) return undefined
    // No queue is more than one request further than another: none is ahead of those that are served now.
    if (chosen.served > this.#served) this.#ahead.clear()
    this.#served = chosen.served
    chosen.served += 1
    this.remove(first)
    return first
  }

  /** All that wait. */
  get waiting(): Iterable<W> {
    return this.#queueOf.keys()
  }

  #begin(index: number): Queue<W> {
    const served = this.#ahead.delete(index) ? this.#served + 1 : this.#served
    const queue = { index, waiting: new Set<W>(), served }
    this.#busy.set(index, queue)
    return queue
  }
}

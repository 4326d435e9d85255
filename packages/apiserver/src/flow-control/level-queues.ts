import { dealHand } from './shuffle-sharding.ts'

/** What waits for a seat. */
export interface Waiting {
  /** What tells the flow it belongs to from others of its level. */
  readonly flow: string
  /** How much it is of what its level does: 1 for what takes one seat. */
  readonly work: number
}

interface Queue<W> {
  readonly index: number
  readonly waiting: Set<W>
  /** How much work waits in it. */
  work: number
  /** How far the queue has come, in work. The queue is next that has come least far once its first has been served. */
  served: number
}

export interface QueueSettings {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

/**
 * The queues of a level. Each flow waits in that of its hand of queues that has the least work, and queues take turns, so that however much one flow sends,
 * the others get their share of the work (fair queuing, by when what is first would be done).
 */
export class LevelQueues<W extends Waiting> {
  readonly #settings: QueueSettings
  /** Those in which somebody waits, by their index: there may be very many that are empty. */
  readonly #busy = new Map<number, Queue<W>>()
  readonly #queueOf = new Map<W, Queue<W>>()
  /** How far the queue had come that was served last: one that was empty begins there, and has saved nothing up. */
  #served = 0
  /** How far queues have come that are empty and have come further: who comes back has had its turn. */
  readonly #ahead = new Map<number, number>()

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

  /** Takes a request in; false where the queue of its flow with the least work is full. One that has waited elsewhere is taken in regardless. */
  add(request: W, hasWaited = false): boolean {
    const { queues, handSize, queueLengthLimit } = this.#settings
    let chosen: number | undefined
    let least = Number.POSITIVE_INFINITY
    for (const index of dealHand(request.flow, queues, handSize)) {
      const work = this.#busy.get(index)?.work ?? 0
      if (work >= least) continue
      chosen = index
      least = work
    }
    if (chosen === undefined) return false
    const queue = this.#busy.get(chosen) ?? this.#newQueue(chosen)
    if (queue.waiting.size >= queueLengthLimit && !hasWaited) return false
    this.#begin(queue)
    queue.waiting.add(request)
    queue.work += request.work
    this.#queueOf.set(request, queue)
    return true
  }

  /** The request does not wait any more, whoever waited longer. */
  remove(request: W): void {
    const queue = this.#queueOf.get(request)
    if (queue === undefined) return
    this.#queueOf.delete(request)
    queue.waiting.delete(request)
    queue.work -= request.work
    if (queue.waiting.size > 0) return
    this.#busy.delete(queue.index)
    if (queue.served > this.#served) this.#ahead.set(queue.index, queue.served)
  }

  /** Whose turn it is, and who waits on; undefined where nobody does. */
  peek(): W | undefined {
    return this.#next()?.first
  }

  /** Whose turn it is; it waits no more. Undefined where nobody waits. */
  next(): W | undefined {
    const found = this.#next()
    if (found === undefined) return undefined
    const { queue, first } = found
    this.#comeTo(queue.served)
    queue.served += first.work
    // A queue that has had its turn stands behind those that have come as far.
    this.#busy.delete(queue.index)
    this.#busy.set(queue.index, queue)
    this.remove(first)
    return first
  }

  #next(): { readonly queue: Queue<W>; readonly first: W } | undefined {
    let found: { readonly queue: Queue<W>; readonly first: W } | undefined
    for (const queue of this.#busy.values()) {
      const [first] = queue.waiting
      if (first === undefined) continue
      if (found === undefined || queue.served + first.work < found.queue.served + found.first.work)
        found = { queue, first }
    }
    return found
  }

  /** All that wait. */
  get waiting(): Iterable<W> {
    return this.#queueOf.keys()
  }

  #comeTo(served: number): void {
    if (served <= this.#served) return
    this.#served = served
    for (const [index, ahead] of this.#ahead) if (ahead <= served) this.#ahead.delete(index)
  }

  /** One that was empty begins where the others are, or where its last turn has brought it. */
  #newQueue(index: number): Queue<W> {
    return { index, waiting: new Set<W>(), work: 0, served: this.#ahead.get(index) ?? this.#served }
  }

  #begin(queue: Queue<W>): void {
    this.#ahead.delete(queue.index)
    this.#busy.set(queue.index, queue)
  }
}

/** A key that waits in a line. */
export interface WaitingKey {
  readonly key: string
  readonly sinceMs: number
}

interface Place extends WaitingKey {
  isTaken: boolean
}

/** So many places that nobody waits at any more are left where they are, however few keys there are. */
const emptyPlacesMin = 1024

/**
 * Keys in the order in which they came, each once, of which the first is taken or any one leaves. A `Map` keeps that order, too, but looks for its
 * first key behind a gap for each that was taken before: 15 us for each of 100,000 keys.
 */
export class KeyLine {
  readonly #places = new Map<string, Place>()
  /** In order; what is before `#first` is taken. */
  #order: Place[] = []
  #first = 0

  get size(): number {
    return this.#places.size
  }

  has(key: string): boolean {
    return this.#places.has(key)
  }

  /** Since when a key waits; undefined where it does not. */
  sinceMs(key: string): number | undefined {
    return this.#places.get(key)?.sinceMs
  }

  /** The key, which does not wait yet, waits behind all others. */
  add(key: string, sinceMs: number): void {
    const place = { key, sinceMs, isTaken: false }
    this.#places.set(key, place)
    this.#order.push(place)
  }

  /** The key waits no more. */
  delete(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#places.delete(key)
    place.isTaken = true
    this.#tidy()
  }

  /** The key that has waited longest, which waits no more. */
  take(): WaitingKey | undefined {
    while (this.#first < this.#order.length) {
      const place = this.#order[this.#first]
      this.#first += 1
      if (place === undefined || place.isTaken) continue
      this.#places.delete(place.key)
      place.isTaken = true
      this.#tidy()
      return place
    }
    return undefined
  }

  clear(): void {
    this.#places.clear()
    this.#order = []
    this.#first = 0
  }

  /** Places are as many as keys, at most twice: each is looked at again once, when as many others have gone. */
  #tidy(): void {
    const empty = this.#order.length - this.#places.size
    if (empty < emptyPlacesMin || empty < this.#places.size) return
    this.#order = this.#order.filter(({ isTaken }) => !isTaken)
    this.#first = 0
  }
}

import { compareText, type Pod } from '@coracle/api'

/** Something about a pod. */
interface OfPod {
  readonly pod: Pod
}

/**
 * Pods from the oldest to the youngest; those of one second by namespace and name. The order hangs on nothing but the pods.
 *
 * A sorted list: pods come almost in that order, and leave from its beginning.
 */
export class ByAge<T extends OfPod> implements Iterable<T> {
  readonly #items: T[] = []
  /** Where the oldest is. What stands before it has left: to move all others for each that leaves took half of the time of waking one. */
  #start = 0

  get oldest(): T | undefined {
    return this.#items[this.#start]
  }

  /** The oldest, so many at most. */
  first(count: number): readonly T[] {
    return this.#items.slice(this.#start, this.#start + count)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#start).values()
  }

  add(item: T): void {
    this.#items.splice(this.#placeOf(item), 0, item)
  }

  delete(item: T): void {
    const place = this.#placeOf(item)
    if (this.#items[place] !== item) return
    if (place > this.#start) this.#items.splice(place, 1)
    else if (++this.#start * 2 > this.#items.length) {
      this.#items.splice(0, this.#start)
      this.#start = 0
    }
  }

  /** Where the pod is, or would be. */
  #placeOf({ pod }: T): number {
    let low = this.#start
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#items[middle]
      if (other !== undefined && compareByAge(other.pod, pod) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function compareByAge({ metadata: a }: Pod, { metadata: b }: Pod): number {
  return (
    compareText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') ||
    compareText(a.namespace ?? '', b.namespace ?? '') ||
    compareText(a.name ?? '', b.name ?? '') ||
    compareText(a.uid ?? '', b.uid ?? '')
  )
}

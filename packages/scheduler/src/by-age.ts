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

  get oldest(): T | undefined {
    return this.#items[0]
  }

  /** The oldest, so many at most. */
  first(count: number): readonly T[] {
    return this.#items.slice(0, count)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.values()
  }

  add(item: T): void {
    this.#items.splice(this.#placeOf(item), 0, item)
  }

  delete(item: T): void {
    const place = this.#placeOf(item)
    if (this.#items[place] === item) this.#items.splice(place, 1)
  }

  /** How many are older. */
  #placeOf({ pod }: T): number {
    let low = 0
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

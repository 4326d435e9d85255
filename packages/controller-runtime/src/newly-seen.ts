import { type KubernetesObject, seenRevisionsMax } from '@coracle/api'

/** The changes each key has been queued for since its last reconcile, by their revisions: what a reconcile acts on. */
export class NewlySeen {
  readonly #byKey = new Map<string, number[]>()

  /** Notes a change that concerns a key. Of many only the latest are kept. */
  add(key: string, { metadata }: KubernetesObject): void {
    const revision = Number(metadata.resourceVersion)
    // Other servers may have versions that are no numbers.
    if (!Number.isSafeInteger(revision) || revision <= 0) return
    const seen = this.#byKey.get(key)
    if (seen === undefined) {
      this.#byKey.set(key, [revision])
      return
    }
    if (seen.at(-1) === revision) return
    seen.push(revision)
    if (seen.length > seenRevisionsMax) seen.shift()
  }

  /** What has been noted for a key, the latest first; nothing of it is noted any more. */
  take(key: string): readonly number[] {
    const seen = this.#byKey.get(key)
    if (seen === undefined) return []
    this.#byKey.delete(key)
    return seen.length === 1 ? seen : [...new Set(seen)].sort((a, b) => b - a)
  }

  /** Notes again what a reconcile has taken that did not come to its end. */
  giveBack(key: string, taken: readonly number[]): void {
    if (taken.length === 0) return
    const seen = [...taken.toReversed(), ...(this.#byKey.get(key) ?? [])]
    this.#byKey.set(key, seen.slice(-seenRevisionsMax))
  }
}

/** Uids of pods, the most important first, and of those that are alike in that the one that came first. */
export class ByPriority {
  readonly #uids = new Map<number, Set<string>>()

  get isEmpty(): boolean {
    return this.#uids.size === 0
  }

  /** There are few priorities, however many pods. */
  get first(): string | undefined {
    let highest = Number.NEGATIVE_INFINITY
    for (const priority of this.#uids.keys()) highest = Math.max(highest, priority)
    return this.#uids.get(highest)?.values().next().value
  }

  add(priority: number, uid: string): void {
    const uids = this.#uids.get(priority) ?? new Set()
    this.#uids.set(priority, uids.add(uid))
  }

  /** Returns whether it was there. */
  delete(priority: number, uid: string): boolean {
    const uids = this.#uids.get(priority)
    if (uids?.delete(uid) !== true) return false
    if (uids.size === 0) this.#uids.delete(priority)
    return true
  }

  clear(): void {
    this.#uids.clear()
  }
}

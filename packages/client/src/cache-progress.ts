import { compareVersions, isComparableVersion } from './versions.ts'

interface VersionWait {
  readonly version: string
  readonly callback: () => void
}

interface DeletionWait {
  readonly uid: string
  readonly callback: () => void
}

/** How far a cache has come, and who waits for it to come further. */
export class CacheProgress {
  #version: string | undefined
  /** Oldest version first. */
  readonly #versionWaits: VersionWait[] = []
  readonly #deletionWaits = new Map<string, DeletionWait[]>()

  get version(): string | undefined {
    return this.#version
  }

  /** Whether the cache holds everything up to `version`. A version that is no number is taken for reached: it cannot be told. */
  hasReached(version: string): boolean {
    if (!isComparableVersion(version)) return true
    return this.#version !== undefined && compareVersions(this.#version, version) >= 0
  }

  whenReached(version: string, callback: () => void): void {
    // Writes come in the order of their versions nearly always, so the place is at the end or close to it.
    let at = this.#versionWaits.length
    while (at > 0 && compareVersions((this.#versionWaits[at - 1] as VersionWait).version, version) > 0) at--
    this.#versionWaits.splice(at, 0, { version, callback })
  }

  whenDeleted(key: string, uid: string, callback: () => void): void {
    const waits = this.#deletionWaits.get(key)
    if (waits === undefined) this.#deletionWaits.set(key, [{ uid, callback }])
    else waits.push({ uid, callback })
  }

  /** The cache has come to `version`. */
  advance(version: string): void {
    this.#version = version
    let reached = 0
    while (reached < this.#versionWaits.length && this.hasReached((this.#versionWaits[reached] as VersionWait).version))
      reached++
    if (reached === 0) return
    for (const { callback } of this.#versionWaits.splice(0, reached)) callback()
  }

  /**
   * The server was restored from an earlier state, and the cache holds that: what was awaited may never come. All who wait are called back,
   * and find that it is not there.
   */
  restored(version: string): void {
    this.#version = version
    const deletionWaits = [...this.#deletionWaits.values()].flat()
    this.#deletionWaits.clear()
    for (const { callback } of [...this.#versionWaits.splice(0), ...deletionWaits]) callback()
  }

  /** Whether anybody waits for a deletion, and so for `changed`. */
  get awaitsDeletions(): boolean {
    return this.#deletionWaits.size > 0
  }

  /** The cached state of `key` has changed; `isDeleted` tells which identities it now shows as deleted. */
  changed(key: string, isDeleted: (uid: string) => boolean): void {
    const waits = this.#deletionWaits.get(key)
    if (waits === undefined) return
    const left = waits.filter((wait) => !isDeleted(wait.uid))
    if (left.length === 0) this.#deletionWaits.delete(key)
    else this.#deletionWaits.set(key, left)
    for (const wait of waits) if (!left.includes(wait)) wait.callback()
  }
}

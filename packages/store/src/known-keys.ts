import { knownKeysMax } from './limits.ts'
import type { StoreEvent } from './store.ts'

interface Prefix {
  readonly text: string
  /** Where the hashes of keys that begin with it go on. */
  readonly hash: number
}

/**
 * Knows of keys that they are not there, without a look at any table, where their prefix has been read once: most keys that are created
 * are asked for before. It holds a hash of each key that is there, so that a key which is not may seem to be, never the other way
 * round. Past `knownKeysMax` keys it knows nothing any longer.
 */
export class KnownKeys {
  readonly #seed: number
  /** None begins with another; those asked about last come first. */
  #prefixes: Prefix[] = []
  #hashes = new HashBag()
  #isFull = false
  /** The key asked about last, and its hash: whoever creates a key has just asked about it. */
  #lastKey = ''
  #lastHash = 0

  /** `seed` is the store's own: nobody else can tell which keys have the same hash. */
  constructor(seed: number) {
    this.#seed = seed
  }

  /** Whether a key is certainly not there. */
  lacks(key: string): boolean {
    const hash = this.#hashOf(key)
    return hash !== 0 && !this.#hashes.has(hash)
  }

  /** Takes all keys that begin with a prefix, at the moment of the call. */
  take(prefix: string, keys: Iterable<string>): void {
    if (this.#isFull || this.#prefixes.some(({ text }) => prefix.startsWith(text))) return
    const taken = { text: prefix, hash: hashOf(prefix, 0, this.#seed) }
    for (const key of keys) if (this.#prefixOf(key) === undefined) this.#add(fullHashOf(key, taken))
    if (!this.#isFull) this.#prefixes = [...this.#prefixes.filter(({ text }) => !text.startsWith(prefix)), taken]
  }

  /** Follows a change; every one since `take`. */
  apply({ type, key, previousRevision }: StoreEvent): void {
    if (type === 'put' && previousRevision > 0) return
    const hash = this.#hashOf(key)
    if (hash === 0) return
    if (type === 'put') this.#add(hash)
    else this.#hashes.remove(hash)
  }

  #add(hash: number): void {
    this.#hashes.add(hash)
    if (this.#hashes.size <= knownKeysMax) return
    this.#isFull = true
    this.#prefixes = []
    this.#hashes = new HashBag()
  }

  /** 0 where no prefix of the key has been taken. */
  #hashOf(key: string): number {
    const prefix = this.#prefixOf(key)
    if (prefix === undefined) return 0
    if (key !== this.#lastKey) {
      this.#lastKey = key
      this.#lastHash = fullHashOf(key, prefix)
    }
    return this.#lastHash
  }

  #prefixOf(key: string): Prefix | undefined {
    const prefixes = this.#prefixes
    const index = prefixes.findIndex(({ text }) => key.startsWith(text))
    if (index > 0) [prefixes[0], prefixes[index]] = [prefixes[index] as Prefix, prefixes[0] as Prefix]
    return index < 0 ? undefined : prefixes[0]
  }
}

/** The same whichever prefix of a key it goes on from. Never 0, which is an empty slot. */
function fullHashOf(key: string, { text, hash }: Prefix): number {
  const full = hashOf(key, text.length, hash)
  return full ^ (full >>> 15) || 1
}

/** FNV-1a of UTF-16 units. */
function hashOf(text: string, from: number, seed: number): number {
  let hash = seed | 0
  for (let index = from; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}

/** Numbers other than 0, any of them several times: a hash table in which each lies in the first free slot from its own on. */
class HashBag {
  #slots = new Int32Array(1024)
  size = 0

  has(hash: number): boolean {
    return this.#slots[this.#find(hash)] === hash
  }

  add(hash: number): void {
    this.size += 1
    if (this.size * 2 > this.#slots.length) this.#grow()
    this.#slots[this.#find(0, hash)] = hash
  }

  /** Removes one that is there. */
  remove(hash: number): void {
    const slots = this.#slots
    const last = slots.length - 1
    this.size -= 1
    let free = this.#find(hash)
    // What lies further on than its own slot moves up, or it would not be found behind the free one.
    for (let at = (free + 1) & last; slots[at] !== 0; at = (at + 1) & last) {
      const moved = slots[at] as number
      if (((at - moved) & last) < ((at - free) & last)) continue
      slots[free] = moved
      free = at
    }
    slots[free] = 0
  }

  /** The first slot that is empty or holds `wanted`, from that of `hash` on. */
  #find(wanted: number, hash = wanted): number {
    const slots = this.#slots
    const last = slots.length - 1
    let at = hash & last
    while (slots[at] !== 0 && slots[at] !== wanted) at = (at + 1) & last
    return at
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Int32Array(old.length * 2)
    for (const hash of old) if (hash !== 0) this.#slots[this.#find(0, hash)] = hash
  }
}

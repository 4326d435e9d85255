import { fnv1a } from './fnv1a.ts'

/** Chance as a component sees it. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A version 4 UUID. */
  uuid(): string
  /** `length` characters of `alphabet`, each as likely as the others. */
  string(length: number, alphabet: string): string
  /**
   * A source of its own for a component. What others draw does not change it: in a repeatable source it depends on the seed,
   * on the name, and on how often that name was forked before.
   */
  fork(name: string): Random
}

/**
 * The alphabet of generated names: no vowels, so that no word comes out, and none of the digits that look like
 * letters. It is upstream's (apimachinery's util/rand).
 */
export const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** The host's source of randomness. */
export const realRandom: Random = {
  next: () => Math.random(),
  uuid: () => crypto.randomUUID(),
  string: (length, alphabet) => pick(length, alphabet, Math.random),
  fork: () => realRandom,
}

/** A repeatable source: the same seed gives the same sequence. Not for secrets. */
export function seededRandom(seed: number): Random {
  const next = mulberry32(seed)
  const forks = new Map<string, number>()
  return {
    next,
    uuid() {
      const hex = pick(32, '0123456789abcdef', next)
      const variant = '89ab'[Math.floor(next() * 4)]
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
    },
    string: (length, alphabet) => pick(length, alphabet, next),
    fork(name) {
      const nth = forks.get(name) ?? 0
      forks.set(name, nth + 1)
      return seededRandom(fnv1a(`${seed}/${name}/${nth}`))
    },
  }
}

function pick(length: number, alphabet: string, next: () => number): string {
  let text = ''
  for (let index = 0; index < length; index++) text += alphabet[Math.floor(next() * alphabet.length)]
  return text
}

/** Tommy Ettinger's mulberry32: 32 bits of state, ample for tests. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What one piece of work may come to, about as many steps as an expression of that cost takes. */
export const pieceWeightMax = 200_000

/** Thrown where a piece ends, and caught by whoever runs the pieces: nothing between may take it for an error of its own. */
const pieceEnd = new Error('the end of a piece of work, which nobody but Pieces may catch')

let current: Pieces<unknown> | undefined

interface Remembered {
  readonly about: unknown
  readonly result: unknown
}

/**
 * Pure work that may take long, done in pieces with time for others between them. It need not know of that: where a piece is over it is left,
 * and begins anew with the next, for which `dear` remembers what was found out.
 */
export class Pieces<T> {
  readonly #work: () => T
  readonly #remembered = new Map<object | string, Map<string, Remembered>>()
  #left = 0
  /** Whether something was found out in this piece: the last one has no end, where nothing is. */
  #hasGoneOn = true
  #isWithin = false

  constructor(work: () => T) {
    this.#work = work
  }

  /** Does the next piece; undefined where there are more. Throws what the work throws. */
  next(): { readonly result: T } | undefined {
    const outer = current
    this.#left = this.#hasGoneOn ? pieceWeightMax : Number.POSITIVE_INFINITY
    this.#hasGoneOn = false
    current = this as Pieces<unknown>
    try {
      return { result: this.#work() }
    } catch (error) {
      if (error === pieceEnd) return undefined
      throw error
    } finally {
      current = outer
    }
  }

  /** See `dear`. */
  find<R>(what: object | string, where: string, about: unknown, compute: () => R, weightOf: (result: R) => number): R {
    if (this.#isWithin) return compute()
    const all = this.#remembered.get(what)
    const known = all?.get(where)
    if (known !== undefined && known.about === about) return known.result as R
    if (this.#left <= 0) throw pieceEnd
    this.#isWithin = true
    try {
      const result = compute()
      const remembered = { about, result }
      if (all === undefined) this.#remembered.set(what, new Map([[where, remembered]]))
      else all.set(where, remembered)
      this.#left -= weightOf(result)
      // What takes the place of something else might do so for ever.
      this.#hasGoneOn ||= known === undefined
      return result
    } finally {
      this.#isWithin = false
    }
  }
}

/**
 * Computes what may take long, as a part of work that may be done in pieces: `what` is asked, at a place (`where`, made when it is needed),
 * of a value. `weightOf` says how long that took, of its result. Alone it just computes.
 */
export function dear<R>(
  what: object | string,
  where: () => string,
  about: unknown,
  compute: () => R,
  weightOf: (result: R) => number,
): R {
  return current === undefined ? compute() : current.find(what, where(), about, compute, weightOf)
}

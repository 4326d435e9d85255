import { TransientSet } from '@coracle/environment/transient-map'

/** What all forms that are kept may take together. */
export const formBytesMax = 32 * 1024 * 1024

/**
 * Forms of stored objects beside the one they are stored in, such as another version or its protobuf, each made when somebody first asks for
 * it. Those used last are kept, for all kinds together: an object that many read or watch is made once in each form.
 */
export class FormCache {
  readonly #bytesMax: number
  readonly #forms = new WeakMap<object, Map<object, Kept>>()
  /** In the order of their last use. */
  readonly #kept = new TransientSet<Kept>()
  #bytes = 0

  constructor(bytesMax: number = formBytesMax) {
    this.#bytesMax = bytesMax
  }

  /**
   * The form of an object; `make` is called where it is not kept, and `bytesOf` says about how much what it made takes.
   * Whatever stands for the form (`form`) always makes the same type.
   */
  get<T>(stored: object, form: object, make: () => T, bytesOf: (value: T) => number): T {
    const known = this.#forms.get(stored)?.get(form)
    if (known !== undefined) {
      this.#kept.delete(known)
      this.#kept.add(known)
      return known.value as T
    }
    const value = make()
    this.#keep({ stored, form, value, bytes: bytesOf(value) })
    return value
  }

  /** Forgets a form that turned out to be of no use, such as a conversion that failed. */
  forget(stored: object, form: object): void {
    const kept = this.#forms.get(stored)?.get(form)
    if (kept !== undefined) this.#drop(kept)
  }

  #keep(kept: Kept): void {
    if (kept.bytes > this.#bytesMax) return
    const forms = this.#forms.get(kept.stored)
    if (forms === undefined) this.#forms.set(kept.stored, new Map([[kept.form, kept]]))
    else forms.set(kept.form, kept)
    this.#kept.add(kept)
    this.#bytes += kept.bytes
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return
      this.#drop(oldest)
    }
  }

  #drop(kept: Kept): void {
    this.#kept.delete(kept)
    this.#forms.get(kept.stored)?.delete(kept.form)
    this.#bytes -= kept.bytes
  }
}

interface Kept {
  readonly stored: object
  readonly form: object
  readonly value: unknown
  readonly bytes: number
}

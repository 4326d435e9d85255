import type { StoredObject } from '../watch-cache/stored-object.ts'

/** What all forms that are kept may take together, counted by the JSON of the objects they are made of. */
export const formBytesMax = 32 * 1024 * 1024

/**
 * Forms of stored objects beside the one they are stored in, such as another version, each made when somebody first asks for
 * it. Those used last are kept, for all kinds together: an object that many read or watch is converted once.
 */
export class FormCache {
  readonly #bytesMax: number
  readonly #forms = new WeakMap<StoredObject, Map<object, Kept>>()
  /** In the order of their last use. */
  readonly #kept = new Set<Kept>()
  #bytes = 0

  constructor(bytesMax: number = formBytesMax) {
    this.#bytesMax = bytesMax
  }

  /** The form of an object; `make` is called where it is not kept. Whatever stands for the form (`form`) always makes the same type. */
  get<T>(stored: StoredObject, form: object, make: () => T): T {
    const known = this.#forms.get(stored)?.get(form)
    if (known !== undefined) {
      this.#kept.delete(known)
      this.#kept.add(known)
      return known.value as T
    }
    const value = make()
    this.#keep({ stored, form, value, bytes: stored.byteLength })
    return value
  }

  /** Forgets a form that turned out to be of no use, such as a conversion that failed. */
  forget(stored: StoredObject, form: object): void {
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
  readonly stored: StoredObject
  readonly form: object
  readonly value: unknown
  readonly bytes: number
}

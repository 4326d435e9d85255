import type { Logger } from '@coracle/environment'
import type { Selection } from './selection.ts'

/** What is stored under a key is no object of the key's kind. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError'
  /** The key in the store. */
  readonly key: string
  /** The revision that the value was stored at. */
  readonly revision: number

  constructor(key: string, kind: string, revision: number, cause: unknown) {
    super(`what is stored as ${key} cannot be read as a ${kind}`, { cause })
    this.key = key
    this.revision = revision
  }
}

interface UnreadableValue {
  readonly error: UnreadableValueError
  /** The first revision at which the key could not be read. */
  readonly since: number
}

/**
 * The keys of a cache under which something is stored that cannot be read: somebody else has written it. Each is logged when it comes and
 * when it goes, however often it is written meanwhile.
 */
export class UnreadableValues {
  readonly #logger: Logger
  readonly #values = new Map<string, UnreadableValue>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Why what is stored under a key of the cache cannot be read; undefined where it can, or there is nothing. */
  get(key: string): UnreadableValueError | undefined {
    return this.#values.get(key)?.error
  }

  /** Those that may belong to a selection at a revision, in the order of their keys. What selectors would say of them nobody knows. */
  within({ namespace, key }: Pick<Selection, 'namespace' | 'key'>, revision: number): readonly UnreadableValueError[] {
    if (this.#values.size === 0) return []
    const isWithin = (each: string) =>
      (namespace === '' || each.startsWith(`${namespace}/`)) && (key === undefined || each === key)
    return [...this.#values]
      .filter(([each, { since }]) => since <= revision && isWithin(each))
      .map(([, { error }]) => error)
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  add(key: string, error: UnreadableValueError): void {
    const before = this.#values.get(key)
    this.#values.set(key, { error, since: before?.since ?? error.revision })
    if (before !== undefined) return
    this.#logger.error('a stored object cannot be read; watches go on without it, and lists of it fail', {
      key: error.key,
      revision: error.revision,
      error: String(error.cause),
    })
  }

  /** What is under the key now can be read, or is gone. False where that is nothing new. */
  remove(key: string): boolean {
    const before = this.#values.get(key)
    if (before === undefined) return false
    this.#values.delete(key)
    this.#logger.info('a stored object that could not be read was replaced or removed', { key: before.error.key })
    return true
  }

  /** Removes all but the keys that `isThere` knows. */
  retain(isThere: (key: string) => boolean): void {
    for (const key of this.#values.keys()) if (!isThere(key)) this.remove(key)
  }
}

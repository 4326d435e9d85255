import type { KubernetesObject } from '@coracle/api'
import { TransientMap } from '@coracle/environment/transient-map'
import type { Watch } from './client.ts'
import type { ClientCall, Interceptor } from './intercepted-client.ts'

/** No answer came. A write may have taken effect all the same, unless it was `refused`: then it never reached the server. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly refused: boolean
  constructor(message: string, { refused = false }: { readonly refused?: boolean } = {}) {
    super(message)
    this.refused = refused
  }
}

/**
 * The way from clients to a server, which can be cut. While it is, calls are refused. What was under way when it was cut takes
 * effect or not, and its answer is lost; watches end. A branch is cut by itself or with what it branches from.
 */
export class ConnectionLink implements Interceptor {
  readonly #trunk: ConnectionLink | undefined
  readonly #branches = new Set<ConnectionLink>()
  /** By which call it is: numbers cost less as keys than functions, which are given a hash for it. */
  #underWay = new TransientMap<number, (error: ConnectionError) => void>()
  #calls = 0
  readonly #watches = new Set<() => void>()
  /** Why calls are refused; undefined where they are not. */
  #because: string | undefined
  #cuts = 0

  constructor(trunk?: ConnectionLink) {
    this.#trunk = trunk
  }

  get isCut(): boolean {
    return this.#refusal !== undefined
  }

  get #refusal(): string | undefined {
    return this.#because ?? (this.#trunk === undefined ? undefined : this.#trunk.#refusal)
  }

  /** A way for some of its clients, until `end`. */
  branch(): ConnectionLink {
    const branch = new ConnectionLink(this)
    this.#branches.add(branch)
    return branch
  }

  /** Cuts it for good. */
  end(because?: string): void {
    this.cut(because)
    if (this.#trunk !== undefined) this.#trunk.#branches.delete(this)
  }

  /** Cuts the way; `because` is what its users are told. */
  cut(because = 'the connection is cut'): void {
    this.#because = because
    this.#interrupt(because)
  }

  restore(): void {
    this.#because = undefined
  }

  /** Ends the watches there are, without an error, as a proxy does that has had them for long enough. */
  dropWatches(): void {
    for (const close of [...this.#watches]) close()
    for (const branch of this.#branches) branch.dropWatches()
  }

  call<T>(_call: ClientCall, proceed: () => Promise<T>): Promise<T> {
    const refusal = this.#refusal
    if (refusal !== undefined) return Promise.reject(new ConnectionError(refusal, { refused: true }))
    return new Promise((resolve, reject) => {
      const call = this.#calls++
      this.#underWay.set(call, reject)
      proceed().then(
        (value) => {
          this.#underWay.delete(call)
          resolve(value)
        },
        (error: unknown) => {
          this.#underWay.delete(call)
          reject(error)
        },
      )
    })
  }

  watch<T extends KubernetesObject>(call: ClientCall, proceed: () => Promise<Watch<T>>): Promise<Watch<T>> {
    const cuts = this.#cuts
    return this.call(call, async () => {
      const watch = this.#follow(await proceed())
      // Nobody has a watch whose answer is lost.
      if (this.#cuts !== cuts) watch.close()
      return watch
    })
  }

  #interrupt(because: string): void {
    this.#cuts += 1
    // An error is dear to make, for its stack, and mostly nothing is under way.
    if (this.#underWay.size > 0) {
      const error = new ConnectionError(`${because}: the answer is lost`)
      for (const fail of this.#underWay.values()) fail(error)
      this.#underWay = new TransientMap()
    }
    for (const close of [...this.#watches]) close()
    for (const branch of this.#branches) branch.#interrupt(because)
  }

  #follow<T extends KubernetesObject>(watch: Watch<T>): Watch<T> {
    const close = (): void => {
      this.#watches.delete(close)
      watch.close()
    }
    this.#watches.add(close)
    const batches = watch.batches?.bind(watch)
    return {
      close,
      ...(batches === undefined ? {} : { batches: () => closingAtEnd(batches(), close) }),
      [Symbol.asyncIterator]: () => closingAtEnd(watch, close)[Symbol.asyncIterator](),
    }
  }
}

/** Calls `close` when the last has been taken, or nobody wants more. */
function closingAtEnd<T>(source: AsyncIterable<T>, close: () => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]()
      const taken = (result: IteratorResult<T>): IteratorResult<T> => {
        if (result.done === true) close()
        return result
      }
      return {
        next: () => items.next().then(taken),
        async return() {
          close()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

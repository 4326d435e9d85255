/**
 * Networks that fail: each function gives what stands between a client and its server, for tests and simulations. A
 * partition is a `ConnectionLink` that is cut and restored.
 */
import type { KubernetesObject } from '@coracle/api'
import { type Clock, sleep } from '@coracle/environment'
import type { Client, Watch, WatchEvent } from './client.ts'
import { ConnectionError } from './connection-link.ts'
import { type ClientCall, type Interceptor, interceptClient } from './intercepted-client.ts'

/** Whether a fault strikes a call. Asked once per call, and may draw from a random source. */
export type Strikes = (call: ClientCall) => boolean

/** A client behind these faults; a call meets the first of them first. */
export function withFaults(client: Client, faults: readonly Interceptor[]): Client {
  return faults.reduceRight((inner, fault) => interceptClient(() => inner, fault), client)
}

/** Requests that never reach the server: nothing happens, and the caller cannot tell that from a lost answer. */
export function lostRequests(strikes: Strikes): Interceptor {
  return {
    async call(call, proceed) {
      if (strikes(call)) throw new ConnectionError('the request is lost')
      return proceed()
    },
  }
}

/** Answers that are lost after the call took effect. */
export function lostAnswers(strikes: Strikes): Interceptor {
  return {
    async call(call, proceed) {
      if (!strikes(call)) return proceed()
      await proceed()
      throw new ConnectionError('the answer is lost')
    },
    async watch(call, proceed) {
      if (!strikes(call)) return proceed()
      const unheard = await proceed()
      unheard.close()
      throw new ConnectionError('the answer is lost')
    },
  }
}

/** Something that lets things through while it is open, as it is at first. */
export class Gate {
  #isOpen = true
  #waiting: (() => void)[] = []

  get isOpen(): boolean {
    return this.#isOpen
  }

  close(): void {
    this.#isOpen = false
  }

  open(): void {
    this.#isOpen = true
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /** Resolves once it is open. */
  async whenOpen(): Promise<void> {
    while (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/**
 * A way that can be closed in each direction: requests are lost while the way there is closed; while the way back is, answers are
 * lost and the events of watches wait.
 */
export function oneWay({ requests, answers }: { readonly requests: Gate; readonly answers: Gate }): Interceptor {
  const through = async <T>(proceed: () => Promise<T>): Promise<T> => {
    if (!requests.isOpen) throw new ConnectionError('the request is lost')
    const answer = await proceed()
    if (answers.isOpen) return answer
    throw new ConnectionError('the answer is lost')
  }
  return {
    call: (_call, proceed) => through(proceed),
    async watch(_call, proceed) {
      if (!requests.isOpen) throw new ConnectionError('the request is lost')
      const watch = await proceed()
      if (!answers.isOpen) {
        watch.close()
        throw new ConnectionError('the answer is lost')
      }
      return transformed(watch, async function* (events) {
        for await (const event of events) {
          if (!answers.isOpen) await answers.whenOpen()
          yield event
        }
      })
    },
  }
}

/** Calls that take time: each waits so long before it is sent and before its answer arrives. Calls overtake each other. */
export function delays(clock: Clock, delayMs: (call: ClientCall) => number): Interceptor {
  return {
    async call(call, proceed) {
      await sleep(clock, delayMs(call))
      const answer = await proceed()
      await sleep(clock, delayMs(call))
      return answer
    },
  }
}

/** Watches over a slow line: each event takes so long, one after the other. What has not come through waits with the server. */
export function slowWatches(clock: Clock, delayMs: (call: ClientCall) => number): Interceptor {
  return {
    call: (_call, proceed) => proceed(),
    async watch(call, proceed) {
      return transformed(await proceed(), async function* (events) {
        for await (const event of events) {
          const waitMs = delayMs(call)
          if (waitMs > 0) await sleep(clock, waitMs)
          yield event
        }
      })
    },
  }
}

/** Watches that end without an error after a number of events, asked for each watch. */
export function droppedWatches(eventsMax: (call: ClientCall) => number): Interceptor {
  return {
    call: (_call, proceed) => proceed(),
    async watch(call, proceed) {
      const most = eventsMax(call)
      return transformed(await proceed(), async function* (events) {
        let delivered = 0
        for await (const event of events) {
          if (delivered++ >= most) return
          yield event
        }
      })
    },
  }
}

type Events<T extends KubernetesObject> = AsyncIterable<WatchEvent<T>>

/** The watch with its events changed on their way. It delivers nothing once it is closed. */
function transformed<T extends KubernetesObject>(watch: Watch<T>, change: (events: Events<T>) => Events<T>): Watch<T> {
  let isClosed = false
  const close = (): void => {
    isClosed = true
    watch.close()
  }
  return {
    close,
    async *[Symbol.asyncIterator]() {
      try {
        for await (const event of change(watch)) {
          if (isClosed) return
          yield event
        }
      } finally {
        close()
      }
    },
  }
}

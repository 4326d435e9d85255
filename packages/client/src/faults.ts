/**
 * Networks that fail: each function gives what stands between a client and its server, for tests and simulations. A
 * partition is a `ConnectionLink` that is cut and restored.
 */
import type { KubernetesObject } from '@coracle/api'
import { type Clock, sleep } from '@coracle/environment'
import type { Client, Watch, WatchEvent } from './client.ts'
import { ConnectionError } from './connection-link.ts'
import { type ClientCall, type Interceptor, interceptClient } from './intercepted-client.ts'
import { batchesOf } from './watch-batches.ts'

/** Whether a fault strikes a call. Asked once per call, and may draw from a random source. */
export type Strikes = (call: ClientCall) => boolean

/** A client behind these faults; a call meets the first of them first. */
export function withFaults(client: Client, faults: readonly Interceptor[]): Client {
  return interceptClient(() => client, inSeries(faults))
}

function inSeries(interceptors: readonly Interceptor[]): Interceptor {
  return {
    call<T>(call: ClientCall, proceed: () => Promise<T>) {
      return interceptors.reduceRight((next, each) => () => each.call(call, next), proceed)()
    },
    watch<T extends KubernetesObject>(call: ClientCall, proceed: () => Promise<Watch<T>>) {
      const enter = (next: () => Promise<Watch<T>>, each: Interceptor) => () =>
        each.watch?.(call, next) ?? each.call(call, next)
      return interceptors.reduceRight(enter, proceed)()
    },
  }
}

/** Requests that never reach the server: nothing happens, and the caller cannot tell that from a lost answer. */
export function lostRequests(strikes: Strikes): Interceptor {
  return {
    call(call, proceed) {
      return strikes(call) ? Promise.reject(new ConnectionError('the request is lost')) : proceed()
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
      return passing(watch, () => answers.isOpen || answers.whenOpen().then(() => true))
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
      return passing(await proceed(), () => {
        const waitMs = delayMs(call)
        return waitMs <= 0 || sleep(clock, waitMs).then(() => true)
      })
    },
  }
}

/** Watches that end without an error after a number of events, asked for each watch. */
export function droppedWatches(eventsMax: (call: ClientCall) => number): Interceptor {
  return {
    call: (_call, proceed) => proceed(),
    async watch(call, proceed) {
      let left = eventsMax(call)
      return passing(await proceed(), () => left-- > 0)
    },
  }
}

/** Whether an event comes through, at once or after a wait; where it does not, the watch ends. */
type Passage = boolean | Promise<boolean>

/** The watch with each event asking for its passage. It delivers nothing once it is closed. */
function passing<T extends KubernetesObject>(watch: Watch<T>, passage: () => Passage): Watch<T> {
  let isClosed = false
  const close = (): void => {
    isClosed = true
    watch.close()
  }
  async function* batches(): AsyncGenerator<readonly WatchEvent<T>[]> {
    try {
      for await (const batch of batchesOf(watch)) {
        let passed = 0
        for (let index = 0; index < batch.length; index++) {
          let comes = passage()
          if (typeof comes !== 'boolean') {
            // What came before does not wait with it.
            if (index > passed) yield batch.slice(passed, index)
            passed = index
            comes = await comes
          }
          if (isClosed) return
          if (comes) continue
          if (index > passed) yield batch.slice(passed, index)
          return
        }
        yield passed === 0 ? batch : batch.slice(passed)
      }
    } finally {
      close()
    }
  }
  return {
    close,
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) {
        for (const event of batch) {
          if (isClosed) return
          yield event
        }
      }
    },
  }
}

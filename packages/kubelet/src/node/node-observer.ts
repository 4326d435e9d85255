import type { Clock, Timer } from '@coracle/environment'
import { nodeImages } from '../images/node-images.ts'
import type { Image, Runtime, RuntimeStatus } from '../runtimes/runtime.ts'
import type { NodeObservation } from './node-object.ts'

/** A heartbeat waits so long for what the runtime says: one that hangs does not make the node go silent. */
export const runtimeAnswerMaxMs = 2_000
/** What a runtime has said of itself counts for so long: upstream's maxWaitForContainerRuntime. */
export const runtimeAnswerHoldsMs = 30_000

/** Finds out whether the runtime of a node runs containers, and which images it has. A runtime that hangs is asked one thing at a time. */
export class NodeObserver {
  readonly #runtime: Runtime
  readonly #clock: Clock
  readonly #status: Answers<RuntimeStatus>
  readonly #images: Answers<readonly Image[]>

  constructor(runtime: Runtime, clock: Clock) {
    this.#runtime = runtime
    this.#clock = clock
    this.#status = new Answers(clock, async () => (await runtime.status?.()) ?? { problems: [] })
    this.#images = new Answers(clock, async () => (await runtime.images?.list().catch(() => [])) ?? [])
  }

  /** `pressures`: conditions that hold of the node; `devices`: what plugins offer. Never rejects, and takes little longer than `runtimeAnswerMaxMs`. */
  async observe(pressures: readonly string[] = [], devices?: NodeObservation['devices']): Promise<NodeObservation> {
    const [status, images] = await Promise.all([this.#status.latest(), this.#images.latest()])
    return {
      problems: this.#problemsIn(status),
      images: nodeImages(images?.value ?? []),
      handlers: this.#runtime.handlers,
      pressures,
      ...(devices === undefined ? {} : { devices }),
    }
  }

  /** In upstream's words. */
  #problemsIn(status: Answer<RuntimeStatus> | undefined): readonly string[] {
    if (status === undefined) return ['container runtime status check may not have completed yet']
    const isOld = this.#clock.monotonicMs() - status.atMs >= runtimeAnswerHoldsMs
    return isOld ? ['container runtime is down'] : status.value.problems
  }
}

interface Answer<T> {
  readonly value: T
  /** On the monotonic clock. */
  readonly atMs: number
}

/** What is asked again and again, and may not be answered. */
class Answers<T> {
  readonly #clock: Clock
  readonly #ask: () => Promise<T>
  #latest: Answer<T> | undefined
  #asking: Promise<void> | undefined

  constructor(clock: Clock, ask: () => Promise<T>) {
    this.#clock = clock
    this.#ask = ask
  }

  /** The answer to a question of now, or, where that takes too long, the one before. */
  async latest(): Promise<Answer<T> | undefined> {
    this.#asking ??= this.#ask()
      .then((value) => {
        this.#latest = { value, atMs: this.#clock.monotonicMs() }
      })
      .finally(() => {
        this.#asking = undefined
      })
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimer(runtimeAnswerMaxMs, resolve)
    })
    await Promise.race([this.#asking, late])
    timer?.cancel()
    return this.#latest
  }
}

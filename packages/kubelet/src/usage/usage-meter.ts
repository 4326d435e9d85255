import { type Clock, sleep, type Time } from '@coracle/environment'

/** What something has used of the CPU until now, and what memory it uses. */
export interface Counters {
  readonly cpuMs: number
  readonly memoryBytes: number
}

/** What something uses. */
export interface Usage {
  /** On average over the window. */
  readonly cpuCores: number
  readonly memoryBytes: number
  readonly windowMs: number
}

/** The shortest time that an average is taken over. */
export const windowMinMs = 1_000
/** The time that averages are taken over where somebody asks often enough: metrics-server's. */
export const windowTargetMs = 15_000
/** The longest: what was asked about before says nothing about now. */
export const windowMaxMs = 60_000
/** Between samples that are kept. */
const sampleGapMs = 5_000

interface Sample {
  /** On the monotonic clock. */
  readonly atMs: Time
  readonly counters: ReadonlyMap<string, Counters>
}

/**
 * Makes usage of counters that only rise: of two looks at them. It looks when somebody asks and at no other time. Who asks for the
 * first time in a minute waits a second for the second look; then those kept from earlier questions serve.
 */
export class UsageMeter {
  readonly #clock: Clock
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Counters>>
  /** Oldest first, no older than `windowMaxMs`. */
  #samples: readonly Sample[] = []

  /** `read` gives the counters of those of the keys that it knows. */
  constructor(clock: Clock, read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Counters>>) {
    this.#clock = clock
    this.#read = read
  }

  /** The usage of each of these; those that have no counters are left out. */
  async measure(keys: readonly string[]): Promise<ReadonlyMap<string, Usage>> {
    const first = await this.#look(keys)
    const known = [...first.counters.keys()]
    if (known.every((key) => this.#earlier(key, first) !== undefined)) return this.#usage(first)
    await this.#passWindow(first)
    return this.#usage(await this.#look(keys))
  }

  /** Until the shortest window has passed since that look. More than one sleep: a timer of the system may fire a little early. */
  async #passWindow({ atMs }: Sample): Promise<void> {
    const leftMs = (): number => atMs + windowMinMs - this.#clock.monotonicMs()
    for (let delayMs = leftMs(); delayMs > 0; delayMs = leftMs()) await sleep(this.#clock, delayMs)
  }

  async #look(keys: readonly string[]): Promise<Sample> {
    const counters = await this.#read(keys)
    const sample = { atMs: this.#clock.monotonicMs(), counters }
    const kept = this.#samples.filter(({ atMs }) => sample.atMs - atMs <= windowMaxMs)
    const isNews = [...counters.keys()].some((key) => {
      const latest = kept.findLast((each) => each.counters.has(key))
      return latest === undefined || sample.atMs - latest.atMs >= sampleGapMs
    })
    this.#samples = isNews ? [...kept, sample] : kept
    return sample
  }

  /** The youngest look that makes a full window, or else the oldest there is that makes one at all. */
  #earlier(key: string, { atMs }: Sample): Sample | undefined {
    const usable = this.#samples.filter((each) => each.counters.has(key) && atMs - each.atMs >= windowMinMs)
    return usable.findLast((each) => atMs - each.atMs >= windowTargetMs) ?? usable[0]
  }

  #usage(sample: Sample): ReadonlyMap<string, Usage> {
    const usage = new Map<string, Usage>()
    for (const [key, { cpuMs, memoryBytes }] of sample.counters) {
      const earlier = this.#earlier(key, sample)
      const before = earlier?.counters.get(key)
      if (earlier === undefined || before === undefined) continue
      const windowMs = sample.atMs - earlier.atMs
      // Processes that nobody waited for take what they used with them.
      usage.set(key, { cpuCores: Math.max(0, cpuMs - before.cpuMs) / windowMs, memoryBytes, windowMs })
    }
    return usage
  }
}

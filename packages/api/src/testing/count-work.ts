import { Session } from 'node:inspector'

/**
 * Counts what `run` does: how often it reads a member of `input`, and how often it enters a function or the body of a
 * loop. The same on every machine and in every run, so tests can say how work grows without measuring time.
 */
export function countWork<T>(input: T, run: (input: T) => unknown): number {
  const reads = { count: 0 }
  const observed = observeReads(input, reads) as T
  const blocks = new BlockCounter()
  try {
    run(observed)
    return blocks.count + reads.count
  } finally {
    blocks.stop()
  }
}

function observeReads(value: unknown, reads: { count: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  const members = new Map<object, unknown>()
  return new Proxy(value, {
    get(target, key, receiver) {
      reads.count += 1
      const member: unknown = Reflect.get(target, key, receiver)
      if (typeof member !== 'object' || member === null) return member
      // The same member is the same object each time, as without the proxy.
      const known = members.get(member) ?? observeReads(member, reads)
      members.set(member, known)
      return known
    },
  })
}

/** Sums up the counts that coverage keeps of every block of the packages' code. */
class BlockCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  get count(): number {
    let count = 0
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error
      const ours = result.filter(({ url }) => url.includes('/packages/'))
      const blocks = ours.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      for (const block of blocks) count += block.count
    })
    return count
  }

  stop(): void {
    this.#session.disconnect()
  }
}

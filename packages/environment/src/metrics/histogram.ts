import type { Sample } from './text-format.ts'

/** Counts values by the smallest bound they do not exceed. */
export class HistogramSeries {
  readonly #bounds: Float64Array
  /** One more than bounds: the last counts what exceeds them all. */
  #counts: Float64Array | undefined
  #sum = 0

  constructor(bounds: Float64Array) {
    this.#bounds = bounds
  }

  /** Made when it is first needed: a cluster has 150 histograms, most of which count nothing before a test ends. */
  #allCounts(): Float64Array {
    this.#counts ??= new Float64Array(this.#bounds.length + 1)
    return this.#counts
  }

  observe(value: number, times = 1): void {
    const bounds = this.#bounds
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (value <= (bounds[middle] as number)) high = middle
      else low = middle + 1
    }
    const counts = this.#allCounts()
    counts[low] = (counts[low] as number) + times
    this.#sum += value * times
  }

  reset(): void {
    this.#counts = undefined
    this.#sum = 0
  }

  samples(): readonly Sample[] {
    let below = 0
    const buckets = [...this.#allCounts()].map((count, index): Sample => {
      below += count
      const bound = index < this.#bounds.length ? String(this.#bounds[index]) : '+Inf'
      return { suffix: '_bucket', labels: `le="${bound}"`, value: below }
    })
    return [
      ...buckets,
      { suffix: '_sum', labels: '', value: this.#sum },
      { suffix: '_count', labels: '', value: below },
    ]
  }
}

import { assert } from '../assert.ts'
import { HistogramSeries } from './histogram.ts'
import { labelsText, metricText, type Sample } from './text-format.ts'

/** Label values one metric keeps apart, at most; what comes after is not shown (and nobody's memory grows with it). */
export const metricSeriesMax = 10_000

/** So many bounds of buckets, each twice the one before. */
export const doublingBuckets = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, power) => first * 2 ** power)

/** The buckets of a histogram that names none: seconds from 5 ms to 10 s, Prometheus' own. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface MetricOptions<L extends string> {
  /** As Prometheus wants it: `workqueue_depth`; counters end in `_total`, times in `_seconds`. */
  readonly name: string
  /** One sentence for people. */
  readonly help: string
  readonly labels?: readonly L[]
}

export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, ascending. `+Inf` need not be named. */
  readonly buckets?: readonly number[]
}

/** Something that only grows. */
export interface Counter {
  inc(by?: number): void
}

/** Something that goes up and down. */
export interface Gauge {
  set(value: number): void
  inc(by?: number): void
  dec(by?: number): void
}

/** How values are distributed. */
export interface Histogram {
  /** Takes a value in, once or so many times. */
  observe(value: number, times?: number): void
}

/**
 * The series of a metric, one for each combination of label values. Ask for a series once and keep it where it is written
 * often: a write is then an addition, and nothing is looked up.
 */
export interface Metric<L extends string, S> {
  with(labels: Readonly<Record<L, string>>): S
  /** Forgets a series: what it was about is gone. */
  remove(labels: Readonly<Record<L, string>>): void
}

/**
 * Metrics of a process, in the text format of Prometheus. Asking again for a metric of the same name gives the same one; a name
 * that stands for a metric of another type, with other labels or buckets, throws.
 */
export interface MetricsRegistry {
  counter<L extends string = never>(options: MetricOptions<L>): Metric<L, Counter>
  gauge<L extends string = never>(options: MetricOptions<L>): Metric<L, Gauge>
  histogram<L extends string = never>(options: HistogramOptions<L>): Metric<L, Histogram>
  /**
   * Calls `collect` before metrics are read, for gauges that are computed then. One that takes time resolves within a bounded one, and
   * does not reject. Returns what ends that.
   */
  onCollect(collect: () => void | Promise<void>): () => void
  /** Has all that counts, with labels, count from zero again. Gauges stay: they tell what is now. */
  reset(): void
  /** All metrics, by name, in the text format of Prometheus (version 0.0.4). Gauges that it takes time to compute are as they were last. */
  text(): string
  /** The same, once all gauges are computed. */
  collected(): Promise<string>
}

/** The content type of `MetricsRegistry.text`. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** A registry without metrics. */
export function createMetricsRegistry(): MetricsRegistry {
  return new Registry()
}

/** What buckets come to: every controller names the same ones again. */
const bucketShapes = new WeakMap<readonly number[], { readonly bounds: Float64Array; readonly text: string }>()

class Registry implements MetricsRegistry {
  readonly #families = new Map<string, Family<string, Series>>()
  readonly #collectors = new Set<() => void | Promise<void>>()

  counter<L extends string = never>(options: MetricOptions<L>): Metric<L, Counter> {
    return this.#family('counter', options, () => new NumberSeries(), '')
  }

  gauge<L extends string = never>(options: MetricOptions<L>): Metric<L, Gauge> {
    return this.#family('gauge', options, () => new NumberSeries(), '')
  }

  histogram<L extends string = never>(options: HistogramOptions<L>): Metric<L, Histogram> {
    const buckets = options.buckets ?? defaultBuckets
    let shape = bucketShapes.get(buckets)
    if (shape === undefined) {
      const bounds = Float64Array.from(buckets)
      assert(
        bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] as number)),
        `the buckets of ${options.name} must ascend`,
      )
      shape = { bounds, text: bounds.join() }
      bucketShapes.set(buckets, shape)
    }
    const { bounds, text } = shape
    return this.#family('histogram', options, () => new HistogramSeries(bounds), text)
  }

  onCollect(collect: () => void | Promise<void>): () => void {
    this.#collectors.add(collect)
    return () => void this.#collectors.delete(collect)
  }

  reset(): void {
    for (const family of this.#families.values()) family.reset()
  }

  text(): string {
    for (const collect of this.#collectors) void collect()
    return this.#written()
  }

  async collected(): Promise<string> {
    await Promise.all([...this.#collectors].map((collect) => collect()))
    return this.#written()
  }

  #written(): string {
    const names = [...this.#families.keys()].sort()
    return names.map((name) => this.#families.get(name)?.text() ?? '').join('')
  }

  #family<L extends string, S extends Series>(
    type: MetricType,
    { name, help, labels = [] }: MetricOptions<L>,
    create: () => S,
    shape: string,
  ): Family<L, S> {
    const signature = `${type}|${labels.join()}|${shape}`
    const existing = this.#families.get(name)
    if (existing !== undefined) {
      if (existing.signature !== signature) throw new Error(`there is another metric "${name}" already`)
      return existing as unknown as Family<L, S>
    }
    assert(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name), `not a name of a metric: ${JSON.stringify(name)}`)
    const family = new Family(name, type, help, labels, signature, create)
    this.#families.set(name, family as unknown as Family<string, Series>)
    return family
  }
}

type MetricType = 'counter' | 'gauge' | 'histogram'

interface Series {
  reset(): void
  samples(): readonly Sample[]
}

class Family<L extends string, S extends Series> implements Metric<L, S> {
  readonly signature: string
  readonly #name: string
  readonly #type: MetricType
  readonly #help: string
  readonly #labels: readonly L[]
  readonly #create: () => S
  /** By the text of their labels. */
  readonly #series = new Map<string, S>()

  constructor(name: string, type: MetricType, help: string, labels: readonly L[], signature: string, create: () => S) {
    this.#name = name
    this.#type = type
    this.#help = help
    this.#labels = labels
    this.signature = signature
    this.#create = create
    // Without labels there is one series, which counts from zero.
    if (labels.length === 0) this.#series.set('', create())
  }

  with(labels: Readonly<Record<L, string>>): S {
    const key = this.#keyOf(labels)
    const existing = this.#series.get(key)
    if (existing !== undefined) return existing
    const series = this.#create()
    if (this.#series.size < metricSeriesMax) this.#series.set(key, series)
    return series
  }

  remove(labels: Readonly<Record<L, string>>): void {
    this.#series.delete(this.#keyOf(labels))
  }

  /** Whoever keeps a series goes on counting with it. */
  reset(): void {
    if (this.#type === 'gauge' || this.#labels.length === 0) return
    for (const series of this.#series.values()) series.reset()
  }

  text(): string {
    return metricText(
      this.#name,
      this.#type,
      this.#help,
      [...this.#series].map(([labels, series]) => ({ labels, samples: series.samples() })),
    )
  }

  #keyOf(labels: Readonly<Record<L, string>>): string {
    return labelsText(this.#labels.map((label) => [label, labels[label] ?? '']))
  }
}

class NumberSeries implements Counter, Gauge {
  #value = 0

  inc(by = 1): void {
    this.#value += by
  }

  dec(by = 1): void {
    this.#value -= by
  }

  set(value: number): void {
    this.#value = value
  }

  reset(): void {
    this.#value = 0
  }

  samples(): readonly Sample[] {
    return [{ suffix: '', labels: '', value: this.#value }]
  }
}

import {
  type Clock,
  type Counter,
  doublingBuckets,
  type Histogram,
  type Metric,
  type MetricsRegistry,
} from '@coracle/environment'
import type { User } from '../request.ts'
import { type Authorize, actAs, type Impersonation } from './acting-as.ts'

/** From a millisecond to 16 seconds, each twice the one before. */
const secondsBuckets = doublingBuckets(0.001, 15)

const labels = ['mode', 'decision'] as const
type Label = (typeof labels)[number]

/**
 * Counts who acts as somebody else, and what authorization is asked for it, under upstream's names (https://kep.k8s.io/5284). The mode is
 * `legacy` where one may do whatever that somebody may, and empty where no mode lets one be somebody. Upstream keeps an answer for ten
 * seconds and then counts no question.
 */
export class ImpersonationMetrics {
  readonly #clock: Clock
  readonly #attempts: Series
  readonly #questions: Series

  constructor(metrics: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#attempts = new Series(metrics, 'apiserver_impersonation_attempts', 'Attempts to act as somebody else')
    this.#questions = new Series(
      metrics,
      'apiserver_impersonation_authorization_attempts',
      'Questions of authorization about acting as somebody else',
    )
  }

  /** As `actAs`, counted. */
  actAs(authorize: Authorize, impersonation: Impersonation): User {
    let mode = ''
    const counted: Authorize = (user, attributes) => {
      mode = modeOf(attributes.verb)
      this.#count(
        this.#questions,
        () => mode,
        mode,
        () => authorize(user, attributes),
      )
    }
    return this.#count(
      this.#attempts,
      () => mode,
      '',
      () => actAs(counted, impersonation),
    )
  }

  #count<T>(series: Series, allowedMode: () => string, deniedMode: string, decide: () => T): T {
    const startedMs = this.#clock.monotonicMs()
    const seconds = () => (this.#clock.monotonicMs() - startedMs) / 1000
    try {
      const decided = decide()
      series.add({ mode: allowedMode(), decision: 'allowed' }, seconds())
      return decided
    } catch (error) {
      series.add({ mode: deniedMode, decision: 'denied' }, seconds())
      throw error
    }
  }
}

const known = new WeakMap<MetricsRegistry, ImpersonationMetrics>()

/** Those of a registry. Nobody is counted before the first who asks. */
export function impersonationMetricsOf(metrics: MetricsRegistry, clock: Clock): ImpersonationMetrics {
  const before = known.get(metrics)
  if (before !== undefined) return before
  const made = new ImpersonationMetrics(metrics, clock)
  known.set(metrics, made)
  return made
}

/** `impersonate:<mode>` and `impersonate-on:<mode>:<verb>` are constrained. */
const modeOf = (verb: string): string => verb.split(':')[1] ?? 'legacy'

class Series {
  readonly #total: Metric<Label, Counter>
  readonly #seconds: Metric<Label, Histogram>

  constructor(metrics: MetricsRegistry, name: string, help: string) {
    this.#total = metrics.counter({ name: `${name}_total`, help: `${help}, by mode and decision.`, labels })
    this.#seconds = metrics.histogram({
      name: `${name}_duration_seconds`,
      help: `${help}: how long they took, by mode and decision.`,
      labels,
      buckets: secondsBuckets,
    })
  }

  add(series: Readonly<Record<Label, string>>, seconds: number): void {
    this.#total.with(series).inc()
    this.#seconds.with(series).observe(seconds)
  }
}

import { type Counter, doublingBuckets, type Histogram, type Metric, type MetricsRegistry } from '@coracle/environment'

/** How an attempt to find a node for a pod ends. */
export type AttemptResult = 'scheduled' | 'unschedulable' | 'error'

/** Pods that wait for a node, by what they wait for. */
export interface PendingPods {
  /** Their turn. */
  readonly active: number
  /** The end of their back-off. */
  readonly backoff: number
  /** Something that could help. */
  readonly unschedulable: number
}

const secondsBuckets = doublingBuckets(0.001, 15)
const attemptsBuckets = doublingBuckets(1, 5)
const victimsBuckets = doublingBuckets(1, 7)

/** What a scheduler does, under the names and labels that are stable upstream (pkg/scheduler/metrics). */
export class SchedulerMetrics {
  /** Ends what looks at the pods that wait. */
  readonly close: () => void
  readonly #profile: string
  readonly #attempts: Metric<'profile' | 'result', Counter>
  readonly #seconds: Metric<'profile' | 'result', Histogram>
  readonly #podAttempts: Histogram
  readonly #preemptions: Counter
  readonly #victims: Histogram

  /** `profile` is the name of the scheduler. `pending` is asked when metrics are read. */
  constructor(metrics: MetricsRegistry, profile: string, pending: () => PendingPods) {
    this.#profile = profile
    const labels = ['profile', 'result'] as const
    this.#attempts = metrics.counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Attempts to schedule pods, by how they ended.',
      labels,
    })
    this.#seconds = metrics.histogram({
      name: 'scheduler_scheduling_attempt_duration_seconds',
      help: 'Seconds from the beginning of an attempt until the pod was bound, or found to fit nowhere.',
      labels,
      buckets: secondsBuckets,
    })
    this.#podAttempts = metrics
      .histogram({
        name: 'scheduler_pod_scheduling_attempts',
        help: 'Attempts that it took until a pod was scheduled.',
        buckets: attemptsBuckets,
      })
      .with({})
    this.#preemptions = metrics
      .counter({ name: 'scheduler_preemption_attempts_total', help: 'How often pods had to leave for another.' })
      .with({})
    this.#victims = metrics
      .histogram({
        name: 'scheduler_preemption_victims',
        help: 'Pods that had to leave for another at a time.',
        buckets: victimsBuckets,
      })
      .with({})
    const waiting = metrics.gauge({
      name: 'scheduler_pending_pods',
      help: 'Pods that wait for a node, by queue.',
      labels: ['queue'],
    })
    this.close = metrics.onCollect(() => {
      for (const [queue, count] of Object.entries(pending())) waiting.with({ queue }).set(count)
    })
  }

  attempted(result: AttemptResult, ms: number): void {
    const labels = { profile: this.#profile, result }
    this.#attempts.with(labels).inc()
    this.#seconds.with(labels).observe(ms / 1000)
  }

  /** A pod is bound, after so many attempts. */
  scheduled(attempts: number): void {
    this.#podAttempts.observe(attempts)
  }

  preempts(victims: number): void {
    this.#preemptions.inc()
    this.#victims.observe(victims)
  }
}

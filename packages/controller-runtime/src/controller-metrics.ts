import type { Counter, Gauge, Histogram, MetricsRegistry } from '@coracle/environment'

/** How a reconcile has ended, as metrics count it. */
export type Outcome = 'success' | 'requeue_after' | 'error'

/** The metrics of one controller, under the names that upstream's controller-runtime gives them. */
export interface ControllerMetrics {
  readonly activeWorkers: Gauge
  readonly reconcileSeconds: Histogram
  readonly errors: Counter
  readonly terminalErrors: Counter
  readonly outcomes: Readonly<Record<Outcome, Counter>>
}

/** Upper bounds in seconds, as upstream has them. */
const buckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** The series of the controller called `controller`. */
export function createControllerMetrics(
  metrics: MetricsRegistry,
  controller: string,
  maxConcurrentReconciles: number,
): ControllerMetrics {
  const named = (name: string, help: string) =>
    ({ name: `controller_runtime_${name}`, help, labels: ['controller'] }) as const
  const count = (name: string, help: string) => metrics.counter(named(name, help)).with({ controller })
  const gauge = (name: string, help: string) => metrics.gauge(named(name, help)).with({ controller })
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles, by how they ended.',
    labels: ['controller', 'result'],
  })
  gauge('max_concurrent_reconciles', 'Reconciles a controller runs at a time, at most.').set(maxConcurrentReconciles)
  return {
    activeWorkers: gauge('active_workers', 'Reconciles under way.'),
    reconcileSeconds: metrics
      .histogram({ ...named('reconcile_time_seconds', 'How long reconciles took.'), buckets })
      .with({ controller }),
    errors: count('reconcile_errors_total', 'Reconciles that failed.'),
    terminalErrors: count('terminal_reconcile_errors_total', 'Reconciles that failed and are not tried again.'),
    outcomes: {
      success: total.with({ controller, result: 'success' }),
      requeue_after: total.with({ controller, result: 'requeue_after' }),
      error: total.with({ controller, result: 'error' }),
    },
  }
}

import { createMetricsRegistry } from '@coracle/environment'

/** What became of the checks that somebody asked for, at `/metrics/slis`. */
export interface HealthMetrics {
  /** Counts that a check of an endpoint, such as `readyz`, was made. */
  observe(endpoint: string, check: string, holds: boolean): void
  /** Has the checks that were made count from zero. */
  reset(): void
  /** In the text format of Prometheus. */
  text(): string
}

/** Under the names of upstream's service level indicators (KEP-3466). Nothing is checked to be shown here: it tells what was asked for. */
export function createHealthMetrics(): HealthMetrics {
  const metrics = createMetricsRegistry()
  const results = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Whether a check held when it was last made.',
    labels: ['name', 'type'],
  })
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Checks that were made, by their results.',
    labels: ['name', 'type', 'status'],
  })
  metrics
    .gauge({ name: 'process_start_time_seconds', help: 'When this process began, in seconds since the Unix epoch.' })
    .with({})
    .set(performance.timeOrigin / 1000)
  return {
    observe(endpoint, check, holds) {
      const labels = { name: check, type: endpoint }
      results.with(labels).set(holds ? 1 : 0)
      total.with({ ...labels, status: holds ? 'success' : 'error' }).inc()
    },
    reset: () => metrics.reset(),
    text: () => metrics.text(),
  }
}

import type { MetricsRegistry } from '@coracle/environment'

/** How many reconciles have ended, of all controllers that report here. */
export function reconcileCount(metrics: MetricsRegistry): number {
  const lines = metrics.text().matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

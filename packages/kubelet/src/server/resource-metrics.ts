import { metricsContentType } from '@coracle/environment'
import { type Exchange, send } from './exchange.ts'
import { MetricsText } from './metrics-text.ts'
import type { CountedContainer } from './usage-counters.ts'

/**
 * `/metrics/resource`: counters of CPU and memory for scrapers such as metrics-server, in the names of upstream's
 * resource metrics (pkg/kubelet/metrics/collectors/resource_metrics.go).
 */
export async function resourceMetrics({ node, response, counters, environment }: Exchange): Promise<void> {
  const { containers, host } = await counters.read(node)
  const atMs = environment.clock.now()
  const text = new MetricsText()
  const metric = (name: string, type: 'counter' | 'gauge', help: string, samples: Parameters<typeof text.metric>[3]) =>
    text.metric(name, type, `[STABLE] ${help}`, samples)
  metric(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the container in core-seconds',
    containers.map((each) => ({ labels: labelsOf(each), value: each.stats.cpuMs / 1000, atMs })),
  )
  metric(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set of the container in bytes',
    containers.map((each) => ({ labels: labelsOf(each), value: each.stats.memoryBytes, atMs })),
  )
  metric(
    'container_start_time_seconds',
    'gauge',
    'Start time of the container since unix epoch in seconds',
    containers.map((each) => ({ labels: labelsOf(each), value: (each.run.startedAtMs ?? 0) / 1000 })),
  )
  metric('node_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed by the node in core-seconds', [
    { labels: {}, value: host.cpuMs / 1000, atMs },
  ])
  metric('node_memory_working_set_bytes', 'gauge', 'Current working set of the node in bytes', [
    { labels: {}, value: host.memoryBytes, atMs },
  ])
  const byPod = Map.groupBy(containers, ({ pod }) => pod)
  const podSamples = (value: (each: CountedContainer) => number) =>
    [...byPod].map(([pod, own]) => {
      const total = own.reduce((sum, each) => sum + value(each), 0)
      const { name = '', namespace = '' } = pod.metadata
      return { labels: { namespace, pod: name }, value: total, atMs }
    })
  metric(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the pod in core-seconds',
    podSamples(({ stats }) => stats.cpuMs / 1000),
  )
  metric(
    'pod_memory_working_set_bytes',
    'gauge',
    'Current working set of the pod in bytes',
    podSamples(({ stats }) => stats.memoryBytes),
  )
  metric('resource_scrape_error', 'gauge', '1 if there was an error while getting container metrics, 0 otherwise', [
    { labels: {}, value: 0 },
  ])
  send(response, 200, metricsContentType, text.toString())
}

function labelsOf({ run, pod: { metadata } }: CountedContainer): Readonly<Record<string, string>> {
  return { container: run.name, namespace: metadata.namespace ?? '', pod: metadata.name ?? '' }
}

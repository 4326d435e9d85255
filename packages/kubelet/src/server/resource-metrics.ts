import { metricsContentType } from '@coracle/environment'
import { type Exchange, send } from './exchange.ts'
import { countedContainers, countedHost } from './summary.ts'

/**
 * `/metrics/resource`: counters of CPU and memory for scrapers such as metrics-server, in the names of upstream's
 * resource metrics (pkg/kubelet/metrics/collectors/resource_metrics.go).
 */
export async function resourceMetrics({ node, response, environment }: Exchange): Promise<void> {
  const [containers, host] = [await countedContainers(node), countedHost(node)]
  const now = environment.clock.now()
  const text = new MetricsText()
  const labelsOf = ({ name, pod: { metadata } }: (typeof containers)[number]) =>
    `{container="${name}",namespace="${metadata.namespace}",pod="${metadata.name}"}`
  text.metric(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the container in core-seconds',
    containers.map((each) => `${labelsOf(each)} ${each.stats.cpuMs / 1000} ${now}`),
  )
  text.metric(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set of the container in bytes',
    containers.map((each) => `${labelsOf(each)} ${each.stats.memoryBytes} ${now}`),
  )
  text.metric(
    'container_start_time_seconds',
    'gauge',
    'Start time of the container since unix epoch in seconds',
    containers.map((each) => `${labelsOf(each)} ${each.startedAtMs / 1000}`),
  )
  if (host !== undefined) {
    text.metric('node_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed by the node in core-seconds', [
      ` ${host.cpuMs / 1000} ${now}`,
    ])
    text.metric('node_memory_working_set_bytes', 'gauge', 'Current working set of the node in bytes', [
      ` ${host.memoryBytes} ${now}`,
    ])
  }
  const pods = [...new Set(containers.map(({ pod }) => pod))]
  const podSeries = (value: (each: (typeof containers)[number]) => number) =>
    pods.map((pod) => {
      const total = containers.filter((each) => each.pod === pod).reduce((sum, each) => sum + value(each), 0)
      return `{namespace="${pod.metadata.namespace}",pod="${pod.metadata.name}"} ${total} ${now}`
    })
  text.metric(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the pod in core-seconds',
    podSeries(({ stats }) => stats.cpuMs / 1000),
  )
  text.metric(
    'pod_memory_working_set_bytes',
    'gauge',
    'Current working set of the pod in bytes',
    podSeries(({ stats }) => stats.memoryBytes),
  )
  text.metric(
    'resource_scrape_error',
    'gauge',
    '1 if there was an error while getting container metrics, 0 otherwise',
    [' 0'],
  )
  send(response, 200, metricsContentType, text.toString())
}

/** The text format of Prometheus, with the times of samples: these are readings, and no metrics of this process. */
class MetricsText {
  #text = ''

  metric(name: string, type: 'counter' | 'gauge', help: string, series: readonly string[]): void {
    if (series.length === 0) return
    this.#text += `# HELP ${name} [STABLE] ${help}\n# TYPE ${name} ${type}\n`
    for (const each of series) this.#text += `${name}${each}\n`
  }

  toString(): string {
    return this.#text
  }
}

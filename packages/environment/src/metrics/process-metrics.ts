import type { MetricsRegistry } from './metrics.ts'

/** Shows the CPU time, memory and start of this process, under the names that Prometheus' client libraries give them. */
export function collectProcessMetrics(metrics: MetricsRegistry): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with({})
  const memory = gauge('process_resident_memory_bytes', 'Memory of this process, in bytes.')
  const heap = gauge('nodejs_heap_size_used_bytes', 'What objects take of it, in bytes.')
  const started = gauge('process_start_time_seconds', 'When this process began, in seconds since the Unix epoch.')
  const cpu = metrics.counter({ name: 'process_cpu_seconds_total', help: 'CPU time of this process.' }).with({})
  let counted = 0
  started.set(performance.timeOrigin / 1000)
  return metrics.onCollect(() => {
    const { user, system } = process.cpuUsage()
    const seconds = (user + system) / 1e6
    cpu.inc(seconds - counted)
    counted = seconds
    const { rss, heapUsed } = process.memoryUsage()
    memory.set(rss)
    heap.set(heapUsed)
  })
}

import { readdirSync, readFileSync } from 'node:fs'
import type { MetricsRegistry } from './metrics.ts'

/**
 * Shows the CPU time, memory and start of this process, and on Linux its descriptors, under the names that Prometheus' client libraries
 * give them.
 */
export function collectProcessMetrics(metrics: MetricsRegistry): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help }).with({})
  const memory = gauge('process_resident_memory_bytes', 'Memory of this process, in bytes.')
  const heap = gauge('nodejs_heap_size_used_bytes', 'What objects take of it, in bytes.')
  const started = gauge('process_start_time_seconds', 'When this process began, in seconds since the Unix epoch.')
  const cpu = metrics.counter({ name: 'process_cpu_seconds_total', help: 'CPU time of this process.' }).with({})
  let counted = 0
  started.set(performance.timeOrigin / 1000)
  const collectLinux = process.platform === 'linux' ? linuxMetrics(gauge) : () => {}
  return metrics.onCollect(() => {
    const { user, system } = process.cpuUsage()
    const seconds = (user + system) / 1e6
    cpu.inc(seconds - counted)
    counted = seconds
    const { rss, heapUsed } = process.memoryUsage()
    memory.set(rss)
    heap.set(heapUsed)
    collectLinux()
  })
}

type Gauge = ReturnType<ReturnType<MetricsRegistry['gauge']>['with']>

/** What the kernel tells of a process. Of what it does not tell nothing is shown. */
function linuxMetrics(gauge: (name: string, help: string) => Gauge): () => void {
  const open = gauge('process_open_fds', 'Descriptors that are open.')
  const most = gauge('process_max_fds', 'Descriptors that may be open.')
  const virtual = gauge('process_virtual_memory_bytes', 'Address space of this process, in bytes.')
  return () => {
    try {
      // One of them is that of the folder itself.
      open.set(readdirSync('/proc/self/fd').length - 1)
      const [, limit = 'unlimited'] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
      most.set(limit === 'unlimited' ? -1 : Number(limit))
      const [, kilobytes = '0'] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
      virtual.set(Number(kilobytes) * 1024)
    } catch {
      // There may be no /proc, or none that this process may read.
    }
  }
}

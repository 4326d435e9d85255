import { cpus, freemem, totalmem } from 'node:os'
import type { Counters } from './usage-meter.ts'

export type { Counters }

/** Of this host as a whole, which is what a node of real processes is. */
export function hostCounters(): Counters {
  const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
  return { cpuMs: busyMs, memoryBytes: totalmem() - freemem() }
}

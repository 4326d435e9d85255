import { readFileSync } from 'node:fs'

/** Of what `/proc` counts processor time in; the same on every Linux. */
const ticksPerSecond = 100

/** The processes that make up a server, with all their threads. */
export class ServerProcesses {
  readonly #pids: readonly number[]

  constructor(pids: readonly number[]) {
    this.#pids = pids
  }

  /** Processor time spent since they were started, in user and in system mode. */
  cpuSeconds(): number {
    let ticks = 0
    for (const pid of this.#pids) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      // The name in brackets may hold anything; user and system time are the 12th and 13th field after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    }
    return ticks / ticksPerSecond
  }

  /** What they hold in memory. */
  residentBytes(): number {
    let bytes = 0
    for (const pid of this.#pids) {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1')
      bytes += Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024
    }
    return bytes
  }
}

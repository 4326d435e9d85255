import { readFile } from 'node:fs/promises'
import { type Benchmark, median } from './support/benchmark.ts'
import { startServer } from './support/server.ts'

const rounds = 5

export const coldStart: Benchmark = {
  name: 'cold-start',
  what: 'cold start, fresh data directory, to /readyz ok',
  budget: { value: 0.4, unit: 's' },
  async measure() {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      await using server = await startServer()
      times.push(server.startMs)
    }
    return { value: median(times) / 1000, unit: 's' }
  },
}

export const memoryAtRest: Benchmark = {
  name: 'memory',
  what: 'memory at rest, everything running',
  budget: { value: 90, unit: 'MB' },
  async measure() {
    await using server = await startServer()
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    return { value: await residentMegabytes(server.pid), unit: 'MB' }
  },
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1000
}

import { setTimeout } from 'node:timers/promises'
import { type Benchmark, limit } from './support/benchmark.ts'
import { figure } from './support/figure.ts'

export const coldStart: Benchmark = {
  name: 'cold-start',
  rows: [{ what: 'cold start, fresh data directory, to /readyz ok', budget: limit(0.3, 's') }],
  rounds: 5,
  needsOwnServer: true,
  async measure(subject) {
    await using server = await subject.start()
    return [{ figure: figure(server.startMs / 1000, 's'), beside: [figure(server.processes.cpuSeconds(), 'CPU')] }]
  },
}

const restMs = 10_000

export const memoryAtRest: Benchmark = {
  name: 'memory',
  rows: [{ what: 'memory at rest, everything running', budget: limit(90e6, 'B') }],
  rounds: 3,
  needsOwnServer: true,
  async measure(subject) {
    await using server = await subject.start()
    await setTimeout(restMs)
    return [{ figure: figure(server.processes.residentBytes(), 'B') }]
  },
}

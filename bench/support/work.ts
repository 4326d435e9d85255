import { setTimeout } from 'node:timers/promises'
import type { Measurement } from './benchmark.ts'
import { figure } from './figure.ts'
import type { Server } from './server.ts'

/** How often `until` asks: what it asks is part of what the server does meanwhile. */
const pollMs = 25
const untilMaxMs = 900_000

/** Asks until the answer is yes, every 25 ms, which is the resolution of what is measured with it. */
export async function until(probe: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + untilMaxMs
  while (!(await probe())) {
    if (performance.now() > deadline) throw new Error(`not reached within ${untilMaxMs / 60_000} minutes`)
    await setTimeout(pollMs)
  }
}

/** A server goes on for a moment when what was asked of it can be seen: that is part of the work. */
const trailingMs = 500

/** What it costs the server to get something done, for each of `pieces` of it. Beside it: the time it takes in all. */
export async function workOf({ processes }: Server, pieces: number, work: () => Promise<void>): Promise<Measurement> {
  const cpuBefore = processes.cpuSeconds()
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  await setTimeout(trailingMs)
  const cpuSeconds = processes.cpuSeconds() - cpuBefore
  return { figure: figure(cpuSeconds / pieces, 'CPU'), beside: [figure(seconds, 's')] }
}

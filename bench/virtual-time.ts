import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Benchmark, limit } from './support/benchmark.ts'
import { figure } from './support/figure.ts'

/** A CronJob that runs every minute, in a process of its own that has a whole cluster on a virtual clock. No server takes part. */
export const cronDay: Benchmark = {
  name: 'cron-day',
  rows: [{ what: 'a day of a CronJob (1,440 runs) on the virtual clock, from a cold start', budget: limit(2, 'CPU') }],
  rounds: 3,
  needsOwnServer: true,
  async measure({ workTree }) {
    if (workTree === undefined) throw new Error('a server that runs has no virtual clock')
    const script = join(import.meta.dirname, 'support', 'cron-day.ts')
    const started = performance.now()
    const cpuSeconds = Number(execFileSync(process.execPath, [script, workTree], { encoding: 'utf8' }))
    return [{ figure: figure(cpuSeconds, 'CPU'), beside: [figure((performance.now() - started) / 1000, 's')] }]
  },
}

/**
 * `npm run simulate -- [--seeds N] [--seed S] [--processes P] [--no-shrink] [--stop-at-first] [--questions Q]`: plays N scenarios
 * from seed S on (100 from 1), or that of one seed, in P processes (as many as there are cores), and asks why about Q objects at
 * each operation (none). A scenario that breaks a rule is shrunk and printed; exits 1 then.
 */
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Share, share } from './share.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    processes: { type: 'string' },
    'stop-at-first': { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
    questions: { type: 'string' },
    share: { type: 'string' },
  },
})
if (values.share !== undefined) {
  // One of several processes: what it does is told to the one that started it.
  const failed = await share(JSON.parse(values.share) as Share, (seed, text) => process.send?.({ seed, text }))
  process.exit(failed === 0 ? 0 : 1)
}

const first = wholeNumber('seed', values.seed) ?? 1
const count = wholeNumber('seeds', values.seeds) ?? (values.seed === undefined ? 100 : 1)
const processes = Math.max(1, Math.min(count, wholeNumber('processes', values.processes) ?? availableParallelism()))
/** About how many objects each run is asked why, at each operation. */
const questions = wholeNumber('questions', values.questions) ?? 0
const isTerminal = process.stderr.isTTY === true
const started = performance.now()
let done = 0
let failed = 0

const heard = (_seed: number, text: string | undefined): void => {
  done += 1
  if (text !== undefined) {
    failed += 1
    console.log(`\n${text}\n`)
  }
  progress()
}
const shares = Array.from({ length: processes }, (_, index) => ({
  first: first + index,
  step: processes,
  end: first + count,
  shrinks: !values['no-shrink'],
  stopsAtFirst: values['stop-at-first'],
  questions,
}))
await Promise.all(processes === 1 ? shares.map((each) => share(each, heard)) : shares.map(elsewhere))
console.log(`${done} runs, ${failed} failed, ${rate()}`)
process.exit(failed === 0 && done === count ? 0 : 1)

/** Plays a share in a process of its own. */
function elsewhere(mine: Share): Promise<void> {
  return new Promise((resolve) => {
    const child = fork(import.meta.filename, ['--share', JSON.stringify(mine)])
    child.on('message', ({ seed, text }: { readonly seed: number; readonly text?: string }) => heard(seed, text))
    child.on('exit', () => resolve())
  })
}

function progress(): void {
  const text = `${done} of ${count} runs, ${failed} failed, ${rate()}`
  if (isTerminal) process.stderr.write(`\r${text}${done === count ? '\n' : ''}`)
  else if (done % 100 === 0 && done < count) console.error(text)
}

function rate(): string {
  return `${(done / ((performance.now() - started) / 1000)).toFixed(1)} runs/s`
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`error: --${name} takes a whole number, and this is ${JSON.stringify(text)}`)
  process.exit(2)
}

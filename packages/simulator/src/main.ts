/**
 * `npm run simulate`: plays scenarios, each from its seed. One that breaks a rule is shrunk and printed, and can be played again by its
 * seed; exits 1 then.
 */
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { readCommandLine, wholeNumber } from './command-line.ts'
import type { Share } from './share.ts'

const usage = `usage: npm run simulate -- [options]

  --seeds N        how many scenarios are played (100; 1 with --seed)
  --seed S         the seed of the first (1)
  --processes P    in how many processes (as many as there are cores)
  --questions Q    at each operation, why is asked about so many objects (0)
  --stop-at-first  ends with the first scenario that breaks a rule
  --no-shrink      prints such a scenario as it is`

const { mine, first, count, processes, shrinks, stopsAtFirst, questions } = readCommandLine(usage, (args) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      processes: { type: 'string', default: String(availableParallelism()) },
      'stop-at-first': { type: 'boolean', default: false },
      'no-shrink': { type: 'boolean', default: false },
      questions: { type: 'string', default: '0' },
      share: { type: 'string' },
    },
  })
  const count = wholeNumber('seeds', values.seeds ?? (values.seed === undefined ? '100' : '1'), 1)
  return {
    mine: values.share === undefined ? undefined : (JSON.parse(values.share) as Share),
    first: wholeNumber('seed', values.seed ?? '1'),
    count,
    processes: Math.min(count, wholeNumber('processes', values.processes, 1)),
    shrinks: !values['no-shrink'],
    stopsAtFirst: values['stop-at-first'],
    questions: wholeNumber('questions', values.questions),
  }
})
// The whole cluster, which a wrong argument does not wait for.
const { share } = await import('./share.ts')
if (mine !== undefined) {
  // One of several processes: what it does is told to the one that started it.
  const failed = await share(mine, (seed, text) => process.send?.({ seed, text }))
  process.exit(failed === 0 ? 0 : 1)
}

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
  shrinks,
  stopsAtFirst,
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

/**
 * `npm run simulate -- [--seeds N] [--seed S]`: plays N scenarios from seed S on (100 from 1), or that of one seed. A scenario
 * that breaks a rule is shrunk and printed; exits 1 then.
 */
import { parseArgs } from 'node:util'
import { describeOperation } from './operation.ts'
import { type RunResult, run } from './run.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import { shrink } from './shrink.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } })
const first = wholeNumber('seed', values.seed) ?? 1
const count = wholeNumber('seeds', values.seeds) ?? (values.seed === undefined ? 100 : 1)
const isTerminal = process.stderr.isTTY === true

let failed = 0
const started = performance.now()
for (let done = 0; done < count; done++) {
  const scenario = scenarioOf(first + done)
  const result = await attempt(scenario)
  if (result.violations.length > 0) {
    failed += 1
    await tell(scenario, result)
  }
  progress(done + 1)
}
console.log(`${count} runs, ${failed} failed, ${rate(count)}`)
process.exit(failed === 0 ? 0 : 1)

/** An error that nobody expected is a violation too. */
async function attempt(scenario: Scenario): Promise<RunResult> {
  try {
    return await run(scenario)
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { violations: [{ invariant: 'nothing unexpected is thrown', message, atMs: 0 }], virtualMs: 0 }
  }
}

async function tell(scenario: Scenario, { violations }: RunResult): Promise<void> {
  const [violation] = violations
  if (violation === undefined) return
  const breaksTheSame = async (smaller: Scenario) =>
    (await attempt(smaller)).violations.some(({ invariant }) => invariant === violation.invariant)
  const smallest = await shrink(scenario, breaksTheSame)
  const shown = (await attempt(smallest)).violations.filter(({ invariant }) => invariant === violation.invariant)
  console.log(`\nseed ${scenario.seed} (${scenario.nodes} nodes) breaks: ${violation.invariant}`)
  for (const { atMs, message } of shown.slice(0, 5))
    console.log(`${(atMs / 1000).toFixed(1).padStart(7)} s  ✗ ${message}`)
  console.log(`by ${smallest.operations.length} of ${scenario.operations.length} operations:`)
  for (const operation of smallest.operations) console.log(describeOperation(operation))
  console.log(`again: npm run simulate -- --seed ${scenario.seed}\n`)
}

function progress(done: number): void {
  const text = `${done} of ${count} runs, ${failed} failed, ${rate(done)}`
  if (isTerminal) process.stderr.write(`\r${text}${done === count ? '\n' : ''}`)
  else if (done % 100 === 0 && done < count) console.error(text)
}

function rate(done: number): string {
  return `${(done / ((performance.now() - started) / 1000)).toFixed(1)} runs/s`
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`error: --${name} takes a whole number, and this is ${JSON.stringify(text)}`)
  process.exit(2)
}

/** `npm run simulate:plans`: plans random changes on copies of simulated clusters, really makes them, and says which plans came true. Exits 1 where one did not. */
import { parseArgs } from 'node:util'
import { readCommandLine, wholeNumber } from '../command-line.ts'

const usage = `usage: npm run simulate:plans -- [options]

  --seeds N   how many changes are planned (100; 1 with --seed)
  --seed S    the seed of the first (1)`

const { first, count } = readCommandLine(usage, (args) => {
  const { values } = parseArgs({ args: [...args], options: { seeds: { type: 'string' }, seed: { type: 'string' } } })
  return {
    first: wholeNumber('seed', values.seed ?? '1'),
    count: wholeNumber('seeds', values.seeds ?? (values.seed === undefined ? '100' : '1'), 1),
  }
})
// The whole cluster, which a wrong argument does not wait for.
const { comparePlan } = await import('./faithfulness.ts')
const started = performance.now()
let wrong = 0
let eventful = 0
for (let seed = first; seed < first + count; seed++) {
  const { change, podEvents, differences } = await comparePlan(seed)
  if (podEvents > 0) eventful += 1
  if (differences.length === 0) continue
  wrong += 1
  console.log(
    [`seed ${seed}: ${change.slice(0, 160)}`, ...differences.map((each) => `  ${each.slice(0, 400)}`)].join('\n'),
  )
}
const ms = ((performance.now() - started) / count).toFixed(0)
console.log(
  `${count} plans, ${count - wrong} came true, ${eventful} of them with pods that came or went; ${ms} ms each`,
)
process.exit(wrong === 0 ? 0 : 1)

/**
 * `npm run simulate:plans -- [--seeds N] [--seed S]`: plans N random changes (100, from seed 1 or S on) on copies of simulated clusters,
 * really makes them, and says which plans came true. Exits 1 where one did not.
 */
import { parseArgs } from 'node:util'
import { comparePlan } from './faithfulness.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } })
const first = wholeNumber('seed', values.seed) ?? 1
const count = wholeNumber('seeds', values.seeds) ?? (values.seed === undefined ? 100 : 1)
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

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`error: --${name} takes a whole number, and this is ${JSON.stringify(text)}`)
  process.exit(2)
}

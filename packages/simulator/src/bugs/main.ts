/**
 * `npm run simulate:bugs -- [--seeds N] [NAME…]`: plays up to N scenarios (400) with each deliberate bug, until one notices it. Exits 1
 * where nothing notices one.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bug, bugs } from './bugs.ts'

const { values, positionals } = parseArgs({
  options: { seeds: { type: 'string', default: '400' } },
  allowPositionals: true,
})
const chosen = positionals.length === 0 ? bugs : bugs.filter(({ name }) => positionals.includes(name))
let survivors = 0
for (const bug of chosen) {
  const noticed = await noticedBy(bug)
  if (noticed === undefined) survivors += 1
  console.log(
    `${noticed === undefined ? 'SURVIVES' : 'caught  '} ${bug.name}${noticed === undefined ? '' : `: ${noticed}`}`,
  )
}
console.log(`${chosen.length} deliberate bugs, ${survivors} survive`)
process.exit(survivors === 0 && chosen.length > 0 ? 0 : 1)

/** The rule that a scenario broke, and its seed. */
function noticedBy({ name }: Bug): Promise<string | undefined> {
  const here = import.meta.dirname
  const options = ['--seeds', values.seeds, '--processes', '1', '--no-shrink', '--stop-at-first']
  const child = spawn(process.execPath, ['--import', join(here, 'inject.ts'), join(here, '../main.ts'), ...options], {
    env: { ...process.env, CORACLE_DELIBERATE_BUG: name },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve) => {
    child.on('close', () => {
      const [, seed, rule] = /^seed (\d+) .*breaks: (.*)$/m.exec(output) ?? []
      resolve(rule === undefined ? undefined : `${rule} (seed ${seed})`)
    })
  })
}

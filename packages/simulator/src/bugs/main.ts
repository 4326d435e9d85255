/** `npm run simulate:bugs`: plays scenarios with each deliberate bug, until one notices it. Exits 1 where nothing notices one. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readCommandLine, wholeNumber } from '../command-line.ts'
import { type Bug, bugs } from './bugs.ts'

const usage = `usage: npm run simulate:bugs -- [options] [NAME]…

  --seeds N   how many scenarios each bug gets to be noticed in (400)

bugs (all, unless some are named):
${bugs.map(({ name }) => `  ${name}`).join('\n')}`

const { seeds, chosen } = readCommandLine(usage, (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { seeds: { type: 'string', default: '400' } },
    allowPositionals: true,
  })
  const unknown = positionals.filter((wanted) => !bugs.some(({ name }) => name === wanted))
  if (unknown.length > 0) throw new Error(`there is no bug named ${unknown.join(', ')}`)
  return {
    seeds: wholeNumber('seeds', values.seeds, 1),
    chosen: positionals.length === 0 ? bugs : bugs.filter(({ name }) => positionals.includes(name)),
  }
})
let survivors = 0
for (const bug of chosen) {
  const noticed = await noticedBy(bug)
  if (noticed === undefined) survivors += 1
  console.log(
    `${noticed === undefined ? 'SURVIVES' : 'caught  '} ${bug.name}${noticed === undefined ? '' : `: ${noticed}`}`,
  )
}
console.log(`${chosen.length} deliberate bugs, ${survivors} survive`)
process.exit(survivors === 0 ? 0 : 1)

/** The rule that a scenario broke, and its seed. */
function noticedBy({ name }: Bug): Promise<string | undefined> {
  const here = import.meta.dirname
  const options = ['--seeds', String(seeds), '--processes', '1', '--no-shrink', '--stop-at-first']
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

/** `npm run torture`: attacks the bundled program, and prints what it lost, served wrongly or let wait. See README.md. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Random, realRandom, seededRandom } from '@coracle/environment'
import { printTable } from '../bench/support/table.ts'
import { floodAll } from './floods.ts'
import { killCycles } from './kill-cycles.ts'
import { type Part, parseOptions, type TortureOptions, usage } from './options.ts'
import { restKills } from './rest-kills.ts'
import { starveAll } from './starvation.ts'
import { storageFaults } from './storage-faults.ts'
import { showProgress } from './support/progress.ts'
import type { Result } from './support/result.ts'

const root = join(import.meta.dirname, '..')
const file = join(root, 'dist', 'coracle.js')

const options = readOptions()
execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], { stdio: 'inherit' })
process.stderr.write(`seed ${options.seed}\n`)
const results = await torture(options)
printTable([
  ['WHAT', 'FIGURES', ''],
  ...results.map(({ what, figures, problems }) => [what, figures, problems.length === 0 ? 'ok' : 'FAILED']),
])
for (const { what, problems } of results) for (const problem of problems) console.log(`${what}: ${problem}`)
process.exitCode = results.some(({ problems }) => problems.length > 0) ? 1 : 0

function readOptions(): TortureOptions {
  try {
    return parseOptions(process.argv.slice(2), () => Math.floor(realRandom.next() * 1_000_000))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
    process.exit(2)
  }
}

async function torture({ seed, kills, rests, faults, readyMs, parts }: TortureOptions): Promise<readonly Result[]> {
  const progress = showProgress()
  const counting = (what: string, all: number) => (count: number, problems: number) =>
    progress.update(`${what} ${count} of ${all}${problems > 0 ? `, problems ${problems}` : ''}`)
  const naming = (kind: string) => (what: string) => progress.update(`${kind}: ${what}`)
  const attacks: Readonly<Record<Part, (random: Random) => Promise<readonly Result[]>>> = {
    kills: async (random) => [await killCycles({ random, kills, file, onKill: counting('kill', kills) })],
    rests: async (random) => [await restKills({ random, kills: rests, file, onKill: counting('kill at rest', rests) })],
    faults: async (random) => [await storageFaults({ random, faults, file, onFault: counting('fault', faults) })],
    starvation: (random) => starveAll({ random, file, onStarvation: naming('starvation') }),
    floods: () => floodAll({ scale: 1, readyMsMax: readyMs, file, onFlood: naming('flood') }),
  }
  const results: Result[] = []
  // Each part has the same choices whether others run before it or not.
  for (const part of parts) results.push(...(await attacks[part](seededRandom(seed))))
  progress.end()
  return results
}

/**
 * `npm run test:random [-- FILE…]`: runs the files with property tests, or those named, with 20 times as many values as usual, from a seed
 * it draws and prints. `CORACLE_PROPERTY_SEED` and `CORACLE_PROPERTY_RUNS` choose others. What vitest takes, it takes too.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const { CORACLE_PROPERTY_SEED: seed = 'random', CORACLE_PROPERTY_RUNS: runs = '20' } = process.env

/** The test files that draw values, by themselves or through `arbitraryOf`. */
function filesWithProperties(): readonly string[] {
  const patterns = ["from 'fast-check'", 'arbitraryOf'].flatMap((pattern) => ['-e', pattern])
  const found = execFileSync('git', ['grep', '--files-with-matches', ...patterns, '--', '*.test.ts'], { cwd: root })
  return found.toString().trim().split('\n')
}

const wanted = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...(wanted.some((each) => !each.startsWith('-')) ? wanted : [...wanted, ...filesWithProperties()]),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CORACLE_PROPERTY_SEED: seed, CORACLE_PROPERTY_RUNS: runs },
  },
)
process.exitCode = status ?? 1

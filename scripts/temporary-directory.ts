import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { homeName } from './neutral-environment.ts'

/** Where Node keeps what it has compiled, unless told otherwise: a cache for later starts. And where programs keep such things. */
const caches: ReadonlySet<string> = new Set(['node-compile-cache', homeName])

/**
 * Vitest's global set-up: gives a run of the tests a temporary directory of its own, and fails the run if anything is left
 * in it at the end.
 */
export default function setup(): () => void {
  // Some of the paths in it are compared with what other programs make of them.
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'coracle-tests-'))
  // Some programs run as another user.
  chmodSync(directory, 0o755)
  for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = directory
  return () => {
    const left = leftovers(directory)
    rmSync(directory, { recursive: true, force: true })
    if (left.length > 0) throw new Error(`the tests left behind in the temporary directory: ${left.join(', ')}`)
  }
}

/** What is in a temporary directory that nobody meant to leave there. */
export function leftovers(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => !caches.has(name))
    .sort()
}

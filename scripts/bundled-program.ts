import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { stop } from 'esbuild'
import { type PublishedBundle, publishedBundle } from './bundle.ts'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'coracle', 'programs')

/** Bundles of other sources that are kept, for other runs that go on: the oldest go first. */
const keptMax = 3

/**
 * Vitest's global set-up of the tests that run the program: they run its bundle, which starts in a third of the time that the sources take.
 * It is made once for each state of the sources. What a checkout itself runs, `started-by-npm.test.ts` runs.
 */
export default async function setup(): Promise<void> {
  process.env.CORACLE_TEST_PROGRAM = await bundledProgram()
}

/** The file of the bundled program, made unless there is one of these very sources. */
async function bundledProgram(): Promise<string> {
  const directory = join(cache, fingerprintOf(root))
  if (!existsSync(directory)) {
    removeOldest()
    const unfinished = `${directory}.${process.pid}`
    const { files, metafile } = await publishedBundle(unfinished)
    // Its process holds 1 GB, and nobody else bundles anything in this one.
    await stop()
    // There is no package around it to say so.
    writeFileSync(join(unfinished, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(unfinished, contents), JSON.stringify({ files, metafile }))
    putInPlace(unfinished, directory)
  }
  const now = Date.now() / 1000
  utimesSync(directory, now, now)
  return join(directory, 'coracle.js')
}

/** What is in the bundle, for those who publish it. */
const contents = 'contents.json'

/** The bundle that the tests of this run have. */
export function bundleOfRun(): PublishedBundle {
  const directory = dirname(process.env.CORACLE_TEST_PROGRAM ?? '')
  return { directory, ...JSON.parse(readFileSync(join(directory, contents), 'utf8')) }
}

/** Another run may have made the same meanwhile. */
function putInPlace(made: string, directory: string): void {
  try {
    renameSync(made, directory)
  } catch (error) {
    if (!existsSync(directory)) throw error
    rmSync(made, { recursive: true })
  }
}

/** Stands for all that goes into the bundle of a source tree: it changes when any of that does. */
export function fingerprintOf(directory: string): string {
  const hash = createHash('sha256')
  const files = [
    'package-lock.json',
    'scripts/{bundle,bundled-program,look-through-indexes,parts}.ts',
    'packages/*/package.json',
    'packages/*/{bin,src}/**/*.{ts,js}',
  ]
  for (const file of globSync(files, { cwd: directory, exclude: ['**/*.test.ts'] }).sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(directory, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

function removeOldest(): void {
  mkdirSync(cache, { recursive: true })
  const usedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byUse = readdirSync(cache)
    .map((name) => join(cache, name))
    .sort((a, b) => usedAt(b) - usedAt(a))
  for (const path of byUse.slice(keptMax)) rmSync(path, { recursive: true, force: true })
}

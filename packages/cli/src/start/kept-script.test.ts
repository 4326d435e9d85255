import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keptFilesMax, runKeptScript } from './kept-script.ts'

let root: string
let file: string
let directory: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kept-script-'))
  file = join(root, 'server.cjs')
  directory = join(root, 'code')
  mkdirSync(directory, { mode: 0o700 })
  write('first')
})
afterEach(() => rmSync(root, { recursive: true }))

/** A script whose `say()` returns a word. */
function write(word: string): void {
  writeFileSync(
    file,
    `(function (exports, require, module, __filename, __dirname) {
      function say() { return '${word}' }
      module.exports = { say, directory: __dirname, beside: () => require('./beside.cjs') }
    })`,
  )
}

/** Runs it, calls what it exports, keeps its code, and returns what it said. */
function runOnce(from = directory, use = 'say'): string {
  const { exports, keep } = runKeptScript(file, from, use)
  const word = (exports as { say(): string }).say()
  keep()
  return word
}

/** The file of the code kept for a use. */
const keptFor = (use: string): string =>
  join(directory, `${use}-${crc32(readFileSync(file)).toString(16).padStart(8, '0')}.code`)

/** The one file of kept code. */
function kept(): string {
  const [name, ...more] = readdirSync(directory)
  expect(more).toEqual([])
  return join(directory, name ?? 'nothing')
}

it('runs a script as CommonJS is run', () => {
  writeFileSync(join(root, 'beside.cjs'), 'module.exports = 7')
  const { exports, keep } = runKeptScript(file, undefined, 'say')
  keep()
  const { directory, beside } = exports as { directory: string; beside(): unknown }
  expect(directory).toBe(root)
  expect(beside()).toBe(7)
})

it('keeps its code, for its user alone, and takes it the next time', () => {
  expect(runOnce()).toBe('first')
  const { ino, mode } = statSync(kept())
  expect(mode & 0o777).toBe(0o600)
  expect(runOnce()).toBe('first')
  expect(statSync(kept()).ino).toBe(ino)
})

it('keeps the code of functions that were called, too', () => {
  runKeptScript(file, directory, 'say').keep()
  const { size } = statSync(kept())
  rmSync(kept())
  runOnce()
  expect(statSync(kept()).size).toBeGreaterThan(size)
})

it('keeps the code of another version of the script beside it', () => {
  runOnce()
  write('later')
  expect(runOnce()).toBe('later')
  expect(readdirSync(directory)).toHaveLength(2)
})

it('keeps what each use needs by itself, and the latest of them', () => {
  for (let number = 1; number <= keptFilesMax + 2; number++) {
    runOnce(directory, `use-${number}`)
    utimesSync(keptFor(`use-${number}`), number, number)
  }
  const uses = readdirSync(directory).map((name) => name.replace(/-[^-]*$/, ''))
  expect(uses).toHaveLength(keptFilesMax)
  expect(uses).not.toContain('use-1')
  expect(uses).not.toContain('use-2')
})

it('keeps what is used again and again, however long ago it was made', () => {
  for (let number = 1; number <= keptFilesMax; number++) {
    runOnce(directory, `use-${number}`)
    utimesSync(keptFor(`use-${number}`), number, number)
  }
  runOnce(directory, 'use-1')
  runOnce(directory, 'one-more')
  const uses = readdirSync(directory).map((name) => name.replace(/-[^-]*$/, ''))
  expect(uses).toContain('use-1')
  expect(uses).not.toContain('use-2')
})

it('leaves files alone that are not its own', () => {
  writeFileSync(join(directory, 'notes'), '')
  for (let number = 0; number <= keptFilesMax; number++) runOnce(directory, `use-${number}`)
  expect(readdirSync(directory)).toContain('notes')
})

it.each([
  ['damaged', (bytes: Buffer) => bytes.fill(1, 40, 44)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 3)],
  ['nothing but a checksum', (bytes: Buffer) => bytes.subarray(0, 8)],
  ['empty', () => Buffer.alloc(0)],
])('makes anew what was kept and is %s', (_, harm) => {
  runOnce()
  const whole = readFileSync(kept())
  writeFileSync(kept(), harm(Buffer.from(whole)))
  const { ino } = statSync(kept())
  expect(runOnce()).toBe('first')
  expect(statSync(kept()).ino).not.toBe(ino)
})

it('makes anew what was kept and this V8 does not take', () => {
  write('strange')
  const strange = Buffer.from('        code of another V8')
  strange.writeUInt32LE(crc32(strange.subarray(8)))
  writeFileSync(keptFor('say'), strange)
  expect(runOnce()).toBe('strange')
  expect(kept()).toBe(keptFor('say'))
  expect(readFileSync(kept()).equals(strange)).toBe(false)
})

it('neither takes nor keeps code where others could have put it', () => {
  runOnce()
  const { ino } = statSync(kept())
  writeFileSync(kept(), 'no code')
  chmodSync(directory, 0o770)
  expect(runOnce()).toBe('first')
  expect(readFileSync(kept(), 'utf8')).toBe('no code')
  expect(statSync(kept()).ino).toBe(ino)
})

it.each([
  ['a directory that is not there', '/proc/nowhere'],
  ['a directory that takes no files', '/proc/self'],
])('runs without keeping anything where there is %s', (_, from) => {
  expect(runOnce(from)).toBe('first')
})

const isGlibc = process.platform === 'linux' && 'glibcVersionRuntime' in headerOfReport()

function headerOfReport(): object {
  const report = process.report.getReport() as { readonly header?: object }
  return report.header ?? {}
}

/** Runs the script and tells how many MB it takes to keep 10 MB, in pieces between others of 100 MB in all that were freed. */
const program = (directory: string) => `
  import { runKeptScript } from ${JSON.stringify(join(import.meta.dirname, 'kept-script.ts'))}
  runKeptScript(${JSON.stringify(file)}, ${JSON.stringify(directory)}, 'say').keep()
  // The bytes of what was collected are freed a little later, by a thread of V8's.
  const collect = async (heldMax) => {
    do {
      gc()
      await new Promise((resolve) => setImmediate(resolve))
    } while (process.memoryUsage().arrayBuffers > heldMax)
  }
  await collect(Infinity)
  const before = process.memoryUsage.rss()
  const kept = []
  let freed = Array.from({ length: 20 }, () => {
    const piece = Buffer.allocUnsafeSlow(5e6).fill(1)
    kept.push(Buffer.allocUnsafeSlow(500_000).fill(1))
    return piece
  })
  freed = undefined
  await collect(20e6)
  console.log((process.memoryUsage.rss() - before) / 1e6)
`

it.runIf(isGlibc)(
  'has the C library give large pieces back when they are freed, as it does until larger ones were',
  () => {
    const functions = Array.from({ length: 30_000 }, (_, index) => `() => ${index}`)
    writeFileSync(
      file,
      `(function () { for (const each of [${functions}]) each() /* ${'long '.repeat(1_500_000)} */ })`,
    )
    const args = ['--expose-gc', '--no-warnings', '--input-type=module', '-e', program(directory)]
    const env = { ...process.env, MALLOC_TRIM_THRESHOLD_: undefined, MALLOC_MMAP_THRESHOLD_: undefined }
    const run = () => Number(execFileSync(process.execPath, args, { encoding: 'utf8', env }))
    run()
    expect(statSync(kept()).size).toBeGreaterThan(5e6)
    expect(run()).toBeLessThan(40)
  },
)

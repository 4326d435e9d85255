import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { wallTimeMs } from '@coracle/environment/wall-time'

/** A script that has been run, as CommonJS is. */
export interface RunScript {
  readonly exports: unknown
  /**
   * Keeps the code of what the script has run until now, for the next time it is loaded; nothing where that is there already. To be called
   * with V8's flags as they were when the script was loaded: it takes code only under those it was made with.
   */
  keep(): void
}

/** What begins a file of kept code: the checksum of the rest, and zeros. V8 copies code that does not begin at a multiple of eight bytes. */
const headBytes = 8

/** So many files of kept code stay, of about 2 MB each: those that were taken least lately make room for others. */
export const keptFilesMax = 24

const keptFilePattern = /^[\w-]+-[\da-f]{8}\.code$/

/** Runs another script beside the first, by its name, and gives what it exports. */
export type RunPart = (name: string) => unknown

const neverAsked: RunPart = (name) => {
  throw new Error(`there is no script ${name} beside this one`)
}

/**
 * Runs a script of ASCII characters that is a function of `exports`, `require`, `module`, `__filename`, `__dirname` and `runPart`. Its code is taken
 * from `directory` if it was kept there by an earlier run for the same `use`, a word, with the same Node.js; so is that of the functions it
 * called meanwhile, which Node's own cache leaves out. Without a directory, or with one that others may write to, nothing is kept.
 */
export function runKeptScript(
  file: string,
  directory: string | undefined,
  use: string,
  runPart: RunPart = neverAsked,
): RunScript {
  const bytes = readWhole(file)
  const kept = directory !== undefined && isOwn(directory) ? keptFile(directory, use, bytes) : undefined
  const cachedData = kept && readKept(kept)
  const script = new Script(bytes.toString('latin1'), { filename: file, ...(cachedData && { cachedData }) })
  let isKept = cachedData !== undefined && script.cachedDataRejected === false
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file), runPart)
  return {
    exports: module.exports,
    keep() {
      if (kept !== undefined && !isKept) writeKept(kept, script.createCachedData())
      isKept = true
    },
  }
}

/**
 * Reads a file into memory that V8 takes from the system, as it does for buffers that can be resized. glibc, which others come from, keeps twice as
 * much as the largest of them that was freed for each thread from then on: 20 MB that a server at rest holds instead of 10.
 */
function readWhole(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.from(new ArrayBuffer(size, { maxByteLength: size }))
    let read = 0
    for (let more = -1; more !== 0; read += more) more = readSync(descriptor, bytes, { offset: read })
    return bytes.subarray(0, read)
  } finally {
    closeSync(descriptor)
  }
}

/** Named by what the script says: another version of it has code of its own. */
const keptFile = (directory: string, use: string, script: Uint8Array): string =>
  join(directory, `${use}-${crc32(script).toString(16).padStart(8, '0')}.code`)

/** Whose code is run can do what this process can: only its own user may have written it. */
function isOwn(directory: string): boolean {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || process.getuid === undefined) return stats !== undefined
  return stats.uid === process.getuid() && (stats.mode & 0o022) === 0
}

/** Undefined where nothing was kept, or it is not whole. */
function readKept(file: string): Buffer | undefined {
  let bytes: Buffer
  try {
    bytes = readWhole(file)
  } catch {
    return undefined
  }
  if (bytes.length <= headBytes) return undefined
  const code = bytes.subarray(headBytes)
  if (crc32(code) !== bytes.readUInt32LE(0)) return undefined
  markTaken(file)
  return code
}

/** The time of the file says when it was taken last. */
function markTaken(file: string): void {
  const now = wallTimeMs() / 1000
  try {
    utimesSync(file, now, now)
  } catch {
    // A disk that is read-only makes no room for others either.
  }
}

/** Nobody waits for it, and a disk that is full or read-only costs only time at the next start. */
function writeKept(file: string, code: Buffer): void {
  const unfinished = `${file}.${process.pid}`
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(crc32(code))
  try {
    makeRoom(dirname(file))
    writeFileSync(unfinished, Buffer.concat([head, code]), { mode: 0o600 })
    renameSync(unfinished, file)
  } catch {
    rmSync(unfinished, { force: true })
  }
}

/** Makes room for one more file. */
function makeRoom(directory: string): void {
  const takenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const files = readdirSync(directory)
    .filter((name) => keptFilePattern.test(name))
    .map((name) => join(directory, name))
    .sort((a, b) => takenAt(b) - takenAt(a))
  for (const file of files.slice(keptFilesMax - 1)) rmSync(file, { force: true })
}

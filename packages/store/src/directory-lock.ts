import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DirectoryInUseError } from './errors.ts'

/** Holds a directory for this process. */
export interface DirectoryLock {
  /** Whether a process that died without letting go had held it. */
  readonly takenOver: boolean
  release(): void
}

const fileName = 'owner.json'
const attemptsMax = 16

/**
 * Which process it is. A pid alone is used again after a while, and in containers at once (it is always 1); with the
 * boot and the tick it started at, where the system tells them, it is unmistakable.
 */
interface Owner {
  readonly pid: number
  readonly started: string
}

/**
 * Takes `directory` for this process, by a file in it that names the process. Throws a `DirectoryInUseError` when a living process has it,
 * this one included; takes over from a dead one.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, fileName)
  const own: Owner = { pid: process.pid, started: startedOf(process.pid) ?? '' }
  const draft = `${path}.${process.pid}`
  let takenOver = false
  // Linked into place rather than written there: whoever finds the file finds it whole.
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (link(draft, path)) return { takenOver, release: () => release(path, own) }
      const owner = readOwner(path)
      if (owner === undefined) continue
      if (isAlive(owner)) throw new DirectoryInUseError(directory, owner.pid)
      removeStale(path, owner)
      takenOver = true
    }
  } finally {
    rmSync(draft, { force: true })
  }
  throw new Error(
    `${directory} could not be locked: its lock file keeps changing; is something else starting over and over?`,
  )
}

/** Gives a name to a file, unless something has it already. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Moves the lock of a dead process away. Should another have taken over in between, it gets its lock back. */
function removeStale(path: string, stale: Owner): void {
  const aside = `${path}.${process.pid}.stale`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  const moved = readOwner(aside)
  if (moved !== undefined && !isSame(moved, stale)) link(aside, path)
  rmSync(aside, { force: true })
}

function release(path: string, own: Owner): void {
  const owner = readOwner(path)
  if (owner !== undefined && isSame(owner, own)) rmSync(path, { force: true })
}

function readOwner(path: string): Owner | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const { pid, started } = JSON.parse(text) as Partial<Owner>
    if (Number.isSafeInteger(pid) && typeof started === 'string') return { pid: Number(pid), started }
  } catch {
    // Falls through: what is not an owner counts as none alive.
  }
  return { pid: 0, started: '' }
}

function isSame(a: Owner, b: Owner): boolean {
  return a.pid === b.pid && a.started === b.started
}

function isAlive(owner: Owner): boolean {
  if (owner.pid <= 0) return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: it is there, and someone else's.
    if (codeOf(error) !== 'EPERM') return false
  }
  if (owner.started === '') return true
  const started = startedOf(owner.pid)
  return started === undefined ? process.platform !== 'linux' : started === owner.started
}

/** The boot and the tick a process started at, from Linux's /proc; undefined for a dead process and where there is no /proc. */
function startedOf(pid: number): string | undefined {
  try {
    // The command in parentheses may hold anything; the state and the numbers come after it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    if (state === 'Z' || state === 'X') return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

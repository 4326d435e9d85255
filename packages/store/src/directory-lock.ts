import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite'
import { fileIdentity } from './directories.ts'
import { DirectoryInUseError, DirectoryLockError } from './errors.ts'
import { withoutExperimentalWarnings } from './experimental-warnings.ts'
import { processStart } from './process-start.ts'
import { codeOf } from './system-errors.ts'

/** A directory that this process has for itself: no other process of any container that shares the directory has it. */
export interface DirectoryLock {
  /** Whether whoever had it before died without letting go. */
  readonly takenOver: boolean
  /** Whether the directory is still where it was locked, neither removed nor replaced by another. */
  isInPlace(): boolean
  release(): void
}

/**
 * What the operating system holds the lock on. Nothing but SQLite may open it, not even to read: a process that closes a
 * file gives up all its POSIX locks on it, whichever descriptor took them. Nor is it ever removed: that would let two
 * processes lock two files of one name.
 */
const lockFileName = 'coracle.lock'
/** Says who holds the lock, for messages alone. */
const ownerFileName = 'owner.json'
/** Of two processes that lock at the same moment one has to wait until the other has given way. */
const attemptMs = 100
/** SQLite's code for a lock that somebody else has. */
const sqliteBusy = 5

/** A lock is lost when its database is collected as garbage, so as long as it holds it is kept here. */
const heldDatabases = new Set<DatabaseSync>()

/**
 * Takes an existing directory for this process. The operating system lets go of it when the process ends, however it
 * ends, and not before; processes that it starts do not inherit it. Throws a `DirectoryInUseError` when a living process
 * has it, this one included, a `DirectoryLockError` where nothing can be locked, the system's error where it may not write.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, lockFileName)
  const ownerPath = join(directory, ownerFileName)
  makeLockFile(path)
  const database = lockFile(directory, path)
  if (database === undefined) throw new DirectoryInUseError(directory, readOwner(ownerPath))
  heldDatabases.add(database)
  const unlock = () => {
    database.close()
    heldDatabases.delete(database)
  }
  try {
    const locked = fileIdentity(path)
    const takenOver = statSync(ownerPath, { throwIfNoEntry: false }) !== undefined
    rmSync(ownerPath, { force: true })
    const owner = { pid: process.pid, host: hostname(), started: processStart() }
    writeFileSync(ownerPath, `${JSON.stringify(owner)}\n`, { mode: 0o600, flag: 'wx' })
    const isInPlace = () => fileIdentity(path) === locked
    return {
      takenOver,
      isInPlace,
      release() {
        if (!heldDatabases.has(database)) return
        if (isInPlace()) rmSync(ownerPath, { force: true })
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Who has a directory for itself. */
export interface DirectoryOwner {
  /** Undefined where the owner is only just taking the directory, or has not managed to write its name. */
  readonly pid: number | undefined
  /** Where the process is; undefined for this host. A container is a host of its own. */
  readonly host: string | undefined
  /** When the process started, as the system counts: ids are used again. Undefined where the system does not tell. */
  readonly started: string | undefined
}

/**
 * Who has the directory at this moment, as the lock itself tells; undefined when nobody has. A process that died has let
 * go, whatever it left behind. Takes nothing, changes nothing.
 */
export function directoryOwner(directory: string): DirectoryOwner | undefined {
  const path = join(directory, lockFileName)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true || !isLocked(directory, path)) return undefined
  return readOwner(join(directory, ownerFileName)) ?? { pid: undefined, host: undefined, started: undefined }
}

/** Makes the file where it is missing, and throws the system's own error where it cannot be made or written. */
function makeLockFile(path: string): void {
  try {
    // Fails without having opened the file where there is one.
    writeFileSync(path, '', { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    accessSync(path, constants.R_OK | constants.W_OK)
  }
}

/**
 * SQLite is how Node.js reaches the locks of the operating system: an exclusive transaction is one on a range of bytes of
 * the file. Nothing is ever written to it. Undefined when someone else has it.
 */
function lockFile(directory: string, path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined
  try {
    database = openDatabase(path, { timeout: attemptMs })
    // A journal in memory is no second file.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new DirectoryLockError(directory, lockFileName, error)
  }
}

function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  const { DatabaseSync } = withoutExperimentalWarnings(() => process.getBuiltinModule('node:sqlite'))
  return new DatabaseSync(path, options)
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy

/** Reading takes a shared lock, which nobody gets beside an exclusive one. */
function isLocked(directory: string, path: string): boolean {
  const database = openDatabase(path, { readOnly: true })
  try {
    database.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw new DirectoryLockError(directory, lockFileName, error)
  } finally {
    database.close()
  }
}

/** Who holds the lock, as far as can be told; another container's process ids mean nothing here without its name. */
function readOwner(path: string): (DirectoryOwner & { readonly pid: number }) | undefined {
  try {
    const { pid, host, started } = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>
    if (typeof pid !== 'number') return undefined
    return {
      pid,
      host: typeof host === 'string' && host !== hostname() ? host : undefined,
      started: typeof started === 'string' ? started : undefined,
    }
  } catch {
    // It only tells more about a lock that is held in any case.
    return undefined
  }
}

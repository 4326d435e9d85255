import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { KubeconfigEdit } from '@coracle/client'
import { makePrivateDirectory } from '@coracle/store'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { pause } from '../pause.ts'

/** How long a change waits for others where it waits at all, and how often it looks. */
const lockWaitMs = 2_000
const lockCheckMs = 50

/**
 * Changes a kubeconfig file, or makes one that says only what `change` sets. Readers see the old one or the new one, and
 * nothing of it is lost that `change` leaves alone; a file that stays as it is is not written. As kubectl does, it holds a
 * lock file meanwhile. Rejects with a CliError where another has that; with a host, where it does not give it back soon.
 */
export async function changeKubeconfigFile(
  path: string,
  change: (edit: KubeconfigEdit) => void,
  host?: Host,
): Promise<void> {
  // Of a link what it leads to is changed, and the link stays.
  const file = realPath(path)
  makePrivateDirectory(dirname(file))
  const unlock = await lock(file, host)
  try {
    const text = readText(file)
    const edit = await KubeconfigEdit.parse(text ?? '', path)
    const before = edit.toString()
    change(edit)
    if (text === undefined || edit.toString() !== before) replaceFile(file, edit.toString())
  } finally {
    unlock()
  }
}

async function lock(file: string, host: Host | undefined): Promise<() => void> {
  const path = `${file}.lock`
  for (let waitedMs = 0; !isMade(path); waitedMs += lockCheckMs) {
    if (host === undefined || waitedMs >= lockWaitMs)
      throw new CliError(`${file} is being changed by another program: try again, or remove ${path} if there is none`)
    await pause(host, lockCheckMs)
  }
  return () => rmSync(path, { force: true })
}

/** Makes a file, unless it is there. */
function isMade(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function replaceFile(path: string, text: string): void {
  const aside = `${path}.new`
  const former = statSync(path, { throwIfNoEntry: false })
  const mode = (former?.mode ?? 0o600) & 0o777
  rmSync(aside, { force: true })
  const file = openSync(aside, 'wx', mode)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (former !== undefined && !keepsOwner(aside, former)) {
    rmSync(aside)
    // Whoever may not give files away may still write into this one.
    writeFileSync(path, text)
    return
  }
  // The umask may have taken rights that the file had.
  chmodSync(aside, mode)
  renameSync(aside, path)
}

/** Gives a file the owner of another: `sudo` takes a kubeconfig from nobody. False where that is not allowed. */
function keepsOwner(path: string, { uid, gid }: Stats): boolean {
  const own = statSync(path)
  if (own.uid === uid && own.gid === gid) return true
  try {
    chownSync(path, uid, gid)
    return true
  } catch {
    return false
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

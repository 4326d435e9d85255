/**
 * What the single executable runs: it lays the program's files out in the user's cache, once for each version of them, and runs them
 * from there. A file on disk may be a module, have workers, load a native addon, and be kept compiled; what is in the executable may not.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { getAsset, getAssetKeys, getRawAsset } from 'node:sea'

const program = join(extractedFiles(), 'launch.cjs')
createRequire(program)(program)

/** The directory with the files; made where it is not there yet. */
function extractedFiles(): string {
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'coracle')
  const complete = join(parent, getAsset('digest', 'utf8'))
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  const { uid } = statSync(parent)
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new Error(`${parent} belongs to somebody else: name another directory with XDG_CACHE_HOME`)
  }
  if (existsSync(complete)) return complete
  // Only a whole directory gets the name: others may start at the same time, and this may be killed.
  const partial = `${complete}.${randomUUID()}`
  mkdirSync(partial, { mode: 0o700 })
  for (const name of getAssetKeys()) {
    mkdirSync(dirname(join(partial, name)), { mode: 0o700, recursive: true })
    writeFileSync(join(partial, name), new Uint8Array(getRawAsset(name) as ArrayBuffer))
  }
  try {
    renameSync(partial, complete)
  } catch (error) {
    rmSync(partial, { recursive: true })
    if (!existsSync(complete)) throw error
  }
  return complete
}

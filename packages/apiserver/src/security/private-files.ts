import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDirectory, syncDirectory } from '@coracle/store'

/** A file that only its owner may read. */
export interface PrivateFile {
  readonly path: string
  readonly content: string
}

/** What writing private files takes of a file system, an operation at a time. */
export interface FileSystem {
  /** The file's text; undefined where there is none. */
  read(path: string): Promise<string | undefined>
  /** Makes a directory for its owner alone, and what leads to it, durably. Leaves one that exists as it is. */
  makeDirectory(path: string): Promise<void>
  remove(path: string): Promise<void>
  /** Makes a file for its owner alone, whatever the umask. Fails where something is already. */
  create(path: string): Promise<NewFile>
  rename(from: string, to: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>
}

/** A file that is being written. */
export interface NewFile {
  write(content: string): Promise<void>
  /** Makes what was written durable. */
  sync(): Promise<void>
  close(): Promise<void>
}

/**
 * Writes files that only their owner may read; when it resolves they are durable. At any moment, after `kill -9` and
 * after a loss of power too, a file is the old one or the whole new one, and no file of a step is new unless all of the
 * steps before are.
 */
export async function writePrivateFiles(files: FileSystem, steps: readonly (readonly PrivateFile[])[]): Promise<void> {
  await Promise.all(steps.flat().map((file) => writeAside(files, file)))
  for (const step of steps) {
    for (const { path } of step) await files.rename(aside(path), path)
    for (const directory of new Set(step.map(({ path }) => dirname(path)))) await files.syncDirectory(directory)
  }
}

/** As `writePrivateFiles`, for one. */
export const writePrivateFile = (files: FileSystem, path: string, content: string): Promise<void> =>
  writePrivateFiles(files, [[{ path, content }]])

const aside = (path: string): string => `${path}.new`

async function writeAside(files: FileSystem, { path, content }: PrivateFile): Promise<void> {
  await files.makeDirectory(dirname(path))
  // What an interrupted start has left. It is not written over: somebody else may have it open.
  await files.remove(aside(path))
  const file = await files.create(aside(path))
  try {
    await file.write(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The host's file system. */
export const hostFiles: FileSystem = {
  async read(path) {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  },
  makeDirectory: async (path) => makePrivateDirectory(path),
  remove: (path) => rm(path, { force: true }),
  async create(path) {
    const file = await open(path, 'wx', 0o600)
    // The umask may have taken rights from the owner.
    await file.chmod(0o600)
    return { write: (content) => file.writeFile(content), sync: () => file.sync(), close: () => file.close() }
  },
  rename: (from, to) => rename(from, to),
  syncDirectory: async (path) => syncDirectory(path),
}

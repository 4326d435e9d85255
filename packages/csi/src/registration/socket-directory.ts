import { lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A socket: two of one name at different times differ in their identity. */
export interface FoundSocket {
  readonly path: string
  readonly identity: string
}

/** The sockets in a directory by whose names nobody wants to hide them. None where there is no directory. */
export async function socketsIn(directory: string): Promise<readonly FoundSocket[]> {
  const names = await readdir(directory).catch(() => [])
  const found = names
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map(async (name) => {
      const path = join(directory, name)
      const stats = await lstat(path).catch(() => undefined)
      return stats?.isSocket() === true ? [{ path, identity: `${stats.ino} ${stats.ctimeMs}` }] : []
    })
  return (await Promise.all(found)).flat()
}

/** Makes the directory unless it is there, but not what it is in: that may be gone for good. */
export async function makeSocketDirectory(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o750 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { VolumeFile } from './volume-files.ts'

/** Who is to have files beside this process. */
export interface FileOwners {
  /** Whether files that are for one user are to be its. */
  readonly hasOwners?: boolean
  /** The group that is to have all of them. */
  readonly group?: number | undefined
}

/** What names the directory that holds the present files. */
const dataLink = '..data'

/**
 * Has a directory show these files and no others, all at once: they are in a directory of their own, which a link names, and what a reader sees
 * are links through that one. Files that are the same as before are left alone. The layout is that of upstream's
 * AtomicWriter, by which programs notice a change.
 */
export async function writeFiles(
  directory: string,
  files: readonly VolumeFile[],
  { hasOwners = false, group }: FileOwners = {},
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  const before = await readlink(join(directory, dataLink)).catch(() => undefined)
  if (before !== undefined && (await holds(join(directory, before), files, group))) return
  const fresh = await mkdtemp(`${directory}/..`)
  // Whoever a container runs as is to find its way through it.
  await chmod(fresh, 0o755)
  for (const { path, data, mode, owner } of files) {
    const file = join(fresh, path)
    await mkdir(dirname(file), { recursive: true, mode: 0o755 })
    await writeFile(file, data, { mode })
    if (hasOwners && owner !== undefined) await chown(file, owner, -1)
  }
  const name = fresh.slice(directory.length + 1)
  await rm(join(directory, `${dataLink}_tmp`), { force: true })
  await symlink(name, join(directory, `${dataLink}_tmp`))
  await rename(join(directory, `${dataLink}_tmp`), join(directory, dataLink))
  await linkEntries(directory, files)
  await removeStale(directory, name)
}

async function linkEntries(directory: string, files: readonly VolumeFile[]): Promise<void> {
  const entries = new Set(files.map(({ path }) => path.split('/')[0] ?? ''))
  for (const entry of entries) {
    await symlink(join(dataLink, entry), join(directory, entry)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  const stale = (await readdir(directory)).filter((entry) => !entry.startsWith('..') && !entries.has(entry))
  await Promise.all(stale.map((entry) => rm(join(directory, entry), { recursive: true, force: true })))
}

/** Also what a life before has begun and not finished. */
async function removeStale(directory: string, present: string): Promise<void> {
  const stale = (await readdir(directory)).filter(
    (entry) => entry.startsWith('..') && entry !== dataLink && entry !== present,
  )
  await Promise.all(stale.map((entry) => rm(join(directory, entry), { recursive: true, force: true })))
}

async function holds(directory: string, files: readonly VolumeFile[], group: number | undefined): Promise<boolean> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    if (entries.filter((entry) => entry.isFile()).length !== files.length) return false
    for (const { path, data, mode } of files) {
      const file = join(directory, path)
      // A group that may read them is added afterwards.
      const kept = group === undefined ? 0o777 : 0o707
      if (((await stat(file)).mode & kept) !== (mode & kept) || !(await readFile(file)).equals(data)) return false
    }
    return true
  } catch {
    return false
  }
}

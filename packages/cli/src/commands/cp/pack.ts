import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Pack } from 'tar-stream'

/** Writes a file, or a folder with all that is in it, into an archive under another name. */
export async function packInto(archive: Pack, path: string, name: string): Promise<void> {
  const stats = await lstat(path)
  const common = { name, mode: stats.mode & 0o7777, mtime: stats.mtime }
  if (stats.isDirectory()) {
    const children = await readdir(path)
    if (children.length === 0) archive.entry({ ...common, type: 'directory' })
    for (const child of children.sort()) await packInto(archive, join(path, child), posix.join(name, child))
  } else if (stats.isSymbolicLink()) {
    archive.entry({ ...common, type: 'symlink', linkname: await readlink(path) })
  } else if (stats.isFile()) {
    const entry = archive.entry({ ...common, type: 'file', size: stats.size })
    // A file that grows meanwhile is copied as long as it was.
    await pipeline(stats.size === 0 ? [] : createReadStream(path, { end: stats.size - 1 }), entry)
  }
}

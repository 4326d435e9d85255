import { createReadStream, type Stats } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Header, type Pack, pack } from 'tar-stream'
import { CliError } from '../../cli-error.ts'

/** Writes a file, or a folder with all that is in it, into an archive under another name. */
export async function packInto(archive: Pack, path: string, name: string): Promise<void> {
  const stats = await lstat(path)
  const common = { name, mode: stats.mode & 0o7777, mtime: stats.mtime, ...ownerOf(stats) }
  if (stats.isDirectory()) {
    const children = await readdir(path)
    if (children.length === 0) archive.entry({ ...common, type: 'directory' })
    for (const child of children.sort()) await packInto(archive, join(path, child), posix.join(name, child))
  } else if (stats.isSymbolicLink()) {
    archive.entry({ ...common, type: 'symlink', linkname: await readlink(path) })
  } else if (stats.isFile()) {
    const entry = archive.entry({ ...common, type: 'file', size: stats.size })
    // A file that grows meanwhile is copied as long as it was.
    await pipeline(stats.size === 0 ? [] : createReadStream(path, { end: stats.size - 1 }), entry).catch(
      async (error: unknown) => {
        const { size } = await lstat(path)
        throw size < stats.size ? new CliError(`${path} has become smaller while it was copied: copy it again`) : error
      },
    )
  }
}

/** Greatest number that the header of an entry has room for; greater ones stand in a further one. */
const headerNumberMax = 0o777777

/** Who has a file: whoever unpacks as root and keeps owners gives it to the same. */
function ownerOf({ uid, gid }: Stats): Partial<Header> {
  const large = Object.entries({ uid, gid }).filter(([, id]) => id > headerNumberMax)
  if (large.length === 0) return { uid, gid }
  return { uid, gid, pax: Object.fromEntries(large.map(([name, id]) => [name, String(id)])) }
}

/**
 * Packs a path under a name and has the archive sent. Where something cannot be read, the signal ends the sending, and what was wrong is
 * thrown.
 */
export async function sendPacked<Result>(
  path: string,
  name: string,
  send: (archive: Readable, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const givenUp = new AbortController()
  const archive = pack()
  // Of an archive that is given up, what was wrong is told by the signal.
  archive.on('error', () => {})
  const sent = archive.pipe(new PassThrough())
  void packInto(archive, path, name)
    .then(() => archive.finalize())
    .catch((error: unknown) => {
      givenUp.abort(error)
      archive.destroy()
      sent.destroy()
    })
  try {
    return await send(sent, givenUp.signal)
  } catch (error) {
    throw givenUp.signal.aborted ? givenUp.signal.reason : error
  }
}

import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { goQuoted } from '@coracle/api/go-text'
import { extract, type Header } from 'tar-stream'
import { CliError } from '../../cli-error.ts'

export interface UnpackOptions {
  /** What all names in the archive begin with. */
  readonly prefix: string
  /** What stands in its place here. */
  readonly destination: string
  readonly warn: (text: string) => void
  /** What brings links too; told with the first that is left out. */
  readonly hint: string
}

/**
 * Writes what is in an archive from a container to files. The container may be hostile: what would be written outside of the
 * destination is left out, and so are links, which could lead there.
 */
export async function unpackFrom(archive: Readable, { prefix, destination, warn, hint }: UnpackOptions): Promise<void> {
  const entries = extract()
  const reading = pipeline(archive, entries)
  reading.catch(() => {})
  let hasWarned = false
  for await (const entry of entries) {
    const { name, type, linkname } = entry.header
    if (!name.startsWith(prefix)) throw new CliError('tar contents corrupted')
    const path = pathOf(destination, name.slice(prefix.length))
    if (path === undefined) {
      const outside = join(destination, name.slice(prefix.length))
      warn(`warning: file ${goQuoted(outside)} is outside target destination, skipping`)
    } else if (type === 'symlink' || type === 'link') {
      const advice = hasWarned ? '' : ` (consider using "${hint}")`
      warn(`warning: skipping symlink: ${goQuoted(path)} -> ${goQuoted(linkname ?? '')}${advice}`)
      hasWarned = true
    } else if (type === 'directory') await mkdir(path, { recursive: true })
    else if (type === 'file' || type === 'contiguous-file') {
      await write(entry, path, entry.header)
      continue
    }
    entry.resume()
  }
  await reading
}

async function write(content: AsyncIterable<unknown>, path: string, { mode = 0o644 }: Header): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await pipeline(content, createWriteStream(path, { mode: mode & 0o777 }))
}

/** Where an entry belongs; undefined outside of the destination. */
function pathOf(destination: string, rest: string): string | undefined {
  const root = resolve(destination)
  const path = join(root, rest)
  return path === root || path.startsWith(root + sep) ? path : undefined
}

/** What the names in an archive of a path begin with: tar leaves out leading slashes, and ways up. */
export function archivePrefix(path: string): string {
  const relative = posix.normalize(path).replace(/^\/+/, '').replace(/\/+$/, '')
  return relative.replace(/^(\.\.\/)+/, '').replace(/^\.\.?$/, '')
}

import { mkdir, open, stat } from 'node:fs/promises'
import type { Volume } from '@coracle/api'
import { VolumeSourceError } from './volume-files.ts'

type HostPath = NonNullable<Volume['hostPath']>

/**
 * The path of a `hostPath` volume. What may be made is made where it is missing, and so is a directory where nothing is said, as container runtimes
 * do. Rejects with a `VolumeSourceError` where something else is there.
 */
export async function directoryOnNode({ path, type = '' }: HostPath): Promise<string> {
  const found = (await statOf(path)) ?? (await make(path, type))
  if (found === undefined) {
    throw new VolumeSourceError(`hostPath type check failed: ${path} does not exist`)
  }
  const isOther =
    ((type === 'Directory' || type === 'DirectoryOrCreate') && !found.isDirectory()) ||
    ((type === 'File' || type === 'FileOrCreate') && !found.isFile()) ||
    (type === 'Socket' && !found.isSocket()) ||
    (type === 'CharDevice' && !found.isCharacterDevice()) ||
    (type === 'BlockDevice' && !found.isBlockDevice())
  if (isOther) throw new VolumeSourceError(`hostPath type check failed: ${path} is not of type ${type}`)
  return path
}

async function make(path: string, type: string) {
  if (type === '' || type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 })
  else if (type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close()
  return statOf(path)
}

const statOf = (path: string) => stat(path).catch(() => undefined)

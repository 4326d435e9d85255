import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a directory (and those above it) that only its owner may enter. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
}

/** Writes a file that only its owner may read. Readers see the old content or all of the new, whatever happens meanwhile. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.new`
  await writeFile(temporary, content, { mode: 0o600 })
  // The mode above only holds for a file that was not there before.
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

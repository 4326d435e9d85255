import { dirname } from 'node:path'
import type { DurableFiles } from './durable-files.ts'
import { StoreDamagedError } from './errors.ts'
import type { StoreIdentity } from './store-identity.ts'
import { codeOf } from './system-errors.ts'

/**
 * Throws a `StoreDamagedError` when the store in a directory is not the one that `path` remembers. `found` is the identity
 * of what is there; undefined when there is nothing.
 */
export async function checkIdentity(
  files: DurableFiles,
  directory: string,
  path: string,
  found: StoreIdentity | undefined,
): Promise<void> {
  const expected = await readIdentity(files, path)
  if (expected === undefined || expected === found?.toString('hex')) return
  const what = found === undefined ? 'it is missing or empty' : 'it is another store than'
  const belongs = found === undefined ? `, and ${path} says that there was one` : ` ${path} says`
  throw new StoreDamagedError(directory, `${what}${belongs} (remove that file to go on with what is there)`)
}

/** Makes a file that remembers a store, unless it is there. It is durable when this resolves. */
export async function keepIdentity(files: DurableFiles, path: string, identity: StoreIdentity): Promise<void> {
  if ((await readIdentity(files, path)) !== undefined) return
  const draft = `${path}.draft`
  const file = await files.open(draft, { create: true, synced: false })
  try {
    await file.write([Buffer.from(`${identity.toString('hex')}\n`)], 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await files.rename(draft, path)
  await files.syncDirectory(dirname(path))
}

async function readIdentity(files: DurableFiles, path: string): Promise<string | undefined> {
  try {
    const file = await files.open(path, { create: false, synced: false })
    try {
      return (await file.read()).toString().trim()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

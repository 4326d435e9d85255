import { open, readFile, rename } from 'node:fs/promises'

/** Writes a file whole or not at all, also where the power goes: who reads it finds what was there before, or this. */
export async function writeWhole(path: string, content: object): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(content))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

/** What such a file says; undefined where there is none. Rejects where it cannot be read. */
export async function readWhole(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : JSON.parse(text)
}

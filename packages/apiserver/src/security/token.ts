import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivateFile } from './private-files.ts'

const tokenBytes = 32

/** A bearer token nobody can guess: 256 random bits in URL-safe base64. */
export function createToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** The administrator's token in `<dataDir>/token`: made on the first start, the same on every further one. */
export async function loadOrCreateToken(dataDir: string): Promise<string> {
  const path = join(dataDir, 'token')
  const kept = await readIfThere(path)
  if (kept === undefined) {
    const token = createToken()
    await writePrivateFile(path, `${token}\n`)
    return token
  }
  const token = kept.trim()
  if (!/^[\w\-.~+/=]{16,}$/.test(token)) {
    throw new Error(`cannot use ${path}: it does not hold one bearer token; remove it to have a new one made`)
  }
  return token
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type FileSystem, hostFiles, writePrivateFile } from './private-files.ts'

const tokenBytes = 32

/** A bearer token nobody can guess: 256 random bits in URL-safe base64. */
export function createToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** The administrator's token in `<dataDir>/token`: made on the first start, the same on every further one. */
export async function loadOrCreateToken(dataDir: string, files: FileSystem = hostFiles): Promise<string> {
  const path = join(dataDir, 'token')
  const kept = await files.read(path)
  if (kept === undefined) {
    const token = createToken()
    await writePrivateFile(files, path, `${token}\n`)
    return token
  }
  const token = kept.trim()
  if (!/^[\w\-.~+/=]{16,}$/.test(token)) {
    throw new Error(`cannot use ${path}: it does not hold one bearer token; remove it to have a new one made`)
  }
  return token
}

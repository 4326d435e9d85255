import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * What a data directory remembers of the server that runs on it, or ran last. It only tells: who has the directory is what
 * its lock says.
 */
export interface ServerRecord {
  /** Of the program. */
  readonly version: string
  readonly pid: number
  readonly url: string
  /** RFC 3339. */
  readonly startedAt: string
  /** When it had stopped in order; absent while it runs, and where it was killed. */
  readonly stoppedAt?: string
  /** Where objects are kept. */
  readonly store: 'disk' | 'memory' | 'etcd'
  readonly runtime: 'process' | 'simulated' | 'cri' | 'docker'
  readonly isDetached: boolean
}

const recordName = 'server.json'

/** Undefined where there is none, and where it cannot be read. */
export function readServerRecord(directory: string): ServerRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(join(directory, recordName), 'utf8'))
    return isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

/** Writes the record in place of the one before. */
export async function writeServerRecord(directory: string, record: ServerRecord): Promise<void> {
  const path = join(directory, recordName)
  await writeFile(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

function isRecord(value: unknown): value is ServerRecord {
  const { version, pid, url, startedAt, store } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof pid === 'number' && [version, url, startedAt, store].every((each) => typeof each === 'string')
}

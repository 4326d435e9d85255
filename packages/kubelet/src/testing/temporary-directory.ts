import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** What a test has started and does not wait for, such as the writer of a log, may still make files in its directory: it is removed again. */
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }

/** A directory for one test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-kubelet-'))
  onTestFinished(() => rmSync(directory, removal))
  return directory
}

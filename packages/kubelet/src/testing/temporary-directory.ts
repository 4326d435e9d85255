import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory for one test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-kubelet-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

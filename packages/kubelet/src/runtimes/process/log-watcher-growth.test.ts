import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { LogWatcher } from './log-watcher.ts'
import { readTimeIndex } from './time-index.ts'

// A container that writes a line whenever the watcher has looked at its log.
vi.mock('./log-segments.ts', async (original) => {
  const actual = await original<typeof import('./log-segments.ts')>()
  const growing = <T>(look: (path: string) => T) => {
    return (path: string): T => {
      const seen = look(path)
      appendFileSync(path, 'one more line\n')
      return seen
    }
  }
  return {
    ...actual,
    logSegments: growing(actual.logSegments),
    rotateLog: growing(actual.rotateLog),
  }
})

it.each([
  ['that is written while it begins to look', 0],
  ['that is written while it is rotated', 11 * 1024 * 1024],
])('knows where a log ends %s', async (_what, bytes) => {
  const { logSegments } = await vi.importActual<typeof import('./log-segments.ts')>('./log-segments.ts')
  const path = join(temporaryDirectory(), '0.log')
  writeFileSync(path, '')
  truncateSync(path, bytes)
  const watcher = new LogWatcher(path, virtualEnvironment().clock, (error) => expect.unreachable(String(error)))
  onTestFinished(() => watcher.close())
  appendFileSync(path, 'the last\n')
  watcher.observe()
  const last = logSegments(path).at(-1)
  expect(readTimeIndex(`${path}.times`).at(-1)?.end).toBe((last?.start ?? 0) + statSync(path).size)
})

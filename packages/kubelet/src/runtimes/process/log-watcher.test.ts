import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { logFileBytesMax, logSegments } from './log-segments.ts'
import { LogWatcher } from './log-watcher.ts'

function watch(path: string): LogWatcher {
  const watcher = new LogWatcher(path, virtualEnvironment().clock, (error) => expect.unreachable(String(error)))
  onTestFinished(() => watcher.close())
  return watcher
}

it('rotates a log that has outgrown its file while nobody watched, though nothing more is written', () => {
  const path = join(temporaryDirectory(), '0.log')
  writeFileSync(path, '')
  truncateSync(path, logFileBytesMax + 1)
  watch(path)
  expect(logSegments(path).map(({ start, bytes }) => [start, bytes])).toEqual([
    [0, logFileBytesMax + 1],
    [logFileBytesMax + 1, 0],
  ])
})

it('leaves a log that fits its file', () => {
  const path = join(temporaryDirectory(), '0.log')
  writeFileSync(path, '')
  truncateSync(path, logFileBytesMax)
  watch(path).observe()
  expect(logSegments(path)).toHaveLength(1)
})

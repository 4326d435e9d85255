import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTime } from '@coracle/api'
import { VirtualClock } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { LogReadOptions } from '../../log-options.ts'
import { readLog } from './log-reader.ts'
import { LogWatcher } from './log-watcher.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-log-reader-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const now = '2026-01-01T00:00:00Z'

/** Watches a log from now on. Returns the way to read it. */
function watched(path: string) {
  const watcher = new LogWatcher(path, new VirtualClock(now), (error) => expect.unreachable(String(error)))
  onTestFinished(() => watcher.close())
  return async (options: Partial<LogReadOptions>) => {
    const pieces: Uint8Array[] = []
    const signal = new AbortController().signal
    for await (const piece of readLog(path, { follow: false, timestamps: false, ...options }, watcher, signal)) {
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString()
  }
}

describe('readLog', () => {
  it('knows the age of lines that the host has not told of yet', async () => {
    const path = join(directory, 'log')
    writeFileSync(path, '')
    const read = watched(path)
    appendFileSync(path, 'line\n')
    expect(await read({ sinceTimeMs: parseTime(now) + 1_000 })).toBe('')
    expect(await read({ timestamps: true })).toBe('2026-01-01T00:00:00.000000000Z line\n')
  })

  it('has no more than the last lines, whatever is written while they are read', async () => {
    const path = join(directory, 'log')
    const long = (letter: string) => `${letter.repeat(50_000)}\n`
    writeFileSync(path, long('a') + long('b') + long('c'))
    const watcher = new LogWatcher(path, new VirtualClock(now), (error) => expect.unreachable(String(error)))
    onTestFinished(() => watcher.close())
    const options = { follow: false, timestamps: false, tailLines: 2 }
    const pieces: Uint8Array[] = []
    for await (const piece of readLog(path, options, watcher, new AbortController().signal)) {
      pieces.push(piece)
      if (pieces.length === 1) appendFileSync(path, 'later\n')
    }
    expect(Buffer.concat(pieces).toString() === long('b') + long('c')).toBe(true)
  })

  it('finds lines by the time that it says of them, also of what was written before anybody watched', async () => {
    const path = join(directory, 'log')
    writeFileSync(path, 'line\n')
    // Files have times of less than a microsecond.
    for (const fraction of [0.1234567, 0.5, 0.9999999, 0]) {
      rmSync(`${path}.times`, { force: true })
      utimesSync(path, 0, parseTime(now) / 1000 - 1 + fraction)
      const read = watched(path)
      const [time = ''] = (await read({ timestamps: true })).split(' ')
      expect(await read({ sinceTimeMs: parseTime(time) }), time).toBe('line\n')
      expect(await read({ sinceTimeMs: parseTime(time) + 1 }), time).toBe('')
    }
  })
})

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VirtualClock } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogReadOptions } from '../../log-options.ts'
import { readLog } from './log-reader.ts'
import { LogWatcher } from './log-watcher.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-log-reader-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('readLog', () => {
  it('knows the age of lines that the host has not told of yet', async () => {
    const path = join(directory, 'log')
    writeFileSync(path, '')
    const clock = new VirtualClock('2026-01-01T00:00:00Z')
    const watcher = new LogWatcher(path, clock, (error) => expect.unreachable(String(error)))
    const read = async (options: Partial<LogReadOptions>) => {
      const pieces: Uint8Array[] = []
      const signal = new AbortController().signal
      for await (const piece of readLog(path, { follow: false, timestamps: false, ...options }, watcher, signal)) {
        pieces.push(piece)
      }
      return Buffer.concat(pieces).toString()
    }
    try {
      appendFileSync(path, 'line\n')
      expect(await read({ sinceTimeMs: clock.now() + 1_000 })).toBe('')
      expect(await read({ timestamps: true })).toBe('2026-01-01T00:00:00.000000000Z line\n')
    } finally {
      watcher.close()
    }
  })
})

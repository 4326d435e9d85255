import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { logFileBytesMax, logFilesMax, logSegments, rotateLog } from './log-segments.ts'

describe('rotateLog', () => {
  it('puts what is there aside, so that positions stay what they were', () => {
    const path = join(temporaryDirectory(), 'log')
    writeFileSync(path, 'first\n')
    rotateLog(path)
    appendFileSync(path, 'second\n')
    expect(logSegments(path).map(({ start, bytes }) => [start, bytes])).toEqual([
      [0, 6],
      [6, 7],
    ])
  })

  it('keeps the end of a file that has grown out of hand, and takes a bounded time for it', () => {
    const path = join(temporaryDirectory(), 'log')
    writeFileSync(path, '')
    const size = 3 * 1024 ** 3
    truncateSync(path, size)
    appendFileSync(path, 'the end\n')
    rotateLog(path)
    const [kept, current] = logSegments(path)
    expect(kept?.bytes).toBe(2 * logFileBytesMax)
    expect(
      readFileSync(kept?.path ?? '')
        .subarray(-8)
        .toString(),
    ).toBe('the end\n')
    expect(current).toMatchObject({ start: size + 8, bytes: 0 })
    expect(statSync(path).size).toBe(0)
  })

  it('keeps so many files', () => {
    const path = join(temporaryDirectory(), 'log')
    for (let index = 0; index < 10; index += 1) {
      writeFileSync(path, `${index}\n`)
      rotateLog(path)
    }
    expect(logSegments(path).map(({ start }) => start)).toEqual([12, 14, 16, 18, 20])
    expect(logSegments(path)).toHaveLength(logFilesMax)
  })
})

import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseTime } from '@coracle/api'
import { realClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { LogReadOptions } from '../../log-options.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { logBytesMax, logFiles, logFilesMax, rotateLog } from './log-files.ts'
import { fullTime, parseEntry } from './log-format.ts'
import { type LogWriter, readCriLog } from './log-reader.ts'

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.5Z`
const entry = (second: number, text: string, tag = 'F') => `${at(second)} stdout ${tag} ${text}\n`
const timeMs = (second: number) => parseTime(at(second))

const stopped: LogWriter = { isRunning: async () => false, onStop: () => () => {} }

async function logOf(...files: readonly (readonly [string, string])[]): Promise<string> {
  const directory = join(temporaryDirectory(), 'main')
  await mkdir(directory)
  for (const [name, text] of files) await writeFile(join(directory, name), text)
  return join(directory, '0.log')
}

async function read(path: string, options: Partial<LogReadOptions> = {}, writer = stopped): Promise<string> {
  const parts = { clock: realClock, writer }
  const all = { follow: false, timestamps: false, ...options }
  let text = ''
  for await (const piece of readCriLog(path, all, parts, new AbortController().signal)) text += Buffer.from(piece)
  return text
}

describe('an entry of a log', () => {
  it.each([
    ['2026-01-01T00:00:00.5Z stdout F hello world', { stream: 'stdout', isPartial: false, content: 'hello world' }],
    ['2026-01-01T00:00:00.5Z stderr P half', { stream: 'stderr', isPartial: true, content: 'half' }],
    ['2026-01-01T00:00:00.5Z stdout F:x more', { isPartial: false, content: 'more' }],
    ['2026-01-01T00:00:00.5Z stdout F', { content: '' }],
    ['2026-01-01T00:00:00.5Z stdout F ', { content: '' }],
  ])('%s', (line, expected) => {
    const found = parseEntry(Buffer.from(line))
    expect(found && { ...found, content: found.content.toString() }).toMatchObject(expected)
  })

  it.each(['', 'hello', '2026-01-01T00:00:00Z stdout', '2026-01-01T00:00:00Z stdout X text'])('is not %j', (line) => {
    expect(parseEntry(Buffer.from(line))).toBeUndefined()
  })

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000000Z'],
    ['2026-01-01T00:00:00.12Z', '2026-01-01T00:00:00.120000000Z'],
    ['2026-01-01T00:00:00.123456789+02:00', '2026-01-01T00:00:00.123456789+02:00'],
  ])('has its time in full: %s', (time, expected) => {
    expect(fullTime(time)).toBe(expected)
  })
})

describe('a log', () => {
  it('is read across the files it was put aside in, without what stands before its lines', async () => {
    const path = await logOf(
      ['0.log.20260101-000001', entry(1, 'one')],
      ['0.log.20260101-000002', entry(2, 'two')],
      ['0.log', entry(3, 'th', 'P') + entry(3, 'ree')],
      ['1.log', entry(4, 'other')],
    )
    expect(await read(path)).toBe('one\ntwo\nthree\n')
    expect(await read(path, { timestamps: true })).toBe(
      [1, 2, 3].map((n) => `2026-01-01T00:00:0${n}.500000000Z ${['one', 'two', 'three'][n - 1]}\n`).join(''),
    )
  })

  it.each([
    [0, ''],
    [1, 'd\n'],
    [2, 'c\nd\n'],
    [3, 'b\nc\nd\n'],
    [9, 'a\nb\nc\nd\n'],
  ])('is read from its last %i lines on', async (tailLines, expected) => {
    const path = await logOf(
      ['0.log.20260101-000001', entry(1, 'a') + entry(2, 'b')],
      ['0.log', entry(3, 'c') + entry(4, 'd')],
    )
    expect(await read(path, { tailLines })).toBe(expected)
  })

  it('has no more than its last lines, whatever is written while they are read', async () => {
    const path = await logOf(['0.log', entry(1, 'one') + entry(2, 'two') + entry(3, 'three')])
    const options = { follow: false, timestamps: false, tailLines: 2 }
    const parts = { clock: realClock, writer: stopped }
    const taken: string[] = []
    for await (const piece of readCriLog(path, options, parts, new AbortController().signal)) {
      taken.push(String(Buffer.from(piece)))
      if (taken.length === 1) await appendFile(path, entry(4, 'four'))
    }
    expect(taken).toEqual(['two\n', 'three\n'])
  })

  it('is read since a moment, and no more of it than is wanted', async () => {
    const path = await logOf(['0.log', entry(1, 'one') + entry(2, 'two') + entry(3, 'three')])
    expect(await read(path, { sinceTimeMs: timeMs(2) })).toBe('two\nthree\n')
    expect(await read(path, { limitBytes: 5 })).toBe('one\nt')
  })

  it('is there although it has yet to be written', async () => {
    expect(await read(join(temporaryDirectory(), 'none', '0.log'))).toBe('')
  })

  it('is followed until its container has stopped, also while it is put aside', async () => {
    const path = await logOf(['0.log', entry(1, 'one')])
    let isRunning = true
    let stop = () => {}
    const writer: LogWriter = {
      isRunning: async () => isRunning,
      onStop(listener) {
        stop = listener
        return () => {}
      },
    }
    const parts = { clock: realClock, writer }
    const pieces = readCriLog(path, { follow: true, timestamps: false }, parts, new AbortController().signal)
    const next = async () => {
      const { value } = await pieces.next()
      return value === undefined ? undefined : Buffer.from(value).toString()
    }
    expect(await next()).toBe('one\n')
    await appendFile(path, entry(2, 'two'))
    expect(await next()).toBe('two\n')
    await appendFile(path, entry(3, 'three'))
    await rename(path, `${path}.20260101-000003`)
    await writeFile(path, entry(4, 'four'))
    expect([await next(), await next()]).toEqual(['three\n', 'four\n'])
    await appendFile(path, entry(5, 'five'))
    isRunning = false
    stop()
    expect([await next(), await next()]).toEqual(['five\n', undefined])
  })

  it('is followed without a gap by who is slow, however often it was put aside meanwhile', async () => {
    const path = await logOf(['0.log', entry(0, 'zero')])
    let isRunning = true
    const writer: LogWriter = { isRunning: async () => isRunning, onStop: () => () => {} }
    const options = { follow: true, timestamps: false }
    const pieces = readCriLog(path, options, { clock: realClock, writer }, new AbortController().signal)
    const taken = [String(Buffer.from((await pieces.next()).value ?? []))]
    await appendFile(path, entry(1, 'one'))
    for (const [second, text] of ['two', 'three', 'four'].entries()) {
      await rename(path, `${path}.20260101-00000${second}`)
      await writeFile(path, entry(second, text))
    }
    isRunning = false
    for await (const piece of pieces) taken.push(String(Buffer.from(piece)))
    expect(taken.join('')).toBe('zero\none\ntwo\nthree\nfour\n')
  })

  it('is followed without a gap where it is written to and put aside at the same moment', async () => {
    const path = await logOf(['0.log', ''])
    let isRunning = true
    const writer: LogWriter = { isRunning: async () => isRunning, onStop: () => () => {} }
    const following = read(path, { follow: true }, writer)
    const rotations = 100
    for (let rotation = 0; rotation < rotations; rotation += 1) {
      await appendFile(path, entry(0, `${rotation} first`))
      // At once, as far as anybody else can see.
      appendFileSync(path, entry(0, `${rotation} last`))
      renameSync(path, `${path}.20260101-${String(rotation).padStart(6, '0')}`)
      writeFileSync(path, '')
    }
    isRunning = false
    const expected = Array.from({ length: rotations }, (_, rotation) => `${rotation} first\n${rotation} last\n`)
    expect(await following).toBe(expected.join(''))
  })

  it('ends for who no longer wants it', async () => {
    const path = await logOf(['0.log', entry(1, 'one')])
    const writer: LogWriter = { isRunning: async () => true, onStop: () => () => {} }
    const leaving = new AbortController()
    const options = { follow: true, timestamps: false }
    const pieces = readCriLog(path, options, { clock: realClock, writer }, leaving.signal)
    await pieces.next()
    const end = pieces.next()
    leaving.abort()
    expect((await end).done).toBe(true)
  })
})

describe('a log that has grown', () => {
  const large = Buffer.alloc(logBytesMax, 'x').toString()
  const namesOf = async (path: string) => (await readdir(join(path, '..'))).sort()

  it('is put aside, and the runtime begins another', async () => {
    const path = await logOf(['0.log', large])
    expect(await rotateLog(path, timeMs(7), () => writeFile(path, 'new'))).toBe(true)
    expect(await namesOf(path)).toEqual(['0.log', '0.log.20260101-000007'])
    expect(await readFile(path, 'utf8')).toBe('new')
  })

  it('is left alone before that', async () => {
    const path = await logOf(['0.log', 'small'])
    expect(await rotateLog(path, timeMs(7), () => Promise.reject(new Error('not asked')))).toBe(false)
  })

  it('stays as it was where the runtime begins no other', async () => {
    const path = await logOf(['0.log', large])
    await expect(rotateLog(path, timeMs(7), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await namesOf(path)).toEqual(['0.log'])
  })

  it('has no more files than it may', async () => {
    const aside = Array.from({ length: logFilesMax }, (_, n) => [`0.log.20260101-00000${n}`, 'x'] as const)
    const path = await logOf(...aside, ['0.log', large])
    await rotateLog(path, timeMs(9), () => writeFile(path, 'new'))
    expect(await logFiles(path)).toHaveLength(logFilesMax)
    expect(await namesOf(path)).not.toContain('0.log.20260101-000000')
  })
})

import { describe, expect, it } from 'vitest'
import { frame } from '../../testing/fake-engine.ts'
import { EntryReader, entryBytesMax } from './log-entries.ts'

const times = [1, 2, 3].map((second) => `2026-01-01T00:00:0${second}.000000000Z`)
const [first = '', second = '', third = ''] = times

/** The entries of a log that comes in pieces of a size. */
function entriesOf(log: Buffer, isTerminal: boolean, pieceBytes = log.length) {
  const reader = new EntryReader(isTerminal)
  const entries = []
  for (let start = 0; start < log.length; start += pieceBytes)
    entries.push(...reader.read(log.subarray(start, start + pieceBytes)))
  return [...entries, ...reader.end()].map(({ time, stream, isPartial, content }) => [
    time,
    stream,
    isPartial ? 'P' : 'F',
    content.toString(),
  ])
}

describe('the log of a container', () => {
  const log = Buffer.concat([
    frame('stdout', `${first} hello\n`),
    frame('stderr', `${second} wrong\n`),
    frame('stdout', ''),
    frame('stdout', `${second} \n`),
    frame('stdout', `${third} no end`),
  ])
  const expected = [
    [first, 'stdout', 'F', 'hello'],
    [second, 'stderr', 'F', 'wrong'],
    [second, 'stdout', 'F', ''],
    [third, 'stdout', 'P', 'no end'],
  ]

  it.each([log.length, 1, 7, 40])('is taken apart where it comes in pieces of %i bytes', (pieceBytes) => {
    expect(entriesOf(log, false, pieceBytes)).toEqual(expected)
  })

  it('has long lines in parts', () => {
    const part = 'x'.repeat(entryBytesMax)
    const cut = Buffer.concat([frame('stdout', `${first} ${part}`), frame('stdout', `${first} end\n`)])
    const whole = frame('stdout', `${first} ${part}end\n`)
    for (const each of [cut, whole]) {
      expect(entriesOf(each, false, 1000)).toEqual([
        [first, 'stdout', 'P', part],
        [first, 'stdout', 'F', 'end'],
      ])
    }
  })

  it('is refused where it is something else', () => {
    expect(() => entriesOf(Buffer.from('a plain text'), false)).toThrow(/something else than frames/)
  })
})

describe('the log of a terminal', () => {
  const part = 'x'.repeat(entryBytesMax)
  const log = Buffer.from(`${first} one\r\n${second} ${part}${second} two\r\n${third} $ `)

  it.each([log.length, 1, 100])('is taken apart where it comes in pieces of %i bytes', (pieceBytes) => {
    expect(entriesOf(log, true, pieceBytes)).toEqual([
      [first, 'stdout', 'F', 'one\r'],
      [second, 'stdout', 'P', part],
      [second, 'stdout', 'F', 'two\r'],
      [third, 'stdout', 'P', '$ '],
    ])
  })
})

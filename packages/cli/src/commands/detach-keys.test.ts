import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { detachKeysDefault, detachSequence, untilDetached } from './detach-keys.ts'

describe('a sequence of keys', () => {
  it.each<[string, readonly number[]]>([
    [detachKeysDefault, [16, 17]],
    ['ctrl-@', [0]],
    ['ctrl-a,b', [1, 98]],
    ['ctrl-[,ctrl-\\,ctrl-],ctrl-^,ctrl-_', [27, 28, 29, 30, 31]],
    ['DEL', [127]],
  ])('%s is %j', (keys, bytes) => {
    expect(detachSequence(keys)).toEqual(bytes)
  })

  it.each([
    ['ctrl-P', 'ctrl-P'],
    ['ctrl-p,', ''],
    ['ctrl-p, ctrl-q', ' ctrl-q'],
    ['é', 'é'],
  ])('%s is none', (keys, wrong) => {
    expect(() => detachSequence(keys)).toThrow(`could not bind detach keys: Unknown character: '${wrong}'`)
  })
})

describe('what is typed', () => {
  /** What comes through of pieces that are typed one after another, and whether they detached. */
  async function typed(keys: string, ...pieces: readonly string[]) {
    let detached = 0
    const proxy = untilDetached(detachSequence(keys), () => {
      detached += 1
    })
    const passed = await buffer(Readable.from(pieces.map((piece) => Buffer.from(piece))).pipe(proxy))
    return [passed.toString(), detached]
  }

  it.each<[string, readonly string[], string, number]>([
    ['goes on as it is', ['hello', ' world'], 'hello world', 0],
    ['ends before the sequence', ['before\x10\x11after', 'more'], 'before', 1],
    ['ends where the sequence comes in pieces', ['before\x10', '\x11after'], 'before', 1],
    ['goes on where only the beginning comes', ['a\x10b', 'c'], 'a\x10bc', 0],
    ['goes on where the beginning comes in a piece of its own', ['a', '\x10', 'b'], 'a\x10b', 0],
    ['ends with the beginning of the sequence', ['a\x10'], 'a\x10', 0],
    ['takes a key that breaks the sequence for no beginning, as upstream does', ['\x10\x10\x11'], '\x10\x10\x11', 0],
  ])('%s', async (_, pieces, passed, detached) => {
    expect(await typed(detachKeysDefault, ...pieces)).toEqual([passed, detached])
  })
})

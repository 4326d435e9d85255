import { describe, expect, it } from 'vitest'
import { KeyTurns } from './key-turns.ts'

describe('turns at a key', () => {
  it('come one after the other, in order, past those that fail', async () => {
    const turns = new KeyTurns()
    const log: string[] = []
    const act = (name: string) => async () => {
      log.push(`${name} begins`)
      await Promise.resolve()
      log.push(`${name} ends`)
      if (name === 'a') throw new Error('a failed')
      return name
    }
    const done = await Promise.allSettled([
      turns.take('k', act('a')),
      turns.take('k', act('b')),
      turns.take('k', act('c')),
    ])
    expect(done.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  it('are taken by key, and forgotten when they are over', async () => {
    const turns = new KeyTurns()
    const end = Promise.withResolvers<void>()
    const long = turns.take('k', () => end.promise)
    expect([turns.isTaken('k'), turns.isTaken('other')]).toEqual([true, false])
    expect(await turns.take('other', async () => 1)).toBe(1)
    end.resolve()
    await long
    expect(turns.isTaken('k')).toBe(false)
  })
})

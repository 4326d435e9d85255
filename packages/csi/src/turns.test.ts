import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

it('does work for one key in order, whether it fails or not, and for others meanwhile', async () => {
  const turns = new Turns()
  const done: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = turns.take('a', async () => {
    await gate.promise
    done.push('first')
    throw new Error('no')
  })
  const second = turns.take('a', async () => done.push('second'))
  await turns.take('b', async () => done.push('other'))
  expect(done).toEqual(['other'])
  gate.resolve()
  await expect(first).rejects.toThrow('no')
  await second
  expect(done).toEqual(['other', 'first', 'second'])
})

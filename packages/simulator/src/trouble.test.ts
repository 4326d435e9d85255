import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { aftermathMs, Trouble } from './trouble.ts'

it('begins with a fault, and ends when what it broke has recovered', async () => {
  const { clock } = virtualEnvironment()
  const trouble = new Trouble(clock)
  expect(trouble.sinceMs).toBeUndefined()
  await clock.advance('1s')
  const startMs = clock.now()
  trouble.lasts(5000)
  await clock.advance(5000 + aftermathMs)
  expect(trouble.sinceMs).toBe(startMs)
  await clock.advance(1)
  expect(trouble.sinceMs).toBeUndefined()
})

it('goes on where another fault comes before that', async () => {
  const { clock } = virtualEnvironment()
  const trouble = new Trouble(clock)
  const startMs = clock.now()
  trouble.lasts(1000)
  await clock.advance(aftermathMs)
  const ends = trouble.begins()
  await clock.advance('1h')
  expect(trouble.sinceMs).toBe(startMs)
  ends()
  await clock.advance(aftermathMs + 1)
  expect(trouble.sinceMs).toBeUndefined()
})

import { expect, it } from 'vitest'
import { forkEnvironment, virtualEnvironment } from './environment.ts'

it('gives a component a wall clock of its own, and time that passes as for all others', async () => {
  const environment = virtualEnvironment({ start: '2026-01-01T00:00:00Z' })
  const { clock } = forkEnvironment(environment, 'node-1', -5000)
  expect(new Date(clock.now()).toISOString()).toBe('2025-12-31T23:59:55.000Z')
  const fired: number[] = []
  clock.setTimer(1000, () => fired.push(clock.monotonicMs()))
  await environment.clock.advance('1s')
  expect(fired).toEqual([1000])
  expect(environment.clock.now() - clock.now()).toBe(5000)
})

it('gives components randomness of their own', () => {
  const draws = (other: number) => {
    const environment = virtualEnvironment({ seed: 3 })
    for (let draw = 0; draw < other; draw++) environment.random.next()
    return forkEnvironment(environment, 'scheduler').random.uuid()
  }
  expect(draws(5)).toBe(draws(0))
})

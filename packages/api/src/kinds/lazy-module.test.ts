import { expect, it } from 'vitest'
import { lazyModule } from './lazy-module.ts'

it('is loaded once, and nothing is to be waited for from then on', async () => {
  let loads = 0
  const checks = lazyModule('the checks', async () => ({ number: ++loads }))
  expect(() => checks.get()).toThrow('the checks are not loaded: await the load of the strategy first')
  await checks.load()
  expect(checks.get()).toEqual({ number: 1 })
  expect(checks.load()).toBeUndefined()
  expect(loads).toBe(1)
})

it('is tried again where it could not be loaded', async () => {
  let attempts = 0
  const checks = lazyModule('the checks', async () => {
    if (++attempts === 1) throw new Error('no such file')
    return attempts
  })
  await expect(checks.load()).rejects.toThrow('no such file')
  await checks.load()
  expect(checks.get()).toBe(2)
})

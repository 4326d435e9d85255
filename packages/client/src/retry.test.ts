import { ApiError, staleVersion } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { conflictTriesMax, retryOnConflict } from './retry.ts'

const conflict = () => staleVersion({ group: '', plural: 'pods' }, 'web')

describe('retryOnConflict', () => {
  it('tries again until the write goes through', async () => {
    const environment = virtualEnvironment()
    let tries = 0
    const result = retryOnConflict(async () => {
      tries++
      if (tries < 3) throw conflict()
      return 'written'
    }, environment)
    await environment.clock.advance('1s')
    expect(await result).toBe('written')
    expect(tries).toBe(3)
  })

  it('gives up with the conflict after its last try', async () => {
    const environment = virtualEnvironment()
    let tries = 0
    const result = retryOnConflict(async () => {
      tries++
      throw conflict()
    }, environment).catch((error: unknown) => error)
    await environment.clock.advance('1m')
    expect(await result).toMatchObject({ reason: 'Conflict' })
    expect(tries).toBe(conflictTriesMax)
  })

  it('passes other errors on at once', async () => {
    const environment = virtualEnvironment()
    let tries = 0
    const write = async () => {
      tries++
      throw new ApiError(403, 'Forbidden', 'no')
    }
    await expect(retryOnConflict(write, environment)).rejects.toMatchObject({ reason: 'Forbidden' })
    expect(tries).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import { detachedVariables, isDetached } from './detached-program.ts'

describe('the environment of a program that is started detached', () => {
  it('is that of the one that starts it, without what npm told that one', () => {
    expect(detachedVariables({ PATH: '/bin', npm_command: 'exec' })).toMatchObject({ PATH: '/bin' })
    expect(detachedVariables({ npm_command: 'exec' })).not.toHaveProperty('npm_command')
    expect(isDetached(detachedVariables({}))).toBe(true)
  })

  it('has the C library give freed memory back, unless it says itself when', () => {
    expect(detachedVariables({})).toMatchObject({ MALLOC_TRIM_THRESHOLD_: '4194304' })
    expect(detachedVariables({ MALLOC_TRIM_THRESHOLD_: '1048576' })).toMatchObject({
      MALLOC_TRIM_THRESHOLD_: '1048576',
    })
  })
})

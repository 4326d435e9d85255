import { describe, expect, it } from 'vitest'
import { createAddressPool } from './addresses.ts'

describe('address pool', () => {
  it('gives each address to one holder, and none when all are taken', () => {
    const pool = createAddressPool('127.1.0.254', 3)
    expect([pool.take(), pool.take(), pool.take(), pool.take()]).toEqual([
      '127.1.0.254',
      '127.1.0.255',
      '127.1.1.0',
      undefined,
    ])
    pool.release('127.1.0.255')
    expect(pool.take()).toBe('127.1.0.255')
  })

  it('takes one that became free only after all others', () => {
    const pool = createAddressPool('127.1.0.1', 3)
    const first = pool.take() ?? ''
    pool.release(first)
    expect([pool.take(), pool.take(), pool.take()]).toEqual(['127.1.0.2', '127.1.0.3', '127.1.0.1'])
  })

  it('prefers the one asked for where it is free, and keeps claimed ones', () => {
    const pool = createAddressPool('127.1.0.1', 3)
    expect(pool.claim('127.1.0.1')).toBe(true)
    expect(pool.claim('10.0.0.1')).toBe(false)
    expect(pool.take('127.1.0.3')).toBe('127.1.0.3')
    expect(pool.take('127.1.0.3')).toBe('127.1.0.2')
  })
})

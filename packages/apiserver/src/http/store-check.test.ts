import { virtualEnvironment } from '@coracle/environment'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { storeAnswerMaxMs, storeCheck } from './store-check.ts'
import { TestServer } from './testing/test-server.ts'

describe('the check of the store', () => {
  it('fails where the store does not answer in time, and asks once for all who wait', async () => {
    const { clock } = virtualEnvironment()
    let asked = 0
    const askStore = () => {
      asked += 1
      return new Promise<void>(() => {})
    }
    const check = storeCheck({ askStore }, clock)
    const answers = Promise.all([check.check(), check.check()])
    await clock.advance(storeAnswerMaxMs)
    const why = 'the store has not answered within 2000 ms'
    expect(await answers).toEqual([why, why])
    expect(asked).toBe(1)
  })

  it('leaves no timer behind where it does', async () => {
    const { clock } = virtualEnvironment()
    const check = storeCheck({ askStore: async () => {} }, clock)
    expect(await check.check()).toBeUndefined()
    const before = clock.now()
    await clock.settle()
    expect(clock.now()).toBe(before)
  })
})

describe('a server on a store that others write to', () => {
  it('is ready as long as the store answers, and again when it does again', async () => {
    const store = faultyStore(createMemoryStore())
    const server = await TestServer.start({ store })
    const all =
      '[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\n[+]poststarthook/rbac/bootstrap-roles ok\nreadyz check passed\n'
    expect((await server.call('/readyz?verbose')).text).toBe(all)
    store.cut()
    const failed = await server.call('/readyz')
    expect([failed.code, failed.text]).toEqual([500, expect.stringContaining('[-]etcd failed: reason withheld\n')])
    expect((await server.call('/readyz/etcd')).text).toContain('the network is gone')
    expect((await server.call('/livez')).code).toBe(500)
    expect((await server.call('/livez?exclude=etcd')).code).toBe(200)
    store.restore()
    expect((await server.call('/readyz')).text).toBe('ok')
    await server.close()
  })
})

import { EventEmitter } from 'node:events'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { Exchange } from './exchange.ts'
import { Exchanges } from './exchanges.ts'

/** An exchange whose answer is written as far as `state` says, and the network has not taken it. */
function answering(startedMs: number, state: { readonly headersSent: boolean; readonly writableEnded: boolean }) {
  const response = Object.assign(new EventEmitter(), { ...state, isDestroyed: false, destroy })
  function destroy(): void {
    response.isDestroyed = true
    response.emit('close')
  }
  return { exchange: { startedMs, request: { complete: true }, response } as unknown as Exchange, response }
}

describe('an answer that is written to its end when the time is over', () => {
  it.each([
    ['of the client', '3s', 3_000],
    ['of all requests', '60s', undefined],
  ] as const)('goes out whole where the time is that %s', async (_, time, limitMs) => {
    const environment = virtualEnvironment()
    const exchanges = new Exchanges(environment)
    const { exchange, response } = answering(environment.clock.monotonicMs(), {
      headersSent: true,
      writableEnded: true,
    })
    exchanges.begin(exchange)
    if (limitMs !== undefined) exchanges.limit(exchange, limitMs)
    await environment.clock.advance(time)
    expect(response.isDestroyed).toBe(false)
    // A client that does not take it holds its bytes here no longer than that.
    await environment.clock.advance('62s')
    expect(response.isDestroyed).toBe(true)
  })

  it('is broken off where more was to come', async () => {
    const environment = virtualEnvironment()
    const exchanges = new Exchanges(environment)
    const { exchange, response } = answering(environment.clock.monotonicMs(), {
      headersSent: true,
      writableEnded: false,
    })
    exchanges.begin(exchange)
    exchanges.limit(exchange, 3_000)
    await environment.clock.advance('3s')
    expect(response.isDestroyed).toBe(true)
  })
})

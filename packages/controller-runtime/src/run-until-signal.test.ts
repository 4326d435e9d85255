import { createFakeClient } from '@coracle/client/testing'
import { silentLogger, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { createManager } from './manager.ts'
import { runUntilSignal } from './run-until-signal.ts'

describe('runUntilSignal', () => {
  it.each([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('stops at %s, and leaves the next signal, whichever it is, to end the process', async (first, next) => {
    const environment = virtualEnvironment()
    const manager = createManager({ client: createFakeClient(environment), environment })
    const others = process.listenerCount(next)
    const running = runUntilSignal(manager, { logger: silentLogger })
    await environment.clock.settle()
    process.emit(first, first)
    expect(process.listenerCount(next)).toBe(others)
    await environment.clock.settle()
    await running
  })
})

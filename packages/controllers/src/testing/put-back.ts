import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type Controller, createManager } from '@coracle/controller-runtime'
import { type Clock, type VirtualClock, virtualEnvironment } from '@coracle/environment'
import { onTestFinished } from 'vitest'

/** A controller at work by a clock that can be put back. */
export interface AtWorkByClock {
  readonly client: FakeClient
  readonly clock: VirtualClock
  /** Puts the clock back by an hour, as somebody does who finds it wrong. All that waits goes on waiting as before. */
  putBack(): void
}

/** Starts a controller that works until the test is over. */
export async function atWorkByClock(controller: Controller): Promise<AtWorkByClock> {
  const { clock, ...others } = virtualEnvironment()
  let putBackMs = 0
  const settable: Clock = {
    now: () => clock.now() - putBackMs,
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback, options) => clock.setTimer(delayMs, callback, options),
    defer: (callback) => clock.defer(callback),
    hold: (work) => clock.hold(work),
    catchUp: () => clock.catchUp(),
  }
  const environment = { ...others, clock: settable }
  const client = createFakeClient(environment)
  const manager = createManager({ client, environment })
  onTestFinished(() => manager.stop())
  manager.add(controller)
  await manager.start()
  const putBack = () => {
    putBackMs += 3_600_000
  }
  return { client, clock, putBack }
}

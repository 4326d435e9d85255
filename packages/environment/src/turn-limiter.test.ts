import { describe, expect, it } from 'vitest'
import type { Clock } from './clock.ts'
import { TurnLimiter } from './turn-limiter.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A limiter whose turns end when the test says so. */
function limiterOf(perTurnMax: number) {
  const deferred: (() => void)[] = []
  const virtual = new VirtualClock()
  const clock: Clock = {
    now: () => virtual.now(),
    monotonicMs: () => virtual.monotonicMs(),
    setTimer: (delayMs, callback) => virtual.setTimer(delayMs, callback),
    defer: (callback) => deferred.push(callback),
    hold: (work) => work,
    catchUp: () => undefined,
  }
  const limiter = new TurnLimiter(clock, perTurnMax)
  const started: string[] = []
  const ask = (...names: string[]) => {
    for (const name of names) void limiter.take().then(() => started.push(name))
  }
  const settle = async () => {
    for (let hop = 0; hop < 10; hop++) await Promise.resolve()
  }
  const endTurn = async () => {
    for (const callback of deferred.splice(0)) callback()
    await settle()
  }
  return { ask, started, settle, endTurn, deferred }
}

describe('TurnLimiter', () => {
  it('starts as much in a turn as it may, and the rest in the next ones, in order', async () => {
    const { ask, started, settle, endTurn } = limiterOf(2)
    ask('a', 'b', 'c', 'd', 'e')
    await settle()
    expect(started).toEqual(['a', 'b'])
    await endTurn()
    expect(started).toEqual(['a', 'b', 'c', 'd'])
    ask('f')
    await endTurn()
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('counts what starts at once and what has waited together', async () => {
    const { ask, started, settle, endTurn } = limiterOf(2)
    ask('a', 'b', 'c')
    await endTurn()
    ask('d', 'e')
    await settle()
    expect(started).toEqual(['a', 'b', 'c', 'd'])
    await endTurn()
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('asks for no turn when there is nothing to do', async () => {
    const { ask, endTurn, deferred } = limiterOf(2)
    ask('a')
    await endTurn()
    expect(deferred).toEqual([])
  })
})

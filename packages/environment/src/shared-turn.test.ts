import { describe, expect, it } from 'vitest'
import type { Clock } from './clock.ts'
import { SharedTurn, sharedTurnMaxMs } from './shared-turn.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A clock that a test moves, whose turns end when it says so. */
function heldClock() {
  const deferred: (() => void)[] = []
  let nowMs = 0
  const virtual = new VirtualClock()
  const clock: Clock = {
    now: () => virtual.now(),
    monotonicMs: () => nowMs,
    setTimer: (delayMs, callback) => virtual.setTimer(delayMs, callback),
    defer: (callback) => deferred.push(callback),
    hold: (work) => work,
    catchUp: () => undefined,
  }
  const settle = async () => {
    for (let hop = 0; hop < 500; hop++) await Promise.resolve()
  }
  const endTurn = async () => {
    for (const callback of deferred.splice(0)) callback()
    await settle()
  }
  return { clock, deferred, settle, endTurn, work: (ms: number) => (nowMs += ms) }
}

/** A turn in which there has been enough work for somebody to look at the clock. */
function measuredTurn(clock: Clock): SharedTurn {
  const turn = new SharedTurn(clock)
  for (let piece = 0; piece < 8; piece += 1) expect(turn.take()).toBeUndefined()
  return turn
}

describe('SharedTurn', () => {
  it('gives way once all together have worked for long, however many they are', async () => {
    const { clock, settle, endTurn, work } = heldClock()
    const worked: number[] = []
    let worstMs = 0
    const workers = Array.from({ length: 20 }, async (_, worker) => {
      for (let piece = 0; piece < 50; piece += 1) {
        await SharedTurn.of(clock).giveWay()
        work(0.125)
        worked.push(worker)
      }
    })
    await settle()
    for (let turns = 1; worked.length < 1000; turns += 1) {
      const before = clock.monotonicMs()
      await endTurn()
      worstMs = Math.max(worstMs, clock.monotonicMs() - before)
      expect(turns).toBeLessThan(50)
    }
    await Promise.all(workers)
    // Beside it are the first few, of which nobody looks at the clock, and one piece of each that has begun.
    expect(worstMs).toBeGreaterThanOrEqual(sharedTurnMaxMs)
    expect(worstMs).toBeLessThan(2 * sharedTurnMaxMs)
  })

  it('lets work go on where little has been done, and counts anew in each turn', async () => {
    const { clock, endTurn, work } = heldClock()
    const turn = measuredTurn(clock)
    work(sharedTurnMaxMs - 1)
    expect(turn.take()).toBeUndefined()
    work(1)
    expect(turn.take()).toBeInstanceOf(Promise)
    await endTurn()
    expect(turn.take()).toBeUndefined()
  })

  it('asks for one turn, and for none where there is little to do', async () => {
    const { clock, deferred, endTurn } = heldClock()
    new SharedTurn(clock).take()
    expect(deferred).toHaveLength(0)
    const turn = measuredTurn(clock)
    turn.take()
    expect(deferred).toHaveLength(1)
    await endTurn()
    expect(deferred).toHaveLength(0)
  })
})

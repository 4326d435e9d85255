import { VirtualClock } from '@coracle/environment'
import { expect, it } from 'vitest'
import { turnMs, WorkTurns } from './work-turns.ts'

/** A clock that a test moves on by the time that work takes, and whose turns it steps through. */
class SteppedClock extends VirtualClock {
  workedMs = 0
  readonly #deferred: (() => void)[] = []
  override monotonicMs(): number {
    return this.workedMs
  }
  override defer(callback: () => void): void {
    this.#deferred.push(callback)
  }
  /** One turn: what was deferred before it, each with the promises it settles. */
  async turn(): Promise<void> {
    for (const callback of this.#deferred.splice(0)) {
      callback()
      for (let hop = 0; hop < 5; hop += 1) await Promise.resolve()
    }
  }
  get isIdle(): boolean {
    return this.#deferred.length === 0
  }
}

/** Begins pieces of work that take `ms` each, and notes in which turn each was done. */
function start(clock: SteppedClock, turns: WorkTurns, count: number, ms: number, done: number[]): void {
  for (let index = 0; index < count; index += 1) {
    const work = () => {
      clock.workedMs += ms
      done.push(index)
    }
    const wait = turns.take()
    if (wait === undefined) work()
    else void wait.then(work)
  }
}

it('lets work of little time begin at once', () => {
  const clock = new SteppedClock()
  const done: number[] = []
  start(clock, new WorkTurns(clock), 1_000, 0.001, done)
  expect(done).toHaveLength(1_000)
})

it('begins no more in a turn than there is time for, in the order of arrival', async () => {
  const clock = new SteppedClock()
  const done: number[] = []
  const pieces = 100
  start(clock, new WorkTurns(clock), pieces, turnMs / 4, done)
  let longestMs = clock.workedMs
  for (let turn = 0; turn < pieces && done.length < pieces; turn += 1) {
    const before = clock.workedMs
    await clock.turn()
    longestMs = Math.max(longestMs, clock.workedMs - before)
  }
  expect(done).toEqual(Array.from({ length: pieces }, (_, index) => index))
  // The first few are not measured.
  expect(longestMs).toBeLessThanOrEqual(turnMs + 8 * (turnMs / 4))
})

it('gives each piece of a time longer than a turn a turn of its own', async () => {
  const clock = new SteppedClock()
  const turns = new WorkTurns(clock)
  const begun: number[] = []
  for (let index = 0; index < 5; index += 1) {
    const work = () => {
      clock.workedMs += 10 * turnMs
      begun.push(index)
    }
    const wait = turns.take(true)
    if (wait === undefined) work()
    else void wait.then(work)
  }
  const perTurn: number[] = [begun.length]
  while (begun.length < 5) {
    const before = begun.length
    await clock.turn()
    if (begun.length > before) perTurn.push(begun.length - before)
    clock.workedMs += 1
  }
  expect(perTurn).toEqual([1, 1, 1, 1, 1])
})

it('rests after a large piece, for a part of the time it took, and serves small ones meanwhile', async () => {
  const clock = new SteppedClock()
  const turns = new WorkTurns(clock)
  const events: string[] = []
  const large = (name: string) => () => {
    events.push(`${clock.workedMs}: ${name}`)
    clock.workedMs += 40
  }
  for (const name of ['first', 'second']) {
    const wait = turns.take(true)
    if (wait === undefined) large(name)()
    else void wait.then(large(name))
  }
  await clock.turn()
  const wait = turns.take()
  void Promise.resolve(wait).then(() => events.push(`${clock.workedMs}: small`))
  for (let turn = 0; turn < 8; turn += 1) {
    await clock.turn()
    clock.workedMs += 1
  }
  expect(events).toEqual(['0: first', '41: small', '45: second'])
})

it('begins a large piece in each turn between small ones, however many of these there are', async () => {
  const clock = new SteppedClock()
  const turns = new WorkTurns(clock)
  const done: number[] = []
  let isDone = false
  start(clock, turns, 1_000, turnMs, done)
  void turns.take(true)?.then(() => {
    isDone = true
  })
  await clock.turn()
  await clock.turn()
  expect([isDone, done.length < 20]).toEqual([true, true])
})

it('ends a rest after some turns where the clock stands still', async () => {
  const clock = new SteppedClock()
  const turns = new WorkTurns(clock)
  turns.take(true)
  clock.workedMs += 1_000
  let isDone = false
  void turns.take(true)?.then(() => {
    isDone = true
  })
  for (let turn = 0; turn < 3_000 && !isDone; turn += 1) await clock.turn()
  expect(isDone).toBe(true)
})

it('serves the newest first where that is wanted, and all in the end', async () => {
  const clock = new SteppedClock()
  const done: number[] = []
  start(clock, new WorkTurns(clock, { newestFirst: true }), 30, turnMs, done)
  const waited = done.length
  while (done.length < 30) await clock.turn()
  expect(done.slice(waited)).toEqual(Array.from({ length: 30 - waited }, (_, index) => 29 - index))
})

it('leaves nothing deferred when there is nothing to do', async () => {
  const clock = new SteppedClock()
  const done: number[] = []
  start(clock, new WorkTurns(clock), 50, turnMs, done)
  for (let turn = 0; turn < 200; turn += 1) await clock.turn()
  expect([done.length, clock.isIdle]).toEqual([50, true])
})

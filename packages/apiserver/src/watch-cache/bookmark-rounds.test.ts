import { type TimerOptions, VirtualClock } from '@coracle/environment'
import { expect, it } from 'vitest'
import { BookmarkRounds, bookmarkIntervalMs } from './bookmark-rounds.ts'

/** A clock that counts the timers that are set on it. */
class CountingClock extends VirtualClock {
  timers = 0

  override setTimer(delayMs: number, callback: () => void, options?: TimerOptions) {
    this.timers += 1
    return super.setTimer(delayMs, callback, options)
  }
}

it('sets one timer a round, however many want bookmarks, and none where nobody does', async () => {
  const clock = new CountingClock()
  const rounds = new BookmarkRounds(clock)
  const told = Array.from({ length: 100 }, () => 0)
  for (const index of told.keys()) {
    rounds.join(() => {
      told[index] = (told[index] ?? 0) + 1
      return told[index] < 3
    })
  }
  await clock.advance(2 * bookmarkIntervalMs)
  expect([clock.timers, ...new Set(told)]).toEqual([3, 2])
  await clock.advance(10 * bookmarkIntervalMs)
  expect([clock.timers, ...new Set(told)]).toEqual([3, 3])
})

it('tells nobody who has left, and nobody once it is stopped', async () => {
  const clock = new VirtualClock()
  const rounds = new BookmarkRounds(clock)
  const told: string[] = []
  const tellers = ['left', 'stayed'].map((name) => () => told.push(name) > 0)
  for (const tell of tellers) rounds.join(tell)
  if (tellers[0] !== undefined) rounds.leave(tellers[0])
  await clock.advance(bookmarkIntervalMs)
  rounds.stop()
  await clock.advance(bookmarkIntervalMs)
  expect(told).toEqual(['stayed'])
})

it('lets idle time pass over its rounds, for which nobody waits', async () => {
  const clock = new VirtualClock()
  const rounds = new BookmarkRounds(clock)
  let told = 0
  rounds.join(() => {
    told += 1
    return true
  })
  await clock.advance('10h')
  expect(told).toBeLessThan(10)
})

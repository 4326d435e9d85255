import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CacheEvent } from './cache-event.ts'
import { EventHistory } from './event-history.ts'

const event = (revision: number) => ({ revision }) as CacheEvent

describe('the history of a resource', () => {
  it('has the latest events, and knows from when on it has all', () => {
    const history = new EventHistory(10, 3)
    for (const revision of [11, 12, 15, 20]) history.push(event(revision))
    expect(history.after(11).map(({ revision }) => revision)).toEqual([12, 15, 20])
    expect(history.after(15).map(({ revision }) => revision)).toEqual([20])
    expect(history.after(20)).toEqual([])
    expect(history.startRevision).toBe(11)
  })

  it('never holds more than its bound, however many come', () => {
    const history = new EventHistory(0, 100)
    for (let revision = 1; revision <= 1050; revision += 1) history.push(event(revision))
    expect(history.size).toBe(100)
    expect(history.startRevision).toBe(950)
    expect(history.after(950).map((each) => each.revision)).toEqual(Array.from({ length: 100 }, (_, at) => 951 + at))
  })

  it('forgets up to a revision; what has no events there loses nothing', () => {
    const history = new EventHistory(0, 100, 0)
    history.push(event(5))
    history.push(event(9))
    history.forget(3)
    expect(history.startRevision).toBe(0)
    history.forget(7)
    expect(history.startRevision).toBe(5)
    history.forget(1000)
    expect(history.startRevision).toBe(9)
    history.push(event(1001))
    expect(history.after(9).map(({ revision }) => revision)).toEqual([1001])
  })

  it('keeps its latest, however old they are', () => {
    const history = new EventHistory(0, 4, 2)
    const revisions = () => history.after(history.startRevision).map(({ revision }) => revision)
    for (const revision of [5, 9]) history.push(event(revision))
    history.forget(1000)
    expect([history.startRevision, revisions()]).toEqual([0, [5, 9]])
    history.push(event(1001))
    history.forget(1000)
    expect([history.startRevision, revisions()]).toEqual([5, [9, 1001]])
    for (const revision of [1002, 1003, 1004]) history.push(event(revision))
    history.forget(1001)
    expect([history.startRevision, revisions()]).toEqual([1001, [1002, 1003, 1004]])
  })

  it('keeps a hundred unless it is told otherwise', () => {
    const history = new EventHistory(0)
    for (let revision = 1; revision <= 150; revision += 1) history.push(event(revision))
    history.forget(150)
    expect([history.startRevision, history.size]).toEqual([50, 100])
  })

  it('takes in what was before, as far as there is room', () => {
    const revisions = (history: EventHistory, after: number) => history.after(after).map(({ revision }) => revision)
    const roomy = new EventHistory(10, 5)
    roomy.push(event(11))
    roomy.prepend([event(4), event(7), event(9)], 3)
    expect([roomy.startRevision, roomy.size, revisions(roomy, 3)]).toEqual([3, 4, [4, 7, 9, 11]])

    const tight = new EventHistory(10, 3)
    for (const revision of [11, 12]) tight.push(event(revision))
    tight.prepend([event(4), event(7), event(9)], 3)
    expect([tight.startRevision, tight.size, revisions(tight, 7)]).toEqual([7, 3, [9, 11, 12]])

    const full = new EventHistory(10, 2)
    for (const revision of [11, 12]) full.push(event(revision))
    full.prepend([event(4), event(7)], 3)
    expect([full.startRevision, revisions(full, 7)]).toEqual([7, [11, 12]])
  })

  it('takes in what was before also after it has forgotten its oldest', () => {
    const history = new EventHistory(0, 3, 0)
    for (const revision of [1, 2, 3, 4]) history.push(event(revision))
    history.forget(2)
    history.prepend([event(2)], 1)
    expect([history.startRevision, history.size, history.after(1).map(({ revision }) => revision)]).toEqual([
      1,
      3,
      [2, 3, 4],
    ])
  })

  it('goes on behind what it has forgotten altogether', () => {
    const history = new EventHistory(0, 10, 0)
    for (const revision of [1, 2, 3]) history.push(event(revision))
    history.forget(3)
    expect([history.startRevision, history.size, history.after(3)]).toEqual([3, 0, []])
    history.push(event(4))
    expect([history.startRevision, history.size]).toEqual([3, 1])
  })

  it('is, after any events and whatever was forgotten, what a list of the latest of them is', () => {
    const step = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ forget: fc.integer({ min: 0, max: 8 }) }),
      fc.record({ prepend: fc.integer({ min: 0, max: 5 }) }),
    )
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(6),
        (steps, eventsMax, eventsMin) => {
          const history = new EventHistory(0, eventsMax, eventsMin)
          // Every event there was, in order, of which the latest are kept.
          const all: number[] = []
          let [kept, start, now] = [[] as readonly number[], 0, 0]
          const keep = (revisions: readonly number[]) => {
            kept = revisions
            const [first] = kept
            const before = first === undefined ? all.at(-1) : all[all.indexOf(first) - 1]
            start = before ?? 0
          }
          for (const each of steps) {
            if ('push' in each) {
              now += each.push
              all.push(now)
              history.push(event(now))
              if (kept.length === eventsMax) keep([...kept.slice(1), now])
              else kept = [...kept, now]
            } else if ('forget' in each) {
              const revision = now - each.forget
              history.forget(revision)
              const left = Math.max(kept.filter((own) => own > revision).length, Math.min(eventsMin, kept.length))
              if (left < kept.length) keep(left === 0 ? [] : kept.slice(-left))
            } else {
              const older = all.filter((revision) => revision <= start).slice(-each.prepend || all.length)
              const first = older[0]
              history.prepend(older.map(event), first === undefined ? start : (all[all.indexOf(first) - 1] ?? 0))
              const room = eventsMax - kept.length
              const taken = room === 0 ? [] : older.slice(-room)
              if (taken.length > 0) keep([...taken, ...kept])
            }
            expect([history.startRevision, history.size]).toEqual([start, kept.length])
            const after = (revision: number) => history.after(revision).map((own) => own.revision)
            for (let from = start; from <= now; from += 1) expect(after(from)).toEqual(kept.filter((own) => own > from))
          }
        },
      ),
    )
  })
})

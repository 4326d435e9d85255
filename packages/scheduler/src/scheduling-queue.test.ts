import { VirtualClock } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { SchedulingQueue } from './scheduling-queue.ts'
import { makePod } from './testing/objects.ts'

describe('SchedulingQueue', () => {
  let clock: VirtualClock
  let queue: SchedulingQueue

  beforeEach(() => {
    clock = new VirtualClock(0)
    queue = new SchedulingQueue(clock, () => {})
  })

  const rest = (uid: string, group = uid) => queue.rest(uid, { group, refusedBy: new Set() })
  const taken = () => queue.take()?.metadata.name

  it('hands out by priority, then in the order pods came', () => {
    queue.set(makePod({}, 'first'))
    queue.set(makePod({}, 'second'))
    queue.set(makePod({ priority: 10 }, 'urgent'))
    expect([taken(), taken(), taken(), taken()]).toEqual(['urgent', 'first', 'second', undefined])
  })

  it('leaves those pods at rest that a change does not help', async () => {
    for (const name of ['a', 'b']) {
      queue.set(makePod({}, name))
      taken()
      rest(`uid-${name}`)
    }
    await clock.advance('1s')
    queue.retryResting(({ metadata }) => metadata.name === 'b')
    expect([taken(), taken()]).toEqual(['b', undefined])
  })

  it('lets a pod that fits nowhere rest until something changes, and then until its back-off is over', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    rest('uid-a')
    await clock.advance('10s')
    expect(taken()).toBeUndefined()
    queue.retryResting(() => true)
    expect(taken()).toBe('a')
    rest('uid-a')
    queue.retryResting(() => true)
    expect(taken()).toBeUndefined()
    await clock.advance('1999ms')
    expect(taken()).toBeUndefined()
    await clock.advance('1ms')
    expect(taken()).toBe('a')
  })

  describe('of pods that are alike', () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`)

    beforeEach(async () => {
      for (const name of names) {
        queue.set(makePod({}, name))
        taken()
        queue.rest(`uid-${name}`, { group: name === 'p0' ? 'other' : 'same', refusedBy: new Set(['NodeResourcesFit']) })
      }
      await clock.advance('1s')
    })

    it('asks about one what helps them, and wakes one', () => {
      const asked: [string | undefined, ...string[]][] = []
      queue.retryResting(({ metadata: { name } }, refusedBy) => asked.push([name, ...refusedBy]) > 1)
      expect(asked).toEqual([
        ['p0', 'NodeResourcesFit'],
        ['p1', 'NodeResourcesFit'],
      ])
      expect([taken(), taken()]).toEqual(['p1', undefined])
    })

    it('wakes the next when one has found a node, and no other when it has not', () => {
      queue.retryResting(({ metadata }) => metadata.name !== 'p0')
      for (const name of ['p1', 'p2', 'p3']) {
        expect([taken(), taken()]).toEqual([name, undefined])
        if (name === 'p3') rest(`uid-${name}`, 'same')
        else queue.placed(`uid-${name}`)
      }
      queue.remove('uid-p1')
      queue.failed('uid-p2')
      expect(taken()).toBeUndefined()
    })

    it('wakes the next when one goes that was woken, and none when one goes that rests', () => {
      queue.remove('uid-p1')
      expect(taken()).toBeUndefined()
      queue.retryResting(() => true)
      queue.remove('uid-p2')
      expect([taken(), taken(), taken()]).toEqual(['p0', 'p3', undefined])
    })

    it('wakes one whose back-off is over rather than one whose is not', async () => {
      queue.set(makePod({}, 'twice'))
      taken()
      queue.failed('uid-twice')
      await clock.advance('1s')
      taken()
      rest('uid-twice', 'two')
      queue.set(makePod({}, 'once'))
      taken()
      rest('uid-once', 'two')
      await clock.advance('1s')
      queue.retryResting(({ metadata }) => metadata.name === 'twice')
      expect([taken(), taken()]).toEqual(['once', undefined])
    })

    it('wakes another by each event, also while one backs off', async () => {
      for (const name of ['x', 'y']) {
        queue.set(makePod({}, name))
        taken()
        rest(`uid-${name}`, 'fresh')
      }
      const wake = () => queue.retryResting(({ metadata: { name } }) => name === 'x' || name === 'y')
      wake()
      wake()
      wake()
      expect(taken()).toBeUndefined()
      await clock.advance('1s')
      expect([taken(), taken(), taken()]).toEqual(['x', 'y', undefined])
    })
  })

  it('takes a pod out of those at rest with whichever of its ways out comes first', async () => {
    for (const name of ['a', 'b', 'c']) {
      queue.set(makePod({}, name))
      taken()
      rest(`uid-${name}`, 'all')
    }
    await clock.advance('1s')
    queue.set(makePod({ nodeSelector: { disk: 'ssd' } }, 'a'))
    queue.remove('uid-b')
    expect(queue.hasResting).toBe(true)
    await clock.advance('5m')
    expect(queue.hasResting).toBe(false)
    expect([taken(), taken(), taken()]).toEqual(['a', 'c', undefined])
  })

  it('tries again after five minutes even if nothing changes', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    rest('uid-a')
    await clock.advance('5m')
    expect(taken()).toBe('a')
  })

  it('backs off from 1 s doubling to 10 s after errors', async () => {
    queue.set(makePod({}, 'a'))
    const waits: number[] = []
    for (let round = 0; round < 6; round++) {
      expect(taken()).toBe('a')
      queue.failed('uid-a')
      const failedAtMs = clock.now()
      while (!queue.hasActive) await clock.advance('500ms')
      waits.push(clock.now() - failedAtMs)
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
  })

  it('forgets pods that are removed, whatever their state', async () => {
    queue.set(makePod({}, 'active'))
    queue.remove('uid-active')
    expect(taken()).toBeUndefined()
    queue.set(makePod({}, 'resting'))
    taken()
    queue.failed('uid-resting')
    queue.remove('uid-resting')
    await clock.advance('1h')
    expect(taken()).toBeUndefined()
  })

  it('takes a pod for a new one that comes again', async () => {
    queue.set(makePod({}, 'a'))
    for (let attempts = 0; attempts < 3; attempts++) {
      taken()
      queue.failed('uid-a')
      await clock.advance('10s')
    }
    queue.remove('uid-a')
    queue.set(makePod({}, 'a'))
    expect(taken()).toBe('a')
    queue.failed('uid-a')
    await clock.advance('1s')
    expect(taken()).toBe('a')
  })

  it('takes no more pods than it has room for, but newer states of those it has', () => {
    queue = new SchedulingQueue(clock, () => {}, 2)
    expect(['a', 'b', 'c', 'a'].map((name) => queue.set(makePod({}, name)))).toEqual([true, true, false, true])
    queue.remove('uid-b')
    expect(queue.set(makePod({}, 'c'))).toBe(true)
    expect([taken(), taken(), taken()]).toEqual(['a', 'c', undefined])
  })

  it('takes over the newer state of a queued pod', () => {
    queue.set(makePod({}, 'a'))
    queue.set(makePod({ priority: 5 }, 'a'))
    queue.set(makePod({ priority: 1 }, 'b'))
    expect([taken(), taken()]).toEqual(['a', 'b'])
  })

  it('calls back whenever there is something to take', async () => {
    let calls = 0
    queue = new SchedulingQueue(clock, () => calls++)
    queue.set(makePod({}, 'a'))
    expect(calls).toBe(1)
    taken()
    queue.failed('uid-a')
    expect(calls).toBe(1)
    await clock.advance('1s')
    expect(calls).toBe(2)
    expect(queue.hasActive).toBe(true)
    taken()
    expect(queue.hasActive).toBe(false)
  })

  it('tries a resting pod again when its spec changes, and not when its status does', async () => {
    const pod = makePod({}, 'a')
    queue.set(pod)
    taken()
    rest('uid-a')
    await clock.advance('1s')
    queue.set({ ...pod, status: { phase: 'Pending' } })
    expect(taken()).toBeUndefined()
    queue.set(makePod({ nodeSelector: { disk: 'ssd' } }, 'a'))
    expect(queue.take()?.spec.nodeSelector).toEqual({ disk: 'ssd' })
  })

  it('tries a pod again at once that changed while it was being tried', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    queue.set(makePod({ nodeSelector: { disk: 'ssd' } }, 'a'))
    rest('uid-a')
    await clock.advance('1s')
    expect(taken()).toBe('a')
  })

  it('does not hand out twice a pod whose wait is over by a change and by time', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    rest('uid-a')
    await clock.advance('10s')
    queue.retryResting(() => true)
    queue.retryResting(() => true)
    expect([taken(), taken()]).toEqual(['a', undefined])
    await clock.advance('10m')
    expect(taken()).toBeUndefined()
  })

  it('knows nothing of failures of pods that are gone', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    queue.remove('uid-a')
    queue.failed('uid-a')
    queue.remove('uid-a')
    await clock.advance('1h')
    expect(taken()).toBeUndefined()
  })

  it('hands out nothing once it is closed', async () => {
    for (const name of ['a', 'b']) queue.set(makePod({}, name))
    taken()
    queue.failed('uid-a')
    queue.close()
    await clock.advance('1h')
    expect([queue.hasActive, taken()]).toEqual([false, undefined])
  })
})

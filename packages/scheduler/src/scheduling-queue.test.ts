import type { Pod } from '@coracle/api'
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

  const rest = (uid: string, group = uid) => queue.rest(uid, { group, signature: group, refusedBy: new Set() })
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

  it('lets a pod that fits nowhere rest until something changes, and then be active when its back-off is over', async () => {
    queue.set(makePod({}, 'a'))
    taken()
    rest('uid-a')
    await clock.advance('10s')
    expect(taken()).toBeUndefined()
    queue.retryResting(() => true)
    expect(taken()).toBe('a')
    rest('uid-a')
    queue.retryResting(() => true)
    expect(queue.pending()).toEqual({ active: 0, backoff: 1, unschedulable: 0 })
    await clock.advance('1999ms')
    expect(queue.pending()).toMatchObject({ active: 0, backoff: 1 })
    await clock.advance('1ms')
    expect(queue.pending()).toMatchObject({ active: 1, backoff: 0 })
    expect([taken(), taken()]).toEqual(['a', undefined])
  })

  describe('where none is active', () => {
    const resting = (name: string, priority = 0) => {
      queue.set(makePod({ priority }, name))
      taken()
      rest(`uid-${name}`)
    }
    const wake = () => queue.retryResting(() => true)

    it('hands out one before its back-off is over, and once', async () => {
      resting('a')
      expect(queue.hasActive).toBe(false)
      wake()
      expect(queue.hasActive).toBe(true)
      expect([taken(), taken(), queue.hasActive]).toEqual(['a', undefined, false])
      await clock.advance('10m')
      expect(taken()).toBeUndefined()
    })

    it('hands out first the one whose back-off ends in the earliest second, of those the most important, then the first', async () => {
      resting('late')
      wake()
      taken()
      rest('uid-late')
      for (const [name, priority] of [
        ['a', 0],
        ['urgent', 10],
        ['b', 0],
      ] as const) {
        resting(name, priority)
      }
      wake()
      queue.set(makePod({ priority: -1 }, 'active'))
      expect([taken(), taken(), taken(), taken(), taken(), taken()]).toEqual([
        'active',
        'urgent',
        'a',
        'b',
        'late',
        undefined,
      ])
    })

    it('hands out none that failed by an error', async () => {
      queue.set(makePod({}, 'a'))
      taken()
      queue.failed('uid-a')
      expect([queue.hasActive, taken()]).toEqual([false, undefined])
      await clock.advance('1s')
      expect(taken()).toBe('a')
    })

    it('hands out none that is gone or closed, and each by its new priority', async () => {
      for (const name of ['a', 'b', 'c', 'd']) resting(name)
      wake()
      queue.remove('uid-a')
      queue.set(makePod({ priority: 5 }, 'c'))
      queue.set(makePod({ nodeSelector: { disk: 'ssd' } }, 'd'))
      expect([taken(), taken()]).toEqual(['c', 'b'])
      queue.close()
      expect([queue.hasActive, taken()]).toEqual([false, undefined])
    })

    it('calls back when there is one to hand out', () => {
      let calls = 0
      queue = new SchedulingQueue(clock, () => calls++)
      resting('a')
      expect(calls).toBe(1)
      wake()
      expect(calls).toBe(2)
    })
  })

  it('counts errors and attempts that find no node apart: each has a back-off of its own', async () => {
    queue.set(makePod({}, 'a'))
    const waits: number[] = []
    for (const end of ['failed', 'failed', 'rest', 'rest', 'failed', 'rest'] as const) {
      expect(taken()).toBe('a')
      if (end === 'failed') queue.failed('uid-a')
      else rest('uid-a')
      const endedMs = clock.now()
      queue.retryResting(() => true)
      while (queue.pending().active === 0) await clock.advance('500ms')
      waits.push(clock.now() - endedMs)
    }
    expect(waits).toEqual([1000, 2000, 1000, 2000, 1000, 4000])
  })

  describe('of pods that are alike', () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${String(index).padStart(2, '0')}`)

    beforeEach(async () => {
      for (const name of names) {
        queue.set(makePod({}, name))
        taken()
        const group = name === 'p00' ? 'other' : 'same'
        queue.rest(`uid-${name}`, { group, signature: group, refusedBy: new Set(['NodeResourcesFit']) })
      }
      await clock.advance('1s')
    })

    it('asks about one what helps them, and wakes one', () => {
      const asked: [string | undefined, ...string[]][] = []
      queue.retryResting(({ metadata: { name } }, refusedBy) => asked.push([name, ...refusedBy]) > 1)
      expect(asked).toEqual([
        ['p00', 'NodeResourcesFit'],
        ['p01', 'NodeResourcesFit'],
      ])
      expect([taken(), taken()]).toEqual(['p01', undefined])
    })

    it('wakes the next when one has found a node, and no other when it has not', () => {
      queue.retryResting(({ metadata }) => metadata.name !== 'p00')
      for (const name of ['p01', 'p02', 'p03']) {
        expect([taken(), taken()]).toEqual([name, undefined])
        if (name === 'p03') rest(`uid-${name}`, 'same')
        else queue.placed(`uid-${name}`)
      }
      queue.remove('uid-p01')
      queue.failed('uid-p02')
      expect(taken()).toBeUndefined()
    })

    it('wakes the next when one is not like them any more, and none when it is refused by others', () => {
      queue.retryResting(({ metadata }) => metadata.name !== 'p00')
      expect(taken()).toBe('p01')
      queue.rest('uid-p01', { group: 'refused by others', signature: 'same', refusedBy: new Set() })
      expect(taken()).toBeUndefined()
      queue.retryResting(({ metadata }) => metadata.name === 'p02')
      expect(taken()).toBe('p02')
      queue.rest('uid-p02', { group: 'unlike', signature: 'unlike', refusedBy: new Set() })
      expect([taken(), taken()]).toEqual(['p03', undefined])
    })

    it('wakes the next when one goes that was woken, and none when one goes that rests', () => {
      queue.remove('uid-p01')
      expect(taken()).toBeUndefined()
      queue.retryResting(() => true)
      queue.remove('uid-p02')
      expect([taken(), taken(), taken()]).toEqual(['p00', 'p03', undefined])
    })

    it('wakes one whose back-off is over rather than one whose is not', async () => {
      queue.set(makePod({}, 'a-twice'))
      taken()
      rest('uid-a-twice', 'two')
      queue.retryResting(({ metadata: { name } }) => name === 'a-twice')
      taken()
      rest('uid-a-twice', 'two')
      queue.set(makePod({}, 'once'))
      taken()
      rest('uid-once', 'two')
      await clock.advance('1s')
      queue.retryResting(({ metadata: { name } }) => name === 'a-twice')
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
      expect(queue.pending().backoff).toBe(1)
      wake()
      wake()
      expect(queue.pending().backoff).toBe(2)
      await clock.advance('1s')
      expect([taken(), taken(), taken()]).toEqual(['x', 'y', undefined])
    })
  })

  describe('in whichever order pods have been tried', () => {
    const aged = (name: string, second: number): Pod => {
      const { metadata, ...pod } = makePod({}, name)
      return { ...pod, metadata: { ...metadata, creationTimestamp: `2026-01-01T00:00:0${second}Z` } }
    }
    const tried = (...pods: readonly Pod[]) => {
      for (const pod of pods) {
        queue.set(pod)
        taken()
      }
    }

    it('wakes by one event the oldest first, and by name where they are of one second', async () => {
      const pods = [aged('c', 1), aged('b', 1), aged('d', 0), aged('a', 2)]
      tried(...pods)
      for (const { metadata } of pods) rest(`${metadata.uid}`)
      await clock.advance('1s')
      queue.retryResting(() => true)
      expect([taken(), taken(), taken(), taken()]).toEqual(['d', 'b', 'c', 'a'])
    })

    it('wakes the oldest of those that are alike', async () => {
      const pods = [aged('c', 1), aged('b', 1), aged('d', 0), aged('a', 2)]
      tried(...pods)
      for (const { metadata } of pods) rest(`${metadata.uid}`, 'same')
      await clock.advance('1s')
      queue.retryResting(() => true)
      for (const name of ['d', 'b', 'c', 'a']) {
        expect([taken(), taken()]).toEqual([name, undefined])
        queue.placed(`uid-${name}`)
      }
    })
  })

  describe('of a pod that was said to be unschedulable before the queue knew it', () => {
    const lastTransitionTime = '1970-01-01T00:00:10Z'
    const said = (reason: string): Pod => ({
      ...makePod({}, 'a'),
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason, lastTransitionTime }] },
    })
    /** How long it backs off after attempts that end so. */
    const waitsMs = async (...ends: readonly (() => void)[]): Promise<readonly number[]> => {
      const waits: number[] = []
      for (const end of ends) {
        expect(taken()).toBe('a')
        end()
        const endedMs = clock.now()
        queue.retryResting(() => true)
        while (queue.pending().active === 0) await clock.advance('100ms')
        waits.push(clock.now() - endedMs)
      }
      return waits
    }
    const finds = () => rest('uid-a')

    it('takes the first attempt for the one that said so, whose back-off is over', async () => {
      await clock.advance('11s')
      queue.set(said('Unschedulable'))
      expect(await waitsMs(finds, finds, finds)).toEqual([0, 2000, 4000])
    })

    it('waits for the rest of that back-off', async () => {
      await clock.advance('10700ms')
      queue.set(said('Unschedulable'))
      expect(await waitsMs(finds, finds)).toEqual([300, 2000])
    })

    it('begins anew after an error, and after a time that is yet to come', async () => {
      await clock.advance('5s')
      queue.set(said('Unschedulable'))
      expect(await waitsMs(finds)).toEqual([1000])
      queue.remove('uid-a')
      await clock.advance('1h')
      queue.set(said('Unschedulable'))
      expect(await waitsMs(() => queue.failed('uid-a'))).toEqual([1000])
      queue.remove('uid-a')
      queue.set(said('SchedulerError'))
      expect(await waitsMs(finds)).toEqual([1000])
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
    // As it comes over a network, where nothing is shared with the state before.
    queue.set(structuredClone({ ...pod, status: { phase: 'Pending', message: 'x' } }))
    expect(taken()).toBeUndefined()
    queue.set(makePod({ nodeSelector: { disk: 'ssd' } }, 'a'))
    expect(queue.take()?.spec.nodeSelector).toEqual({ disk: 'ssd' })
  })

  it('tries a resting pod again when its labels change, and not when they are written again', async () => {
    const pod = makePod({}, 'a')
    const labelled = (app: string): Pod => ({ ...pod, metadata: { ...pod.metadata, labels: { app } } })
    queue.set(labelled('web'))
    taken()
    rest('uid-a')
    await clock.advance('1s')
    queue.set(labelled('web'))
    expect(taken()).toBeUndefined()
    queue.set(labelled('shop'))
    expect(taken()).toBe('a')
  })

  it('counts the pods that wait, and not those that are being tried', () => {
    for (const name of ['resting', 'failed', 'tried', 'waiting']) queue.set(makePod({}, name))
    for (let tried = 0; tried < 3; tried++) taken()
    rest('uid-resting')
    queue.failed('uid-failed')
    expect(queue.pending()).toEqual({ active: 1, backoff: 1, unschedulable: 1 })
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

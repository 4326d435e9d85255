import { type Clock, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { WatchDelivery } from '../registry-contract.ts'
import { type CacheEvent, ObjectDelivery } from './cache-event.ts'
import {
  CacheWatcher,
  type CacheWatcherOptions,
  deliveriesPerTurnMax,
  deliveryUnder,
  heldDeliveriesMax,
  isInNamespace,
} from './cache-watcher.ts'
import { podEvent, podSelection, storedPod } from './testing/stored-pods.ts'

const stateOf = (...names: string[]): WatchDelivery[] =>
  names.map((name) => new ObjectDelivery('ADDED', storedPod(`default/${name}`)))

const change = (name: string, revision: number): CacheEvent => podEvent(`default/${name}`, {}, {}, revision)

/** A watcher whose deferred turns run when the test says so. */
function startWatcher(options: Partial<CacheWatcherOptions> = {}) {
  const turns: (() => void)[] = []
  const { clock } = virtualEnvironment()
  const lines: string[] = []
  const closed: CacheWatcher[] = []
  const deferring: Clock = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback, timerOptions) => clock.setTimer(delayMs, callback, timerOptions),
    defer: (callback) => turns.push(callback),
    hold: (work) => work,
    catchUp: () => undefined,
  }
  const watcher = new CacheWatcher(
    {
      selection: podSelection(),
      bookmarks: 'none',
      initial: [],
      afterSequence: 0,
      afterRevision: 0,
      endsAfterInitial: false,
      onEvent: ({ event: { type, object } }) => {
        const { metadata, message } = object as { metadata?: { name?: string }; message?: string }
        lines.push(`${type} ${metadata?.name ?? message}`)
        return true
      },
      onEnd: () => lines.push('end'),
      ...options,
    },
    deferring,
    (gone) => closed.push(gone),
  )
  const turn = () => turns.shift()?.()
  return { watcher, turn, turns, clock, closed, lines }
}

describe('a watcher', () => {
  it('delivers what it begins with, then what has come meanwhile, from a turn of its own', () => {
    const { watcher, turn, turns, lines } = startWatcher({ initial: stateOf('a', 'b') })
    watcher.notice(change('c', 5))
    expect(lines).toEqual([])
    turn()
    expect(lines).toEqual(['ADDED a', 'ADDED b', 'MODIFIED c'])
    watcher.notice(change('d', 6))
    expect(lines.at(-1)).toBe('MODIFIED d')
    expect(turns).toEqual([])
  })

  it('leaves out what its beginning has and what it did not ask for', () => {
    const { watcher, turn, lines } = startWatcher({ afterSequence: 4, afterRevision: 6 })
    turn()
    for (const revision of [3, 4, 5, 6, 7]) watcher.notice(change(`at-${revision}`, revision))
    expect(lines).toEqual(['MODIFIED at-7'])
    const later = startWatcher({ afterSequence: 4 })
    later.turn()
    for (const revision of [4, 5]) later.watcher.notice(change(`at-${revision}`, revision))
    expect(later.lines).toEqual(['MODIFIED at-5'])
  })

  it('gets nothing of what it does not select', () => {
    const { watcher, turn, lines } = startWatcher({ selection: podSelection({ namespace: 'other' }) })
    turn()
    watcher.notice(change('a', 5))
    expect(lines).toEqual([])
  })

  it('yields to others during a long beginning', () => {
    const initial = Array.from({ length: deliveriesPerTurnMax + 1 }, () => stateOf('a')).flat()
    const { turn, turns, lines } = startWatcher({ initial })
    turn()
    expect([lines.length, turns.length]).toEqual([deliveriesPerTurnMax, 1])
    turn()
    expect([lines.length, turns.length]).toEqual([deliveriesPerTurnMax + 1, 0])
  })

  it('ends after its beginning where that is all it is for', () => {
    const { turn, closed, lines, watcher } = startWatcher({ initial: stateOf('a'), endsAfterInitial: true })
    turn()
    expect([lines, closed]).toEqual([['ADDED a', 'end'], [watcher]])
  })

  it('holds what comes while it is paused, and delivers that first', () => {
    const { watcher, turn, turns, lines } = startWatcher()
    turn()
    watcher.pause()
    watcher.notice(change('a', 5))
    watcher.resume()
    watcher.notice(change('b', 6))
    expect(lines).toEqual([])
    turn()
    expect([lines, turns]).toEqual([['MODIFIED a', 'MODIFIED b'], []])
    watcher.notice(change('c', 7))
    expect(lines.at(-1)).toBe('MODIFIED c')
  })

  it('delivers once, however often it is paused and resumed', () => {
    const { watcher, turn, turns, lines } = startWatcher({ initial: stateOf('a') })
    watcher.resume()
    watcher.pause()
    watcher.resume()
    expect(turns).toHaveLength(1)
    turn()
    expect([lines, turns]).toEqual([['ADDED a'], []])
    watcher.pause()
    watcher.resume()
    watcher.resume()
    expect(turns).toHaveLength(1)
  })

  it('waits in the middle of its beginning when its reader pauses it there', () => {
    const lines: string[] = []
    const { watcher, turn, turns } = startWatcher({
      initial: stateOf('a', 'b'),
      onEvent: ({ event }) => {
        lines.push((event.object as { metadata: { name: string } }).metadata.name)
        watcher.pause()
        return true
      },
    })
    turn()
    expect([lines, turns]).toEqual([['a'], []])
    watcher.resume()
    turn()
    expect(lines).toEqual(['a', 'b'])
  })

  it('ends with an error when more waits than is held', () => {
    const { watcher, turn, lines, closed } = startWatcher({ initial: stateOf('a') })
    for (let index = 0; index < heldDeliveriesMax; index += 1) watcher.notice(change('b', index + 1))
    expect(lines).toEqual([])
    watcher.notice(change('b', heldDeliveriesMax + 1))
    expect(lines).toEqual([
      expect.stringContaining(
        `ERROR Timeout: the reader of this watch fell more than ${heldDeliveriesMax} events behind`,
      ),
      'end',
    ])
    expect(closed).toEqual([watcher])
    watcher.notice(change('b', heldDeliveriesMax + 2))
    turn()
    expect(lines).toHaveLength(2)
  })

  it('is closed by a reader that takes no more, at its beginning or later', () => {
    let taken = 0
    const refuse = () => {
      taken += 1
      return false
    }
    const early = startWatcher({ initial: stateOf('a', 'b'), onEvent: refuse })
    early.turn()
    expect([taken, early.lines]).toEqual([1, ['end']])
    const live = startWatcher({ onEvent: refuse })
    live.turn()
    live.watcher.notice(change('a', 5))
    live.watcher.notice(change('a', 6))
    expect([taken, live.lines]).toEqual([2, ['end']])
  })

  it('ends once, and delivers nothing after that', () => {
    const { watcher, turn, turns, lines, closed } = startWatcher({ initial: stateOf('a') })
    watcher.notice(change('b', 5))
    watcher.close()
    watcher.close()
    watcher.notice(change('c', 6))
    turn()
    watcher.resume()
    expect([lines, closed, turns]).toEqual([['end'], [watcher], []])
  })

  it('ends at its time, after what is to be done beforehand', async () => {
    const { watcher, clock, lines } = startWatcher()
    watcher.endAfter(5000, () => lines.push('beforehand'))
    await clock.advance(4999)
    expect(lines).toEqual([])
    await clock.advance(1)
    expect(lines).toEqual(['beforehand', 'end'])
  })

  it('lets idle time pass over its end, which is no deadline', async () => {
    const { watcher, clock, lines } = startWatcher()
    watcher.endAfter(30 * 60_000, () => lines.push(`after ${clock.monotonicMs()} ms`))
    await clock.advance('1h')
    expect(lines).toEqual(['after 3600000 ms', 'end'])
  })

  it('forgets its time once it is closed', async () => {
    const { watcher, clock, lines } = startWatcher()
    watcher.endAfter(5000, () => lines.push('beforehand'))
    watcher.close()
    await clock.advance(5000)
    expect(lines).toEqual(['end'])
  })
})

describe('what a watch gets of a change', () => {
  const web = { labels: { app: 'web' } }
  const db = { labels: { app: 'db' } }
  it.each([
    ['nothing selected, created', {}, undefined, web, 'ADDED'],
    ['nothing selected, changed', {}, web, db, 'MODIFIED'],
    ['nothing selected, deleted', {}, web, undefined, 'DELETED'],
    ['created as selected', { labelSelector: 'app=web' }, undefined, web, 'ADDED'],
    ['created as not selected', { labelSelector: 'app=web' }, undefined, db, undefined],
    ['changed while selected', { labelSelector: 'app=web' }, web, web, 'MODIFIED'],
    ['changed while not selected', { labelSelector: 'app=web' }, db, db, undefined],
    ['come into view', { labelSelector: 'app=web' }, db, web, 'ADDED'],
    ['gone out of view', { labelSelector: 'app=web' }, web, db, 'DELETED'],
    ['deleted while selected', { labelSelector: 'app=web' }, web, undefined, 'DELETED'],
    ['deleted while not selected', { labelSelector: 'app=web' }, db, undefined, undefined],
    ['in its namespace', { namespace: 'default' }, web, db, 'MODIFIED'],
    ['in another namespace', { namespace: 'other' }, web, db, undefined],
  ] as const)('%s', (_, options, previous, current, type) => {
    const delivery = deliveryUnder(podSelection(options), podEvent('default/a', previous, current))
    expect(delivery?.event.type).toBe(type)
  })

  it('that goes out of view is the object as it was, at the revision of the change', () => {
    const event = podEvent('default/a', web, db, 9)
    const left = deliveryUnder(podSelection({ labelSelector: 'app=web' }), event)
    expect(left?.event.object).toMatchObject({ metadata: { labels: { app: 'web' }, resourceVersion: '9' } })
  })
})

it.each([
  ['default/a', 'default', true],
  ['default-2/a', 'default', false],
  ['default', 'default', false],
  ['other/a', 'default', false],
  ['xefault/a', 'default', false],
] as const)('the key %s is in the namespace %s: %s', (key, namespace, isIn) => {
  expect(isInNamespace(key, namespace)).toBe(isIn)
})

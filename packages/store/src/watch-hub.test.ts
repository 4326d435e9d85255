import { describe, expect, it, vi } from 'vitest'
import { CompactedError, type StoreEvent, type WatchOptions } from './store.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'

const change = (key: string, revision: number): StoreEvent => ({
  type: 'put',
  key,
  value: new Uint8Array(0),
  revision,
  createRevision: revision,
  previousRevision: 0,
})

/** A live watch, and what it has been told. */
function watchOf(hub: WatchHub, prefix: string, options: Partial<WatchOptions> = {}) {
  const told: string[] = []
  const watcher = hub.add(prefix, {
    after: 0,
    onEvents: (events) => told.push(events.map(({ key, revision }) => `${key}@${revision}`).join(' ')),
    onProgress: (revision) => told.push(`up to ${revision}`),
    onGap: ({ message }) => told.push(message),
    onEnd: ({ message }) => told.push(message),
    ...options,
  })
  watcher.live = true
  return { watcher, told }
}

describe('a watch', () => {
  it('gets what is under its prefix, and how far things are where the last is not', () => {
    const hub = new WatchHub()
    const { watcher, told } = watchOf(hub, 'a/')
    hub.publish([change('a/1', 1), change('b', 1), change('a/2', 2)], 2)
    hub.publish([change('b', 3)], 3)
    hub.publish([change('a/1', 4), change('b', 5)], 5)
    hub.publish([], 6)
    expect(told).toEqual(['a/1@1 a/2@2', 'up to 3', 'a/1@4', 'up to 5', 'up to 6'])
    expect(watcher.position).toBe(6)
  })

  it('gets nothing at or before its position', () => {
    const hub = new WatchHub()
    const { told } = watchOf(hub, '', { after: 2 })
    hub.publish([change('a', 1), change('b', 2)], 2)
    hub.publish([change('b', 2), change('c', 3)], 3)
    hub.publish([change('c', 3)], 3)
    expect(told).toEqual(['c@3'])
  })

  it('gets nothing before it is live', () => {
    const hub = new WatchHub()
    const { watcher, told } = watchOf(hub, '')
    watcher.live = false
    hub.publish([change('a', 1)], 1)
    expect([told, watcher.position]).toEqual([[], 0])
  })

  it('is told nothing more once it is closed, also by what it got', () => {
    const hub = new WatchHub()
    const { watcher, told } = watchOf(hub, 'a', {
      onEvents: () => {
        told.push('events')
        watcher.close()
      },
    })
    hub.publish([change('a', 1), change('b', 2)], 2)
    hub.publish([change('a', 3)], 3)
    watcher.gap(new CompactedError(1, 2))
    watcher.end(new Error('closed'))
    expect([told, watcher.open]).toEqual([['events'], false])
  })

  it.each<[string, (hub: WatchHub, watcher: Watcher) => void, string]>([
    [
      'at a gap',
      (_, watcher) => watcher.gap(new CompactedError(1, 2)),
      'revision 1 has been compacted; the oldest kept is 2',
    ],
    ['with the store', (hub) => hub.end(new Error('the store is closed')), 'the store is closed'],
  ])('ends %s, once', (_, end, message) => {
    const hub = new WatchHub()
    const { watcher, told } = watchOf(hub, '')
    end(hub, watcher)
    end(hub, watcher)
    hub.publish([change('a', 1)], 1)
    expect([told, watcher.open]).toEqual([[message], false])
  })

  it('that fails ends alone, and the process hears of it', () => {
    const microtasks: (() => void)[] = []
    const queued = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) => void microtasks.push(task))
    const hub = new WatchHub()
    const failing = watchOf(hub, '', {
      onEvents() {
        throw new Error('a defect')
      },
    })
    const other = watchOf(hub, '')
    hub.publish([change('a', 1)], 1)
    queued.mockRestore()
    expect([failing.watcher.open, other.watcher.open, other.told]).toEqual([false, true, ['a@1']])
    expect(microtasks).toHaveLength(1)
    expect(() => microtasks[0]?.()).toThrow('a defect')
  })
})

import { pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { CacheEvent } from './cache-event.ts'
import type { CacheWatcher } from './cache-watcher.ts'
import { podEvent, podSelection } from './testing/stored-pods.ts'
import { WatcherIndex } from './watcher-index.ts'

/** Watchers by what they select; `notified` names those that an event is shown to. */
function indexOf(selections: Readonly<Record<string, Parameters<typeof podSelection>[0]>>) {
  const index = new WatcherIndex(pods)
  let shown: string[] = []
  const watchers = new Map(
    Object.entries(selections).map(([name, options]) => {
      const watcher = { selection: podSelection(options), notice: () => shown.push(name) } as unknown as CacheWatcher
      index.add(watcher)
      return [name, watcher] as const
    }),
  )
  const notified = (event: CacheEvent) => {
    shown = []
    index.notify(event)
    return shown.sort()
  }
  const remove = (name: string) => index.delete(watchers.get(name) as CacheWatcher)
  return { index, notified, remove }
}

const onNode = (name: string) => ({ fieldSelector: `spec.nodeName=${name}` })
const everyone = {
  all: {},
  labels: { labelSelector: 'app=web' },
  namespaceA: { namespace: 'a' },
  namespaceB: { namespace: 'b' },
  one: { namespace: 'a', fieldSelector: 'metadata.name=1' },
  two: { namespace: 'a', fieldSelector: 'metadata.name=2' },
  node1: onNode('n1'),
  node2: onNode('n2'),
  notNode1: { fieldSelector: 'spec.nodeName!=n1' },
}

describe('an event is shown to', () => {
  it.each([
    ['whoever watches that object, its namespace or node', 'a/1', { nodeName: 'n1' }, ['namespaceA', 'node1', 'one']],
    ['nobody by the name of another namespace', 'b/1', { nodeName: 'n1' }, ['namespaceB', 'node1']],
    ['nobody on another node', 'a/3', { nodeName: 'n3' }, ['namespaceA']],
  ])('%s', (_, key, parts, names) => {
    const { notified } = indexOf(everyone)
    expect(notified(podEvent(key, undefined, parts))).toEqual([...names, 'all', 'labels', 'notNode1'].sort())
  })

  it('whoever had the object in view before', () => {
    const { notified } = indexOf({ node1: onNode('n1'), node2: onNode('n2'), node3: onNode('n3') })
    expect(notified(podEvent('a/1', { nodeName: 'n1' }, { nodeName: 'n2' }))).toEqual(['node1', 'node2'])
    expect(notified(podEvent('a/1', { nodeName: 'n2' }, undefined))).toEqual(['node2'])
  })

  it('each once, where before and after are the same', () => {
    const { notified } = indexOf({ node1: onNode('n1') })
    expect(notified(podEvent('a/1', { nodeName: 'n1' }, { nodeName: 'n1' }))).toEqual(['node1'])
  })

  it('nobody who has gone', () => {
    const { index, notified, remove } = indexOf(everyone)
    for (const name of ['all', 'namespaceA', 'one', 'node1']) remove(name)
    remove('node1')
    expect(index.size).toBe(5)
    expect(notified(podEvent('a/1', undefined, { nodeName: 'n1' }))).toEqual(['labels', 'notNode1'])
    expect(notified(podEvent('a/2', undefined, { nodeName: 'n2' }))).toEqual(['labels', 'node2', 'notNode1', 'two'])
  })

  it('whoever is left of several that watch the same', () => {
    const { notified, remove } = indexOf({ first: onNode('n1'), second: onNode('n1') })
    remove('first')
    expect(notified(podEvent('a/1', undefined, { nodeName: 'n1' }))).toEqual(['second'])
  })
})

it('reads only the fields that somebody watches by', () => {
  let reads = 0
  const nodeName = () => {
    reads += 1
    return 'n1'
  }
  const index = new WatcherIndex({ ...pods, selectableFields: { 'spec.nodeName': nodeName } })
  const watcher = { selection: podSelection(onNode('n1')), notice() {} } as unknown as CacheWatcher
  const other = { selection: podSelection(), notice() {} } as unknown as CacheWatcher
  index.add(other)
  index.notify(podEvent('a/1', undefined, {}))
  expect(reads).toBe(0)
  index.add(watcher)
  index.notify(podEvent('a/1', undefined, {}))
  expect(reads).toBe(1)
  const another = { selection: podSelection(onNode('n2')), notice() {} } as unknown as CacheWatcher
  index.add(another)
  index.delete(watcher)
  index.notify(podEvent('a/1', undefined, {}))
  expect(reads).toBe(2)
  index.delete(another)
  index.notify(podEvent('a/1', undefined, {}))
  expect([reads, [...index]]).toEqual([2, [other]])
})

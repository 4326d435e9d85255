import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { Framework } from './framework.ts'
import { defaultPlugins } from './plugins/index.ts'
import type { ClusterPlugin } from './plugins/plugin.ts'
import { SchedulerCache } from './scheduler-cache.ts'
import { makeNode, makePod } from './testing/objects.ts'
import { WakeUps, wakeUpEventsMax } from './wake-ups.ts'

describe('what helps pods that rest', () => {
  const asked: string[] = []
  const hinting: ClusterPlugin = {
    name: 'Hinting',
    scope: 'cluster',
    signature: () => undefined,
    isHelpedBy(pod, event) {
      asked.push(`${pod.metadata.name} ${event.type}`)
      return event.type === 'namespace-changed'
    },
  }
  const setUp = () => {
    asked.length = 0
    const cache = new SchedulerCache()
    cache.setNode(makeNode({ name: 'small', allocatable: { cpu: '1' } }))
    cache.setNode(makeNode({ name: 'large', allocatable: { cpu: '8' } }))
    return { cache, wakeUps: new WakeUps(new Framework([...defaultPlugins, hinting]), cache) }
  }
  const resting = makePod({ requests: { cpu: '4' } }, 'resting')
  const gone: Pod = makePod({}, 'gone')
  const byRoom = new Set(['NodeResourcesFit'])
  const byRoomAndHinting = new Set(['NodeResourcesFit', 'Hinting'])

  it('is a node with more room than before that takes them', () => {
    const { wakeUps } = setUp()
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    expect(wakeUps.take()(resting, byRoom)).toBe(false)
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'large' })
    expect(wakeUps.take()(resting, byRoom)).toBe(true)
  })

  it('is a node that has come or changed, or whose pods ask for less', () => {
    const { cache, wakeUps } = setUp()
    const node = cache.node('large')?.node ?? makeNode()
    wakeUps.add({ type: 'node-changed', node })
    expect(wakeUps.take()(resting, byRoom)).toBe(true)
    wakeUps.add({ type: 'pod-placed', pod: gone, nodeName: 'large' })
    expect(wakeUps.take()(resting, byRoom)).toBe(true)
  })

  it('is a node that is refused by another plugin than before, which may be helped otherwise', () => {
    const { wakeUps } = setUp()
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    expect(wakeUps.take()(resting, new Set(['NodeUnschedulable']))).toBe(true)
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    expect(wakeUps.take()(resting, new Set(['NodeUnschedulable', 'NodeResourcesFit']))).toBe(false)
  })

  it('is no node that is gone', () => {
    const { cache, wakeUps } = setUp()
    const node = cache.node('large')?.node ?? makeNode()
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'large' })
    wakeUps.add({ type: 'node-removed', node })
    cache.removeNode('large')
    expect(wakeUps.take()(resting, byRoom)).toBe(false)
  })

  it('is what the plugins say that refused them, and no others are asked', () => {
    const { wakeUps } = setUp()
    wakeUps.add({ type: 'namespace-changed', namespace: 'default' })
    const helps = wakeUps.take()
    expect(helps(resting, byRoom)).toBe(false)
    expect(asked).toEqual([])
    expect(helps(resting, byRoomAndHinting)).toBe(true)
    expect(asked).toEqual(['resting namespace-changed'])
  })

  it('is any one of the things that have happened', () => {
    const { wakeUps } = setUp()
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    wakeUps.add({ type: 'namespace-changed', namespace: 'default' })
    expect(wakeUps.take()(resting, byRoomAndHinting)).toBe(true)
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'small' })
    expect(wakeUps.take()(resting, byRoomAndHinting)).toBe(false)
  })

  it('is told of once', () => {
    const { wakeUps } = setUp()
    expect(wakeUps.isEmpty).toBe(true)
    wakeUps.add({ type: 'pod-removed', pod: gone, nodeName: 'large' })
    expect(wakeUps.isEmpty).toBe(false)
    wakeUps.take()
    expect(wakeUps.isEmpty).toBe(true)
    expect(wakeUps.take()(resting, byRoom)).toBe(false)
  })

  it('may be anything where too much has happened at once', () => {
    const { wakeUps } = setUp()
    const event = { type: 'pod-removed', pod: gone, nodeName: 'small' } as const
    for (let events = 0; events < wakeUpEventsMax; events++) wakeUps.add(event)
    expect(wakeUps.take()(resting, byRoom)).toBe(false)
    for (let events = 0; events <= wakeUpEventsMax; events++) wakeUps.add(event)
    expect(wakeUps.isEmpty).toBe(false)
    expect(wakeUps.take()(resting, byRoom)).toBe(true)
    expect(wakeUps.isEmpty).toBe(true)
  })

  it('may be anything for a pod that cannot be judged, which is told when it is tried', () => {
    const failing: ClusterPlugin = {
      name: 'Failing',
      scope: 'cluster',
      signature: () => undefined,
      isHelpedBy() {
        throw new Error('not today')
      },
    }
    const wakeUps = new WakeUps(new Framework([failing, hinting]), new SchedulerCache())
    wakeUps.add({ type: 'devices-changed' })
    const helps = wakeUps.take()
    expect([helps(resting, new Set(['Failing'])), helps(resting, new Set(['Hinting']))]).toEqual([true, false])
  })
})

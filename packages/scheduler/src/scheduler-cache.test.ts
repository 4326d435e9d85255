import { beforeEach, describe, expect, it } from 'vitest'
import { SchedulerCache } from './scheduler-cache.ts'
import { makeNode, makePod } from './testing/objects.ts'

describe('the scheduler cache', () => {
  let cache: SchedulerCache

  beforeEach(() => {
    cache = new SchedulerCache()
  })

  /** CPU that pods ask of each node, and how many they are. */
  const used = () =>
    Object.fromEntries(cache.nodes.map(({ node, milliCpu, podCount }) => [node.metadata.name, [milliCpu, podCount]]))
  const pod = (name: string, cpu = '1') => makePod({ requests: { cpu } }, name)

  it('counts a placed pod on its node', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.setNode(makeNode({ name: 'b' }))
    cache.place(pod('p'), 'a')
    cache.place(pod('q', '2'), 'a')
    expect(used()).toEqual({ a: [3000, 2], b: [0, 0] })
  })

  it('counts a pod once, however often it is told of it', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.place(pod('p'), 'a')
    cache.place(pod('p'), 'a')
    expect(used()).toEqual({ a: [1000, 1] })
  })

  it('counts what a pod asks for now', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.place(pod('p'), 'a')
    cache.place(pod('p', '3'), 'a')
    expect(used()).toEqual({ a: [3000, 1] })
  })

  it('moves a pod that turns out to be on another node', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.setNode(makeNode({ name: 'b' }))
    cache.place(pod('p'), 'a')
    cache.place(pod('p'), 'b')
    expect(used()).toEqual({ a: [0, 0], b: [1000, 1] })
    expect(cache.remove('uid-p')).toBe('b')
  })

  it('forgets a removed pod, and says where it was', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.place(pod('p'), 'a')
    cache.place(pod('q'), 'a')
    expect(cache.remove('uid-p')).toBe('a')
    expect(used()).toEqual({ a: [1000, 1] })
    expect(cache.remove('uid-p')).toBeUndefined()
    expect(used()).toEqual({ a: [1000, 1] })
  })

  it('remembers pods of nodes that have yet to come, or come back', () => {
    cache.place(pod('p'), 'a')
    cache.place(pod('gone'), 'a')
    cache.remove('uid-gone')
    cache.setNode(makeNode({ name: 'a' }))
    expect(used()).toEqual({ a: [1000, 1] })
    cache.removeNode('a')
    expect(used()).toEqual({})
    cache.place(pod('q'), 'a')
    cache.setNode(makeNode({ name: 'a' }))
    expect(used()).toEqual({ a: [2000, 2] })
  })

  it('takes over a newer state of a node and keeps its pods', () => {
    cache.setNode(makeNode({ name: 'a' }))
    cache.place(pod('p'), 'a')
    const before = cache.nodes
    cache.setNode(makeNode({ name: 'a', allocatable: { cpu: '8', pods: '5' } }))
    expect(cache.nodes).toBe(before)
    expect(cache.node('a')).toMatchObject({ milliCpu: 1000, allocatable: { milliCpu: 8000 }, podsMax: 5 })
    expect(cache.node('b')).toBeUndefined()
  })

  it('lists nodes in the order they came', () => {
    for (const name of ['b', 'a', 'c']) cache.setNode(makeNode({ name }))
    expect(cache.nodes.map(({ node }) => node.metadata.name)).toEqual(['b', 'a', 'c'])
    cache.removeNode('unknown')
    cache.removeNode('a')
    expect(cache.nodes.map(({ node }) => node.metadata.name)).toEqual(['b', 'c'])
  })
})

import type { Service } from '@coracle/api'
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

  describe('of a pod whose resources are changed', () => {
    const resized = (asked: string, given: string, status: object) => {
      const made = pod('p', asked)
      const containerStatuses = made.spec.containers.map(({ name }) => ({ name, allocatedResources: { cpu: given } }))
      const metadata = { ...made.metadata, generation: 2 }
      return {
        ...made,
        metadata,
        status: { containerStatuses, observedGeneration: 2, ...status },
      } as unknown as typeof made
    }
    const pending = (reason: string) => ({ conditions: [{ type: 'PodResizePending', status: 'True', reason }] })

    it.each<[string, ReturnType<typeof resized>, number]>([
      ['what it asks for, where the node has yet to see it', resized('3', '1', { observedGeneration: 1 }), 3000],
      ['what it has, where that is more', resized('1', '3', { observedGeneration: 1 }), 3000],
      ['what it waits for', resized('3', '1', pending('Deferred')), 3000],
      ['what it has, where it never gets more', resized('3', '1', pending('Infeasible')), 1000],
      ['what it asks for, when it has got it', resized('3', '3', {}), 3000],
    ])('counts %s', (_what, changed, milliCpu) => {
      cache.setNode(makeNode({ name: 'a' }))
      cache.place(changed, 'a')
      expect(used()).toEqual({ a: [milliCpu, 1] })
      // The same pod, of which only the status changes from here on.
      cache.place(
        { ...changed, status: { ...changed.status, observedGeneration: 2, conditions: [] } } as typeof changed,
        'a',
      )
      cache.remove(changed.metadata.uid ?? '')
      expect(used().a?.[0]).toBe(0)
    })
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

  it('does not bring back pods that went while their node was there', () => {
    cache.place(pod('p'), 'a')
    cache.setNode(makeNode({ name: 'a' }))
    cache.remove('uid-p')
    cache.removeNode('a')
    cache.setNode(makeNode({ name: 'a' }))
    expect(used()).toEqual({ a: [0, 0] })
  })

  it('knows which nodes have pods with affinity', () => {
    const labelSelector = { matchLabels: { app: 'web' } }
    const terms = { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: 'zone' }] }
    const names = () => [...cache.nodesWithAffinity].map(({ name }) => name)
    cache.place(makePod({ affinity: { podAntiAffinity: terms } }, 'apart'), 'b')
    for (const name of ['a', 'b']) cache.setNode(makeNode({ name }))
    cache.place(pod('plain'), 'a')
    expect(names()).toEqual(['b'])
    cache.place(makePod({ affinity: { podAffinity: terms } }, 'near'), 'a')
    expect(names()).toEqual(['b', 'a'])
    cache.remove('uid-near')
    expect(names()).toEqual(['b'])
    cache.removeNode('b')
    expect(names()).toEqual([])
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

  it('takes over what has changed of a pod that stays', () => {
    cache.setNode(makeNode({ name: 'a' }))
    const placed = pod('p')
    expect(cache.place(placed, 'a')).toBeUndefined()
    const versions = [cache.node('a')?.version]
    const running = { ...placed, status: { phase: 'Running' } } as const
    const labelled = { ...running, metadata: { ...running.metadata, labels: { app: 'web' } } }
    const ending = { ...labelled, metadata: { ...labelled.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    for (const next of [running, labelled, ending]) {
      const before = cache.node('a')?.pods.get('uid-p')
      expect(cache.place(next, 'a')).toBe(before)
      expect(cache.node('a')?.pods.get('uid-p')).toBe(next)
      versions.push(cache.node('a')?.version)
    }
    expect(versions).toEqual([1, 1, 2, 3])
    cache.place({ ...ending, metadata: { ...ending.metadata, labels: { app: 'web' } } }, 'a')
    expect(cache.node('a')?.version).toBe(3)
    for (const labels of [{ app: 'db' }, { app: 'db', tier: 'back' }, { app: 'db', tier: 'front' }, {}]) {
      cache.place({ ...ending, metadata: { ...ending.metadata, labels } }, 'a')
    }
    expect(cache.node('a')?.version).toBe(7)
    // As it comes over a network, where nothing is shared with the state before.
    cache.place(structuredClone({ ...ending, metadata: { ...ending.metadata, labels: {} } }), 'a')
    expect(cache.node('a')?.version).toBe(7)
    expect(used()).toEqual({ a: [1000, 1] })
  })

  it('takes over what has changed of a pod whose node is not there', () => {
    const placed = pod('p')
    cache.place(placed, 'a')
    const labelled = { ...placed, metadata: { ...placed.metadata, labels: { app: 'web' } } }
    expect(cache.place(labelled, 'a')).toBe(placed)
    cache.setNode(makeNode({ name: 'a' }))
    expect(cache.node('a')?.pods.get('uid-p')).toBe(labelled)
  })

  it('lists nodes of zones in turn, also of zones that change', () => {
    const zone = (name: string, zone: string) => makeNode({ name, labels: { 'topology.kubernetes.io/zone': zone } })
    for (const node of [zone('a', 'x'), zone('b', 'x'), zone('c', 'y')]) cache.setNode(node)
    const names = () => cache.nodes.map(({ name }) => name)
    expect(names()).toEqual(['a', 'c', 'b'])
    cache.setNode(zone('a', 'y'))
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  it('knows what the services of a namespace select by', () => {
    const service = (name: string, selector?: Readonly<Record<string, string>>, namespace = 'n') =>
      ({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { selector } }) as Service
    for (const [name, selector] of [['a', { app: 'a' }], ['b', { app: 'b' }], ['none'], ['empty', {}]] as const)
      cache.setService(service(name, selector))
    cache.setService(service('a', { app: 'other' }, 'm'))
    expect(cache.serviceSelectors('n')).toEqual([{ app: 'a' }, { app: 'b' }])
    cache.setService(service('a', { app: 'c' }))
    cache.setService(service('b'))
    expect(cache.serviceSelectors('n')).toEqual([{ app: 'c' }])
    cache.removeService(service('a'))
    cache.removeService(service('a'))
    expect(cache.serviceSelectors('n')).toEqual([])
    expect(cache.serviceSelectors('m')).toEqual([{ app: 'other' }])
  })

  it('knows the labels of namespaces, and when they have changed', () => {
    const namespace = (labels: Readonly<Record<string, string>>) =>
      ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels } }) as const
    expect(cache.namespaceLabels('n')).toEqual({})
    const versions = [cache.namespacesVersion]
    cache.setNamespace(namespace({ team: 'a' }))
    expect(cache.namespaceLabels('n')).toEqual({ team: 'a' })
    versions.push(cache.namespacesVersion)
    cache.removeNamespace('n')
    cache.removeNamespace('n')
    expect(cache.namespaceLabels('n')).toEqual({})
    versions.push(cache.namespacesVersion)
    expect(versions).toEqual([0, 1, 2])
  })
})

import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Cluster } from './cluster.ts'
import { Framework } from './framework.ts'
import type { NodeInfo } from './node-info.ts'
import { defaultPlugins, volumePlugins } from './plugins/index.ts'
import type { ClusterFilter, Plugin } from './plugins/plugin.ts'
import { schedule } from './schedule.ts'
import { SchedulerCache } from './scheduler-cache.ts'
import type { Storage } from './storage/storage.ts'
import type { VolumeBinder } from './storage/volume-binder.ts'
import { makeNode, makePod } from './testing/objects.ts'
import { makeClaim, makeStorage, makeVolume, podUsing } from './testing/storage.ts'
import { WakeUps } from './wake-ups.ts'

const sizes = [100, 10_000]

/** How many nodes the plugins of each scope were asked about since the last reading. */
function counting() {
  const asked = { node: 0, cluster: 0 }
  const filter: ClusterFilter = { refuse: () => undefined, add: () => {}, remove: () => {} }
  const plugins: Plugin[] = [
    {
      name: 'CountsNodes',
      scope: 'node',
      signature: () => undefined,
      filter: () => ({
        refuse() {
          asked.node++
          return undefined
        },
      }),
    },
    {
      name: 'CountsChanges',
      scope: 'cluster',
      signature: () => undefined,
      filter(_, cluster) {
        cluster.index('CountsChanges', () => ({ put: () => asked.cluster++, remove: () => asked.cluster++ }))
        return filter
      },
    },
  ]
  return {
    plugins,
    read() {
      const read = { ...asked }
      asked.node = 0
      asked.cluster = 0
      return read
    },
  }
}

describe.each(sizes)('with %i nodes', (size) => {
  const { plugins, read } = counting()
  const framework = new Framework([...plugins, ...defaultPlugins])
  const cache = new SchedulerCache()
  for (let index = 0; index < size; index++) cache.setNode(makeNode({ name: `n${index}` }))
  let start = 0
  let placed = 0
  // Of nodes that suit a pod alike its name picks one: it may not depend on how many pods other tests have made.
  const place = (spec: Parameters<typeof makePod>[0] = {}): NodeInfo => {
    const pod = makePod(spec, `placed-${++placed}`)
    const decision = schedule(pod, cache, framework, { start })
    if (decision.type !== 'fits') throw new Error('there is room')
    start = (start + decision.examined) % size
    cache.place(pod, decision.node.name)
    return decision.node
  }
  /** Until every node has been looked at for such pods once. */
  const warmUp = () => {
    for (let pods = 0; pods < 40; pods++) place()
    read()
  }

  it('asks about one node for one more pod: the one that the last pod came to', () => {
    warmUp()
    for (let pods = 0; pods < 10; pods++) place()
    const { node, cluster } = read()
    expect(node).toBeLessThanOrEqual(10)
    expect(cluster).toBe(10)
  })

  it('asks about one node for a node that changes', () => {
    warmUp()
    cache.setNode(makeNode({ name: 'n1', labels: { disk: 'ssd' } }))
    start = 0
    place()
    expect(read()).toEqual({ node: 2, cluster: 2 })
  })

  it('asks about one node for a pod that names it', () => {
    warmUp()
    const field = { key: 'metadata.name', operator: 'In', values: ['n7'] } as const
    const required = { nodeSelectorTerms: [{ matchFields: [field] }] }
    const named = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }
    expect(place(named).name).toBe('n7')
    expect(read().node).toBe(1)
  })

  it('does not even list the nodes for a pod that names one', () => {
    const field = { key: 'metadata.name', operator: 'In', values: ['n8'] } as const
    const required = { nodeSelectorTerms: [{ matchFields: [field] }] }
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } }
    const unlisted: Cluster = Object.create(cache, {
      nodes: {
        get() {
          throw new Error('all nodes were listed')
        },
      },
      node: { value: (name: string) => cache.node(name) },
      nodeCount: { value: size },
      hasNominatedPods: { value: false },
      nominatedNode: { value: () => undefined },
      index: { value: cache.index.bind(cache) },
    })
    const fitting = schedule(makePod({ affinity }), unlisted, framework)
    expect(fitting).toMatchObject({ type: 'fits', node: { name: 'n8' } })
    expect(schedule(makePod({ affinity, requests: { cpu: '64' } }), unlisted, framework)).toMatchObject({
      diagnosis: { nodeCount: size },
    })
  })

  it('asks about one node for pods that rest, however many events there were of it', () => {
    const wakeUps = new WakeUps(framework, cache)
    const resting = makePod({ requests: { cpu: '64' } })
    const gone = place()
    read()
    for (let events = 0; events < 50; events++) {
      cache.remove('none')
      wakeUps.add({ type: 'pod-removed', pod: makePod(), nodeName: gone.name })
    }
    expect(wakeUps.take()(resting, new Set(['NodeResourcesFit']))).toBe(false)
    expect(read().node).toBe(1)
    expect(wakeUps.isEmpty).toBe(true)
  })
})

describe.each(sizes)('with %i claims and volumes', (size) => {
  const names = Array.from({ length: size }, (_, index) => `c${index}`)
  const content = makeStorage({
    claims: names.map((name) => makeClaim(name, { volumeName: name })),
    volumes: names.map((name) => makeVolume(name)),
  })
  let lookUps = 0
  const storage: Storage = new Proxy(content, {
    get(target, name: keyof Storage) {
      lookUps++
      return target[name]
    },
  })
  const binder = {} as VolumeBinder
  const framework = new Framework([...volumePlugins(storage, binder), ...defaultPlugins])
  const cache = new SchedulerCache()
  for (let index = 0; index < 10; index++) cache.setNode(makeNode({ name: `n${index}` }))
  const lookUpsFor = (pod: Pod): number => {
    lookUps = 0
    const decision = schedule(pod, cache, framework)
    if (decision.type === 'fits') cache.place(pod, decision.node.name)
    return lookUps
  }

  it('asks for nothing where a pod has no claims', () => {
    expect(lookUpsFor(makePod({ volumes: [{ name: 'tmp', emptyDir: {} }] }))).toBe(0)
  })

  it('asks for the claims of the pod and their volumes, and for no others', () => {
    expect(lookUpsFor(podUsing(['c1']))).toBeLessThanOrEqual(40)
    expect(lookUpsFor(podUsing(['c2']))).toBeLessThanOrEqual(40)
  })

  it('asks for nothing to see that another pod’s claim does not help', () => {
    lookUps = 0
    const refusedBy = new Set(['VolumeBinding', 'NodeVolumeLimits', 'VolumeZone'])
    const event = { type: 'claim-changed', claim: makeClaim('c7') } as const
    expect(framework.isHelpedBy(podUsing(['c1']), event, cache, refusedBy)).toBe(false)
    expect(framework.isHelpedBy(podUsing(['c7']), event, cache, refusedBy)).toBe(true)
    expect(lookUps).toBe(0)
  })
})

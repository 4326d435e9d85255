import type { Pod } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { ImageService } from '../runtimes/runtime.ts'
import { testPod, testRun, testSandbox } from '../testing/pods.ts'
import { evictedGoneMaxMs, NodePressure, pressurePeriodMs } from './node-pressure.ts'
import type { Pressure, Supply } from './plan-eviction.ts'
import { type EvictionDetails, type EvictionSignal, evictionDetails } from './thresholds.ts'

const named = (uid: string): Pod => testPod({}, { metadata: { uid, name: uid } })

/** A node with pods that use so much memory, and what is left of its memory and disk. `stays`: pods that are not evicted. */
function node(
  used: Record<string, number>,
  {
    stays = [] as string[],
    waiting = [] as string[],
    reclaims = 0,
    images = {} as Partial<ImageService>,
    details = {} as Partial<EvictionDetails>,
    processes = {} as Record<string, number>,
  } = {},
) {
  const environment = virtualEnvironment()
  const left = { memory: 1000, disk: 1000, processes: 1000 }
  const pods = Object.keys(used)
  const events: string[] = []
  const evicted: string[] = []
  const signals: string[] = []
  const pressure = new NodePressure({
    environment,
    nodeName: 'node-a',
    recorder: { event: (_, type, reason, message) => events.push(`${type} ${reason}: ${message}`) },
    runtime: {
      ...(images.fileSystem === undefined ? {} : { images: images as ImageService }),
      listContainers: async () =>
        pods.filter((uid) => !waiting.includes(uid)).map((podUid) => testRun({ id: podUid, podUid })),
      listPodSandboxes: async () => pods.map((podUid) => testSandbox({ id: `of-${podUid}`, podUid })),
      podSandboxStats: async () =>
        new Map(Object.entries(processes).map(([uid, count]) => [`of-${uid}`, { processes: count }])),
      containerStats: async (ids) => new Map(ids.map((id) => [id, { cpuMs: 0, memoryBytes: used[id] ?? 0 }])),
    },
    settings: {
      ...evictionDetails,
      ...details,
      hard: { 'memory.available': '100', 'nodefs.available': '10%', 'pid.available': '100' },
    },
    pods: () =>
      pods.map((uid) => ({
        pod: named(uid),
        volumes: new Map(),
        evict(message, graceMaxMs, signal) {
          if (stays.includes(uid)) return false
          signals.push(signal)
          evicted.push(`${uid}: ${message}${graceMaxMs === 0 ? '' : `within ${graceMaxMs} ms`}`)
          return true
        },
      })),
    directory: '/',
    measure: async () => ({ bytes: new Map(), workedMs: 0 }),
    observe: async () =>
      new Map<EvictionSignal, Supply>([
        ['memory.available', { available: left.memory, capacity: 1000 }],
        ['nodefs.available', { available: left.disk, capacity: 1000 }],
        ['pid.available', { available: left.processes, capacity: 1000 }],
      ]),
    async reclaimDisk() {
      if (Number.isNaN(reclaims)) throw new Error('device or resource busy')
      left.disk += reclaims
    },
  })
  return { pressure, environment, left, pods, events, evicted, signals }
}

describe('a node that runs out of something', () => {
  it('does nothing while there is enough', async () => {
    const { pressure, environment, events, evicted } = node({ a: 1 })
    pressure.start()
    await environment.clock.advance(pressurePeriodMs * 5)
    expect([pressure.conditions, events, evicted]).toEqual([[], [], []])
  })

  it('evicts the pod that uses most, and the next one when that has gone', async () => {
    const { pressure, environment, left, pods, events, evicted } = node({ small: 1024, large: 2048 })
    pressure.start()
    left.memory = 50
    await environment.clock.advance(pressurePeriodMs)
    expect(evicted).toEqual([
      'large: The node was low on resource: memory. Threshold quantity: 100, available: 50. Container web was using 2Ki, request is 0, has larger consumption of memory. ',
    ])
    expect(events).toEqual([
      'Normal NodeHasInsufficientMemory: Node node-a status is now: NodeHasInsufficientMemory',
      'Warning EvictionThresholdMet: Attempting to reclaim memory',
    ])
    expect(pressure.conditions).toEqual<Pressure[]>(['MemoryPressure'])
    await environment.clock.advance(pressurePeriodMs)
    expect(evicted).toHaveLength(1)
    pods.splice(pods.indexOf('large'), 1)
    await environment.clock.advance(pressurePeriodMs)
    expect(evicted[1]).toMatch(/^small: /)
  })

  it('evicts no pod of which nothing runs for want of memory', async () => {
    const { pressure, left, evicted } = node({ a: 1, waits: 0 }, { waiting: ['waits'] })
    left.memory = 50
    await pressure.look()
    expect(evicted[0]).toMatch(/^a: /)
  })

  it('evicts the pod with most processes where the node has hardly any left, and removes nothing first', async () => {
    const { pressure, left, events, evicted, signals } = node(
      { few: 2048, many: 1024 },
      { reclaims: 500, processes: { few: 1, many: 900 } },
    )
    left.processes = 50
    await pressure.look()
    expect([left.disk, pressure.conditions]).toEqual([1000, ['PIDPressure']])
    expect(events).toEqual([
      'Normal NodeHasInsufficientPID: Node node-a status is now: NodeHasInsufficientPID',
      'Warning EvictionThresholdMet: Attempting to reclaim pids',
    ])
    expect(evicted).toEqual(['many: The node was low on resource: pids. Threshold quantity: 100, available: 50. '])
    expect(signals).toEqual(['pid.available'])
  })

  it('waits no longer than half a minute for a pod to go', async () => {
    const { pressure, environment, left, evicted } = node({ a: 1, b: 2 })
    pressure.start()
    left.memory = 50
    await environment.clock.advance(pressurePeriodMs + evictedGoneMaxMs)
    expect(evicted.length).toBe(2)
  })

  it('passes over pods that are not to go', async () => {
    const { pressure, left, evicted } = node({ a: 1, b: 2 }, { stays: ['b'] })
    left.memory = 50
    await pressure.look()
    expect(evicted[0]).toMatch(/^a: /)
  })

  it('evicts nobody where enough can be removed that nobody needs', async () => {
    const { pressure, left, events, evicted } = node({ a: 1 }, { reclaims: 500 })
    left.disk = 50
    await pressure.look()
    expect(evicted).toEqual([])
    expect(events).toContain('Warning EvictionThresholdMet: Attempting to reclaim ephemeral-storage')
    expect(pressure.conditions).toEqual<Pressure[]>(['DiskPressure'])
  })

  it('evicts where that is not enough', async () => {
    const { pressure, left, evicted } = node({ a: 1 }, { reclaims: 10 })
    left.disk = 50
    await pressure.look()
    expect(evicted[0]).toMatch(/^a: The node was low on resource: ephemeral-storage\. /)
  })

  it('evicts for want of memory wherever its images are', async () => {
    const { pressure, left, evicted } = node(
      { a: 1 },
      { images: { fileSystem: () => Promise.reject(new Error('no such file')) } },
    )
    left.memory = 50
    await pressure.look()
    expect(evicted[0]).toMatch(/^a: The node was low on resource: memory\. /)
  })

  it('evicts where what nobody needs cannot be removed', async () => {
    const { pressure, left, evicted } = node({ a: 1 }, { reclaims: Number.NaN })
    left.disk = 50
    await pressure.look()
    expect(evicted[0]).toMatch(/^a: The node was low on resource: ephemeral-storage\. /)
  })

  it('says that it has enough again five minutes after it has', async () => {
    const { pressure, environment, left, events } = node({})
    left.disk = 50
    pressure.start()
    await environment.clock.advance(0)
    left.disk = 500
    await environment.clock.advance(evictionDetails.pressureTransitionMs - pressurePeriodMs)
    expect(pressure.conditions).toEqual<Pressure[]>(['DiskPressure'])
    await environment.clock.advance(2 * pressurePeriodMs)
    expect(pressure.conditions).toEqual([])
    expect(events.at(-1)).toBe('Normal NodeHasNoDiskPressure: Node node-a status is now: NodeHasNoDiskPressure')
  })

  it('gives pods time that go for a soft threshold, and waits as long for them', async () => {
    const details = {
      soft: { 'memory.available': '200' },
      softGraceMs: { 'memory.available': 2 * pressurePeriodMs },
      podGraceMaxMs: 20_000,
    }
    const { pressure, environment, left, evicted } = node({ a: 1, b: 2 }, { details })
    pressure.start()
    await environment.clock.advance(0)
    left.memory = 150
    await environment.clock.advance(2 * pressurePeriodMs)
    expect([pressure.conditions, evicted]).toEqual([['MemoryPressure'], []])
    await environment.clock.advance(pressurePeriodMs)
    expect(evicted).toEqual([
      expect.stringMatching(/^b: .*Threshold quantity: 200, available: 150\. .*within 20000 ms$/),
    ])
    await environment.clock.advance(20_000 + evictedGoneMaxMs - pressurePeriodMs)
    expect(evicted).toHaveLength(1)
    await environment.clock.advance(pressurePeriodMs)
    expect(evicted).toHaveLength(2)
  })

  it('evicts until the minimum is reclaimed, though nothing can be removed that nobody needs', async () => {
    const { pressure, left, pods, evicted } = node(
      { a: 1, b: 2 },
      { reclaims: 60, details: { minimumReclaim: { 'nodefs.available': '50' } } },
    )
    left.disk = 50
    await pressure.look()
    expect(evicted).toHaveLength(1)
    pods.splice(0, 1)
    left.disk = 60
    await pressure.look()
    expect(evicted).toHaveLength(2)
    left.disk = 100
    await pressure.look()
    expect(evicted).toHaveLength(2)
  })

  it('is looked at no longer when its agent stops', async () => {
    const { pressure, environment, left, evicted } = node({ a: 1 })
    pressure.start()
    await environment.clock.advance(pressurePeriodMs)
    pressure.stop()
    left.memory = 1
    await environment.clock.advance(pressurePeriodMs * 3)
    expect(evicted).toEqual([])
  })
})

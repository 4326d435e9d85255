import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import {
  calm,
  evictionMessage,
  isRelieved,
  type Pressure,
  type PressureState,
  planPressure,
  rankForEviction,
  type Starved,
  type StoragePart,
  storagePart,
  type UsingPod,
} from './plan-eviction.ts'
import { parseMemory, parseTasks } from './supplies.ts'
import {
  type EvictionDetails,
  type EvictionSignal,
  evictionDetails,
  evictionThresholds,
  parseEvictionThresholds,
  parseMinimumReclaim,
  parseSoftGracePeriods,
  softWithoutGrace,
} from './thresholds.ts'

const mebi = 1024 * 1024

describe('thresholds', () => {
  it.each([
    ['', {}],
    ['memory.available<100Mi', { 'memory.available': '100Mi' }],
    ['imagefs.available<7.5%,nodefs.inodesFree<5%', { 'imagefs.available': '7.5%', 'nodefs.inodesFree': '5%' }],
    ['nodefs.available<0%,imagefs.available<100%', {}],
    ['pid.available<1k', { 'pid.available': '1k' }],
    [
      'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%',
      evictionThresholds,
    ],
  ])('are read as upstream writes them: %s', (text, thresholds) => {
    expect(parseEvictionThresholds(text)).toEqual(thresholds)
  })

  it.each([
    ['cpu.available<5%', /^"cpu\.available<5%" is none of memory\.available, .*, < and a value$/],
    ['memory.available', /^"memory\.available" is none of/],
    ['memory.available<1Gi,memory.available<2Gi', 'memory.available is there twice'],
    ['memory.available<0', 'memory.available<0: the value is to be a quantity above 0, or 0% to 100%'],
    ['memory.available<x', 'the value is to be a quantity above 0'],
    ['nodefs.available<101%', '0% to 100%'],
    ['nodefs.available<-1%', '0% to 100%'],
  ])('are refused where they are none: %s', (text, message) => {
    expect(() => parseEvictionThresholds(text)).toThrow(message)
  })
})

describe('what is said of soft thresholds and of reclaiming', () => {
  it('is read as upstream writes it', () => {
    expect(parseSoftGracePeriods('memory.available=1m30s,nodefs.available=0s')).toEqual({
      'memory.available': 90_000,
      'nodefs.available': 0,
    })
    expect(parseMinimumReclaim('nodefs.available=500Mi,imagefs.available=5%')).toEqual({
      'nodefs.available': '500Mi',
      'imagefs.available': '5%',
    })
    expect([parseSoftGracePeriods(''), parseMinimumReclaim('')]).toEqual([{}, {}])
  })

  it.each([
    [parseSoftGracePeriods, 'memory.available<1m', /^"memory\.available<1m" is none of .*, = and a value$/],
    [parseSoftGracePeriods, 'memory.available=-1s', 'a duration of at least 0'],
    [parseSoftGracePeriods, 'memory.available=soon', 'a duration of at least 0'],
    [parseSoftGracePeriods, 'memory.available=1s,memory.available=2s', 'memory.available is there twice'],
    [parseMinimumReclaim, 'nodefs.available=0%', 'more than 0%'],
    [parseMinimumReclaim, 'nodefs.available=-1Gi', 'a quantity of at least 0'],
    [parseMinimumReclaim, 'disk=1Gi', 'is none of'],
  ])('is refused where it is something else: %o %s', (parse, text, message) => {
    expect(() => parse(text)).toThrow(message)
  })

  it.each<[string, string, string | undefined]>([
    ['memory.available<1Gi', 'memory.available=1m', undefined],
    ['memory.available<1Gi,nodefs.available<10%', 'memory.available=1m', 'nodefs.available'],
  ])('names all that a soft threshold takes: %s with %s', (thresholds, periods, missing) => {
    const told = { soft: parseEvictionThresholds(thresholds), softGraceMs: parseSoftGracePeriods(periods) }
    expect(softWithoutGrace(told)).toBe(missing)
  })
})

describe('pressure on a node', () => {
  const none = calm
  const hard = { ...evictionDetails, hard: evictionThresholds }
  const supply = (available: number, capacity = 1000) => ({ available, capacity })
  const plan = (
    supplies: readonly (readonly [EvictionSignal, ReturnType<typeof supply>])[],
    before = none,
    nowMs = 0,
  ) => {
    const { starved, conditions } = planPressure(hard, new Map(supplies), before, nowMs)
    return [starved.map(({ signal }) => signal), conditions]
  }
  it.each<[string, Parameters<typeof plan>[0], readonly [readonly string[], readonly string[]]]>([
    ['is none where nothing is known', [], [[], []]],
    ['is none at the threshold', [['nodefs.available', supply(100)]], [[], []]],
    ['is on the disk below it', [['nodefs.available', supply(99)]], [['nodefs.available'], ['DiskPressure']]],
    ['is on the disk of images', [['imagefs.available', supply(149)]], [['imagefs.available'], ['DiskPressure']]],
    ['is on inodes', [['imagefs.inodesFree', supply(49)]], [['imagefs.inodesFree'], ['DiskPressure']]],
    [
      'is on memory, as a quantity',
      [['memory.available', supply(100 * mebi - 1, 1e12)]],
      [['memory.available'], ['MemoryPressure']],
    ],
    [
      'is on memory first where it is on both',
      [
        ['nodefs.available', supply(1)],
        ['memory.available', supply(1, 1e12)],
      ],
      [
        ['memory.available', 'nodefs.available'],
        ['MemoryPressure', 'DiskPressure'],
      ],
    ],
  ])('%s', (_, supplies, planned) => {
    expect(plan(supplies)).toEqual(planned)
  })

  it('is on process IDs, where somebody says how few are too few', () => {
    const few = new Map([['pid.available', supply(999)] as const])
    const said = { ...hard, hard: { 'pid.available': '1k' } }
    const { starved, conditions } = planPressure(said, few, none, 0)
    expect([starved, conditions]).toMatchObject([[{ resource: 'pids', threshold: 1000, asked: '1k' }], ['PIDPressure']])
    expect(planPressure(hard, few, none, 0).starved).toEqual([])
  })

  it('is said for five minutes after it was seen', () => {
    const before = { ...calm, seenAtMs: new Map<Pressure, number>([['DiskPressure', 1000]]) }
    const { pressureTransitionMs } = evictionDetails
    const enough = [['nodefs.available', supply(500)]] as const
    expect(plan(enough, before, 1000 + pressureTransitionMs - 1)).toEqual([[], ['DiskPressure']])
    expect(plan(enough, before, 1000 + pressureTransitionMs)).toEqual([[], []])
  })

  /** What pods go for, and what is said, at each of these moments and amounts of memory that are left. */
  const over = (settings: Partial<EvictionDetails>, left: readonly (readonly [nowMs: number, available: number])[]) => {
    let state: PressureState = calm
    return left.map(([nowMs, available]) => {
      const supplies = new Map([['memory.available', supply(available)] as const])
      const told = planPressure(
        { ...evictionDetails, hard: { 'memory.available': '100' }, ...settings },
        supplies,
        state,
        nowMs,
      )
      state = told.state
      return [told.starved.map(({ isSoft }) => (isSoft ? 'soft' : 'hard')), told.conditions.length > 0]
    })
  }
  const soft = { soft: { 'memory.available': '30%' }, softGraceMs: { 'memory.available': 1000 } }

  it('below a soft threshold is said at once, and borne for a while', () => {
    const left = [
      [0, 300],
      [1, 299],
      [1000, 299],
      [1001, 250],
    ] as const
    expect(over(soft, left)).toEqual([
      [[], false],
      [[], true],
      [[], true],
      [['soft'], true],
    ])
  })

  it('below a soft threshold is borne anew where there was enough meanwhile', () => {
    const left = [
      [0, 299],
      [500, 300],
      [1500, 299],
      [2500, 299],
    ] as const
    expect(over(soft, left).map(([starved]) => starved)).toEqual([[], [], [], ['soft']])
  })

  it('below the hard threshold too is that first', () => {
    const left = [
      [0, 99],
      [1000, 99],
    ] as const
    expect(over(soft, left).map(([starved]) => starved)).toEqual([['hard'], ['hard', 'soft']])
  })

  it('is not over before the minimum is reclaimed, once pods went for it', () => {
    const reclaiming = { minimumReclaim: { 'memory.available': '50' }, pressureTransitionMs: 0 }
    const left = [
      [0, 149],
      [1, 99],
      [2, 149],
      [3, 150],
      [4, 149],
    ] as const
    expect(over(reclaiming, left)).toEqual([
      [[], false],
      [['hard'], true],
      [['hard'], true],
      [[], false],
      [[], false],
    ])
  })

  it.each([
    [149, false],
    [150, true],
  ])('is relieved by what was removed when the minimum is reclaimed: %d left', (available, expected) => {
    const settings = {
      ...evictionDetails,
      hard: { 'memory.available': '100' },
      minimumReclaim: { 'memory.available': '50' },
    }
    expect(isRelieved(settings, new Map([['memory.available', supply(available)] as const]))).toBe(expected)
  })
})

describe('the pods of a node that runs out of something', () => {
  const starved = (signal: EvictionSignal): Starved => {
    const others = signal.endsWith('Free') ? 'inodes' : signal === 'pid.available' ? 'pids' : 'ephemeral-storage'
    const resource = signal === 'memory.available' ? 'memory' : others
    return { signal, resource, threshold: 100 * mebi, isSoft: false, available: 50 * mebi, capacity: 1e12 }
  }
  const pod = (name: string, requests: Record<string, string> = {}, priority = 0) =>
    testPod({ priority, containers: [testContainer({ resources: { requests } })] }, { metadata: { name } })
  const withMemory = (name: string, bytes: number, request = '0', priority = 0): UsingPod => ({
    pod: pod(name, { memory: request }, priority),
    memory: new Map([['web', bytes]]),
  })
  const stores = (
    name: string,
    volumeBytes: number,
    logBytes: number,
    layerBytes: number,
    request = '0',
  ): UsingPod => ({
    pod: pod(name, { 'ephemeral-storage': request }),
    storage: { volumeBytes, containers: new Map([['web', { logBytes, layerBytes }]]) },
  })
  const ranked = (pods: readonly UsingPod[], signal: EvictionSignal = 'memory.available', part: StoragePart = 'all') =>
    rankForEviction(pods, starved(signal), part).map((each) => each.pod.metadata.name)

  it.each<[string, readonly UsingPod[], readonly string[]]>([
    ['go first that use most', [withMemory('less', 10), withMemory('more', 20)], ['more', 'less']],
    [
      'go by what they use beyond their request',
      [withMemory('big', 100, '95'), withMemory('small', 10)],
      ['small', 'big'],
    ],
    [
      'go last that keep to it, however important others are',
      [withMemory('keeps', 90, '100'), withMemory('vip', 5, '1', 100)],
      ['vip', 'keeps'],
    ],
    ['go by importance where they do not', [withMemory('vip', 50, '0', 100), withMemory('any', 5)], ['any', 'vip']],
    [
      'go before all others where nothing is known',
      [withMemory('known', 50), { pod: pod('unknown') }],
      ['unknown', 'known'],
    ],
  ])('%s', (_, pods, order) => {
    expect(ranked(pods)).toEqual(order)
  })

  it('go by importance where process IDs run out, and then by how many they have', () => {
    const has = (name: string, processes: number | undefined, priority = 0): UsingPod => ({
      pod: pod(name, {}, priority),
      ...(processes === undefined ? {} : { processes }),
    })
    const pods = [has('few', 2), has('vip', 900, 1), has('many', 30), has('unknown', undefined)]
    expect(ranked(pods, 'pid.available')).toEqual(['unknown', 'many', 'few', 'vip'])
  })

  it.each<[StoragePart, readonly string[]]>([
    ['all', ['layers', 'volumes', 'logs']],
    ['layers', ['layers', 'volumes', 'logs']],
    ['not-layers', ['volumes', 'logs', 'layers']],
  ])('go by what is on the disk that is full: %s', (part, order) => {
    const pods = [stores('logs', 0, 10, 0), stores('volumes', 20, 0, 1), stores('layers', 0, 0, 30)]
    expect(ranked(pods, 'nodefs.available', part)).toEqual(order)
  })

  it.each<[EvictionSignal, boolean, StoragePart]>([
    ['nodefs.available', false, 'all'],
    ['imagefs.available', false, 'all'],
    ['nodefs.available', true, 'not-layers'],
    ['imagefs.inodesFree', true, 'layers'],
  ])('have on the disk of %s, with images apart: %s', (signal, hasImageDisk, part) => {
    expect(storagePart(signal, hasImageDisk)).toBe(part)
  })

  it.each<[Starved, UsingPod, string]>([
    [
      starved('memory.available'),
      withMemory('web', 64 * mebi, '32Mi'),
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container web was using 64Mi, request is 32Mi, has larger consumption of memory. ',
    ],
    [
      starved('memory.available'),
      withMemory('web', 16 * mebi, '32Mi'),
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
    ],
    [
      { ...starved('nodefs.available'), threshold: 46_993_491_787 },
      stores('web', 5, 1024, 2048),
      'The node was low on resource: ephemeral-storage. Threshold quantity: 46993491787, available: 50Mi. Container web was using 3Ki, request is 0, has larger consumption of ephemeral-storage. ',
    ],
    [
      { ...starved('nodefs.inodesFree'), threshold: 100, available: 7 },
      stores('web', 5, 1024, 2048),
      'The node was low on resource: inodes. Threshold quantity: 100, available: 7. ',
    ],
    [
      { ...starved('nodefs.inodesFree'), threshold: 51_200, available: 5_000 },
      stores('web', 5, 1024, 2048),
      'The node was low on resource: inodes. Threshold quantity: 50Ki, available: 5k. ',
    ],
    [
      { ...starved('pid.available'), threshold: 1000, asked: '1000', available: 999 },
      stores('web', 5, 1024, 2048),
      'The node was low on resource: pids. Threshold quantity: 1k, available: 999. ',
    ],
    [
      { ...starved('memory.available'), threshold: 1e9, asked: '1G' },
      withMemory('web', 2048 * mebi, '1024Mi'),
      'The node was low on resource: memory. Threshold quantity: 1G, available: 50Mi. Container web was using 2Gi, request is 1Gi, has larger consumption of memory. ',
    ],
    [
      starved('memory.available'),
      {
        pod: testPod({ resources: { requests: { memory: '64Mi' } } }, { metadata: { name: 'a' } }),
        memory: new Map([['web', 16 * mebi]]),
      },
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Pod a was using 16Mi, request is 64Mi, has larger consumption of memory. Container web was using 16Mi, request is 0, has larger consumption of memory. ',
    ],
  ])('are told why, as upstream tells it', (low, using, message) => {
    expect(evictionMessage(low, using)).toBe(message)
  })
})

it('counts memory that can be taken back at once as left', () => {
  const meminfo = 'MemTotal:  1000 kB\nMemFree:    100 kB\nInactive:   900 kB\nInactive(file):   300 kB\n'
  expect(parseMemory(meminfo)).toEqual({ available: 400 * 1024, capacity: 1000 * 1024 })
  expect(parseMemory('')).toBeUndefined()
})

it.each([
  ['1.36 3.49 4.53 2/3518 3715089\n', ['4194304\n', '100000\n'], { available: 96_482, capacity: 100_000 }],
  ['1.36 3.49 4.53 2/3518 3715089\n', ['', '4194304\n'], { available: 4_190_786, capacity: 4_194_304 }],
  ['1.36 3.49 4.53 2/3518 3715089\n', ['', ''], undefined],
  ['', ['4194304\n'], undefined],
])('counts the tasks that the kernel would still begin: %j of %j', (loadavg, limits, supply) => {
  expect(parseTasks(loadavg, limits)).toEqual(supply)
})

import type {
  Device,
  DeviceClass,
  Node,
  NodeSelector,
  ResourceClaim,
  ResourceSlice,
  ResourceSliceSpec,
} from '@coracle/api'
import { compileDeviceSelector, selectorVariables } from '@coracle/api/devices'
import { describe, expect, it } from 'vitest'
import { AllocatedDevices } from './allocated-devices.ts'
import { type Allocation, allocate } from './allocator.ts'
import { DevicePools, type PooledDevice } from './pools.ts'

const apiVersion = 'resource.k8s.io/v1'
const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { rack: 'a' } } }
let count = 0

/** Devices of node n1, in a pool of their own, unless said otherwise. */
function slice(devices: readonly (Device | string)[], spec: Partial<ResourceSliceSpec> = {}): ResourceSlice {
  const pool = { name: `pool-${++count}`, generation: 1, resourceSliceCount: 1 }
  const place = spec.allNodes || spec.nodeSelector || spec.perDeviceNodeSelection ? {} : { nodeName: 'n1' }
  const named = devices.map((each) => (typeof each === 'string' ? { name: each } : each))
  return {
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: `slice-${count}` },
    spec: { driver: 'd.example.com', pool, ...place, ...(named.length === 0 ? {} : { devices: named }), ...spec },
  }
}

const deviceClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  apiVersion,
  kind: 'DeviceClass',
  metadata: { name },
  spec,
})
const any = deviceClass('any')

type Devices = NonNullable<ResourceClaim['spec']['devices']>
const claim = (devices: Devices, name = 'c'): ResourceClaim => ({
  apiVersion,
  kind: 'ResourceClaim',
  metadata: { name, namespace: 'default', uid: name },
  spec: { devices },
})
const one = (more: object = {}, name = 'r') => ({
  name,
  exactly: { deviceClassName: 'any', allocationMode: 'ExactCount' as const, count: 1, ...more },
})
const all = { allocationMode: 'All' as const, count: undefined }
const selecting = (expression: string) => ({ selectors: [{ cel: { expression } }] })

function selects(expression: string, { driver, device }: PooledDevice) {
  const compiled = compileDeviceSelector(expression)
  return 'problem' in compiled
    ? { error: compiled.problem }
    : compiled.selector.matches(selectorVariables(driver, device))
}

function tried(
  slices: readonly ResourceSlice[],
  claims: readonly ResourceClaim[],
  { taken = [], classes = [any] }: { taken?: readonly string[]; classes?: readonly DeviceClass[] } = {},
): Allocation {
  const use = new AllocatedDevices()
  for (const device of taken) {
    const pool = slices.find(({ spec }) => spec.devices?.some(({ name }) => name === device))?.spec.pool.name ?? ''
    use.set(device, { devices: { results: [{ request: 'r', driver: 'd.example.com', pool, device }] } })
  }
  const pools = new DevicePools(slices)
  const find = (name: string) => classes.find(({ metadata }) => metadata.name === name)
  return allocate(claims, node, {
    devicesOn: (each) => pools.devicesOn(each),
    use,
    deviceClass: find,
    selects,
  })
}

/** The devices of each claim as `request=device`, or why there are none. */
function given(...args: Parameters<typeof tried>): readonly string[] | string {
  const allocation = tried(...args)
  if ('reason' in allocation) return allocation.reason
  return allocation.results.map(({ devices }) =>
    (devices?.results ?? []).map(({ request, device }) => `${request}=${device}`).join(' '),
  )
}

const none = 'cannot allocate all claims'
/** The slice, with the name of each device as an attribute too. */
const withNames = (each: ResourceSlice): ResourceSlice => ({
  ...each,
  spec: {
    ...each.spec,
    devices: each.spec.devices?.map((device) => ({ ...device, attributes: { name: { string: device.name } } })),
  },
})
const attribute = (name: string, value: string | number): Device => ({
  name,
  attributes: { group: typeof value === 'string' ? { string: value } : { int: value } },
})

describe('requests', () => {
  const fortyDevices = slice(Array.from({ length: 40 }, (_, index) => `d${index}`))
  const numbered = (from: number, length: number, request = 'r') =>
    Array.from({ length }, (_, index) => `${request}=d${from + index}`).join(' ')
  const tooMany = (wanted: number) =>
    `claim default/c: number of requested devices ${wanted} exceeds the claim limit of 32`
  const named = (name: string, more: object = {}) => ({ ...one(more).exactly, name })

  it.each<readonly [string, readonly string[] | string, Parameters<typeof tried>]>([
    ['one device', ['r=a'], [[slice(['a', 'b'])], [claim({ requests: [one()] })]]],
    ['what others have not', ['r=b'], [[slice(['a', 'b'])], [claim({ requests: [one()] })], { taken: ['a'] }]],
    ['nothing where there is no device', none, [[], [claim({ requests: [one()] })]]],
    ['nothing where all are taken', none, [[slice(['a'])], [claim({ requests: [one()] })], { taken: ['a'] }]],
    ['several', ['r=a r=b'], [[slice(['a', 'b', 'c'])], [claim({ requests: [one({ count: 2 })] })]]],
    ['no more than there are', none, [[slice(['a'])], [claim({ requests: [one({ count: 2 })] })]]],
    ['of several pools', ['r=a r=b'], [[slice(['a']), slice(['b'])], [claim({ requests: [one({ count: 2 })] })]]],
    ['of a class that is not there: none', none, [[slice(['a'])], [claim({ requests: [one()] })], { classes: [] }]],
    ['nothing, for which nothing is needed', [''], [[], [claim({})]]],
    [
      'several requests, which do not take from each other',
      ['x=a y=b'],
      [[slice(['a', 'b'])], [claim({ requests: [one({}, 'x'), one({}, 'y')] })]],
    ],
    [
      'several claims, which do not take from each other',
      ['r=a', 'r=b'],
      [[slice(['a', 'b'])], [claim({ requests: [one()] }), claim({ requests: [one()] }, 'd')]],
    ],
    [
      'what is left where a choice had to be taken back',
      ['x=b y=a'],
      [
        [slice([attribute('a', 'x'), 'b'])],
        [claim({ requests: [one({}, 'x'), one(selecting('has(device.attributes["d.example.com"].group)'), 'y')] })],
      ],
    ],
    ['all', ['r=a r=b'], [[slice(['a', 'b'])], [claim({ requests: [one(all)] })]]],
    ['all, and one is taken: none', none, [[slice(['a', 'b'])], [claim({ requests: [one(all)] })], { taken: ['a'] }]],
    ['all, of which there are none: none', none, [[], [claim({ requests: [one(all)] })]]],
    ['more than a claim may have: none', tooMany(33), [[fortyDevices], [claim({ requests: [one({ count: 33 })] })]]],
    ['as many as a claim may have', [numbered(0, 32)], [[fortyDevices], [claim({ requests: [one({ count: 32 })] })]]],
    [
      'more than a claim may have by several requests: none',
      tooMany(33),
      [[fortyDevices], [claim({ requests: [one({ count: 32 }, 'x'), one({}, 'y')] })]],
    ],
    [
      'all, and that is more than a claim may have: none',
      tooMany(40),
      [[fortyDevices], [claim({ requests: [one(all)] })]],
    ],
    [
      'more than a claim may have in the first way: the next',
      ['r/some=d0'],
      [[fortyDevices], [claim({ requests: [{ name: 'r', firstAvailable: [named('all', all), named('some')] }] })]],
    ],
    [
      'no first way that leaves other requests too few of what a claim may have',
      [`${numbered(0, 16, 'r/few')} ${numbered(16, 16, 's')}`],
      [
        [fortyDevices],
        [
          claim({
            requests: [
              { name: 'r', firstAvailable: [named('many', { count: 17 }), named('few', { count: 16 })] },
              one({ count: 16 }, 's'),
            ],
          }),
        ],
      ],
    ],
    [
      'as many for each of several claims',
      [numbered(0, 20), numbered(20, 20)],
      [[fortyDevices], [claim({ requests: [one({ count: 20 })] }), claim({ requests: [one({ count: 20 })] }, 'd')]],
    ],
    [
      'access to what others have, for whoever looks after it',
      ['r=a'],
      [[slice(['a'])], [claim({ requests: [one({ adminAccess: true })] })], { taken: ['a'] }],
    ],
  ])('get %s', (_, expected, args) => {
    expect(given(...args)).toEqual(expected)
  })

  it('are met in the first way that works', () => {
    const way = (name: string, expression: string) => ({ name, ...one(selecting(expression)).exactly })
    const request = { name: 'r', firstAvailable: [way('big', 'device.driver == "x"'), way('small', 'true')] }
    expect(given([slice(['a'])], [claim({ requests: [request] })])).toEqual(['r/small=a'])
    const both = { name: 'r', firstAvailable: [{ ...way('two', 'true'), count: 2 }, way('one', 'true')] }
    expect(given([slice(['a', 'b'])], [claim({ requests: [both] })])).toEqual(['r/two=a r/two=b'])
    // The first way would leave nothing for the other request.
    expect(given([slice(['a', 'b'])], [claim({ requests: [both, one({}, 's')] })])).toEqual(['r/one=a s=b'])
  })

  it('select by class and by themselves, and end where that cannot be told', () => {
    const gpus = deviceClass('any', selecting('device.attributes["d.example.com"].group == "gpu"'))
    const devices = [attribute('cpu', 'cpu'), attribute('gpu', 'gpu')]
    expect(given([slice(devices)], [claim({ requests: [one()] })], { classes: [gpus] })).toEqual(['r=gpu'])
    const both = claim({ requests: [one(selecting('device.driver == "other"'))] })
    expect(given([slice(devices)], [both], { classes: [gpus] })).toBe(none)
    expect(given([slice(['bare'])], [claim({ requests: [one()] })], { classes: [gpus] })).toBe(
      'class any: selector #0: CEL runtime error: no such key: group',
    )
  })
})

describe('constraints', () => {
  const devices = [attribute('a', 'x'), attribute('b', 'y'), attribute('c', 'y'), { name: 'bare' }]
  const group = 'd.example.com/group'

  it('match an attribute', () => {
    const two = claim({ requests: [one({ count: 2 })], constraints: [{ matchAttribute: group }] })
    expect(given([slice(devices)], [two])).toEqual(['r=b r=c'])
    expect(given([slice(devices)], [two], { taken: ['b'] })).toBe(none)
    const some = claim({
      requests: [one({}, 'x'), one({}, 'y'), one({}, 'free')],
      constraints: [{ requests: ['x', 'y'], matchAttribute: group }],
    })
    expect(given([slice(devices)], [some])).toEqual(['x=b y=c free=a'])
  })

  it('tell numbers from texts', () => {
    const two = claim({ requests: [one({ count: 2 })], constraints: [{ matchAttribute: group }] })
    expect(given([slice([attribute('a', '1'), attribute('b', 1)])], [two])).toBe(none)
  })

  it('mean an attribute of another driver by the domain in its name', () => {
    const named = (name: string, attributes: Device['attributes']): Device => ({ name, attributes })
    const [own, other] = [{ string: 'x' }, { string: 'y' }]
    const mixed = [
      named('a', { group: own }),
      named('b', { 'other.example.com/group': own, group: other }),
      named('c', { 'd.example.com/group': own }),
    ]
    const matching = (matchAttribute: string) =>
      given([slice(mixed)], [claim({ requests: [one({ count: 2 })], constraints: [{ matchAttribute }] })])
    expect(matching(group)).toEqual(['r=a r=c'])
    expect(matching('other.example.com/group')).toBe(none)
  })

  it('are about a way to meet a request, all its ways, or everything', () => {
    const two = {
      name: 'r',
      firstAvailable: [
        { ...one({ count: 2 }).exactly, name: 'two' },
        { ...one().exactly, name: 'one' },
      ],
    }
    const offered = [slice([attribute('a', 'x'), attribute('b', 'y')])]
    const by = (...requests: readonly string[]) =>
      given(offered, [claim({ requests: [two], constraints: [{ requests, matchAttribute: group }] })])
    expect(by('r/two')).toEqual(['r/one=a'])
    expect(by('r')).toEqual(['r/one=a'])
    expect(by('r/one')).toEqual(['r/two=a r/two=b'])
    expect(by('s')).toEqual(['r/two=a r/two=b'])
    expect(by()).toEqual(['r/one=a'])
  })

  it('keep an attribute distinct', () => {
    const two = claim({ requests: [one({ count: 2 })], constraints: [{ distinctAttribute: group }] })
    expect(given([slice(devices)], [two])).toEqual(['r=a r=b'])
    expect(given([slice(devices)], [two], { taken: ['a'] })).toBe(none)
  })
})

describe('slices', () => {
  const wanted = claim({ requests: [one()] })
  const selector = (value: string) => ({
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In' as const, values: [value] }] }],
  })

  it.each<readonly [string, Partial<ResourceSliceSpec>, object | string | undefined]>([
    [
      'of the node',
      { nodeName: 'n1' },
      { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] },
    ],
    ['of another node', { nodeName: 'n2' }, none],
    ['of all nodes', { nodeName: undefined, allNodes: true }, undefined],
    ['of nodes that are selected', { nodeName: undefined, nodeSelector: selector('a') }, selector('a')],
    ['of other nodes', { nodeName: undefined, nodeSelector: selector('b') }, none],
  ])('%s', (_, spec, expected) => {
    const allocation = tried([slice(['a'], spec)], [wanted])
    expect('reason' in allocation ? allocation.reason : allocation.results[0]?.nodeSelector).toEqual(expected)
  })

  const oneOf = (key: string, value: string) => ({
    nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In' as const, values: [value] }] }],
  })
  const nodeSelectorOf = (slices: readonly ResourceSlice[], count: number) => {
    const allocation = tried(slices, [claim({ requests: [one({ count })] })])
    return 'reason' in allocation ? allocation.reason : allocation.results[0]?.nodeSelector
  }
  const byName = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] }

  it('keep a claim to nodes that all of them select, each requirement once', () => {
    const everywhere = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'gone', operator: 'DoesNotExist' as const }] }],
    }
    const slices = [oneOf('rack', 'a'), oneOf('rack', 'a'), everywhere].map((nodeSelector, index) =>
      slice([`d${index}`], { nodeSelector }),
    )
    expect(nodeSelectorOf(slices, 3)).toEqual({
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'rack', operator: 'In', values: ['a'] },
            { key: 'gone', operator: 'DoesNotExist' },
          ],
        },
      ],
    })
  })

  it('keep a claim to nodes by their fields', () => {
    expect(nodeSelectorOf([slice(['a'], { nodeSelector: byName as NodeSelector })], 1)).toEqual(byName)
  })

  it('keep a claim to the node where one of its devices is of that node, or binds to it', () => {
    const anywhere = slice(['far'], { allNodes: true })
    expect(nodeSelectorOf([slice(['near']), anywhere], 2)).toEqual(byName)
    expect(nodeSelectorOf([anywhere], 1)).toBeUndefined()
    expect(nodeSelectorOf([slice([{ name: 'bound', bindsToNode: true }], { allNodes: true })], 1)).toEqual(byName)
  })

  it('offer the devices of the node before those of others', () => {
    expect(given([slice(['far'], { allNodes: true }), slice(['near'])], [wanted])).toEqual(['r=near'])
  })

  it('may leave it to their devices where these can be used', () => {
    const devices = [
      { name: 'a', nodeName: 'n2' },
      { name: 'b', nodeSelector: selector('b') },
      { name: 'c', allNodes: true },
    ]
    expect(given([slice(devices, { nodeName: undefined, perDeviceNodeSelection: true })], [wanted])).toEqual(['r=c'])
  })

  it('count in their newest generation', () => {
    const pool = { name: 'p', resourceSliceCount: 1 }
    const [old, young] = [1, 2].map((generation) => slice([`g${generation}`], { pool: { ...pool, generation } }))
    if (old === undefined || young === undefined) throw new Error('unreachable')
    expect(given([old, young], [wanted])).toEqual(['r=g2'])
  })

  it('count when all of their pool are there', () => {
    const part = slice(['a'], { pool: { name: 'p', generation: 1, resourceSliceCount: 2 } })
    expect(given([part], [wanted])).toBe(none)
    expect(given([part], [claim({ requests: [one(all)] })])).toBe(
      'claim default/c, request r: asks for all devices, but resource pool d.example.com/p is currently being updated',
    )
    const rest = slice(['b'], { pool: part.spec.pool })
    expect(given([part, rest], [claim({ requests: [one(all)] })])).toEqual(['r=a r=b'])
  })

  it('give nothing where two of a pool have a device of the same name', () => {
    const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
    expect(given([slice(['a'], { pool }), slice(['a'], { pool })], [wanted])).toBe(
      'pool d.example.com/p is invalid: duplicate device name a',
    )
  })
})

describe('taints', () => {
  const tainted = (effect: 'NoSchedule' | 'NoExecute' | 'None'): Device => ({
    name: 'a',
    taints: [{ key: 'broken', value: 'yes', effect }],
  })
  const tolerations = [{ key: 'broken', operator: 'Exists' as const }]

  it.each(['NoSchedule', 'NoExecute'] as const)('keep claims away that do not tolerate them: %s', (effect) => {
    expect(given([slice([tainted(effect)])], [claim({ requests: [one()] })])).toBe(none)
    const allocation = tried([slice([tainted(effect)])], [claim({ requests: [one({ tolerations })] })])
    expect(allocation).toMatchObject({ results: [{ devices: { results: [{ device: 'a', tolerations }] } }] })
  })

  it('that only tell people keep nobody away', () => {
    expect(given([slice([tainted('None')])], [claim({ requests: [one()] })])).toEqual(['r=a'])
  })
})

describe('counters', () => {
  const counters = (value: string) => [{ counterSet: 'card', counters: { memory: { value } } }]
  const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
  const shared = slice([], { pool, sharedCounters: [{ name: 'card', counters: { memory: { value: '40Gi' } } }] })
  const parts = slice(
    [
      { name: 'whole', consumesCounters: counters('40Gi') },
      { name: 'half-1', consumesCounters: counters('20Gi') },
      { name: 'half-2', consumesCounters: counters('20Gi') },
    ],
    { pool },
  )

  it('are drawn from by devices that somebody has', () => {
    expect(given([shared, parts], [claim({ requests: [one()] })], { taken: ['half-1'] })).toEqual(['r=half-2'])
    expect(given([shared, parts], [claim({ requests: [one()] })], { taken: ['whole'] })).toBe(none)
    expect(given([shared, parts], [claim({ requests: [one({ count: 2 })] })])).toEqual(['r=half-1 r=half-2'])
    expect(given([shared, parts], [claim({ requests: [one({ count: 3 })] })])).toBe(none)
  })
})

describe('counters that devices draw from', () => {
  const drawing = (counterSet: string, counter: string): Device => ({
    name: 'a',
    consumesCounters: [{ counterSet, counters: { [counter]: { value: '1' } } }],
  })
  const offered = (device: Device) => [
    slice([device], { sharedCounters: [{ name: 'card', counters: { memory: { value: '1' } } }] }),
  ]

  it.each<[string, Device, readonly string[] | string]>([
    ['are enough where all is left', drawing('card', 'memory'), ['r=a']],
    ['have to be in the set', drawing('card', 'cores'), none],
    ['have to be in a set that is there', drawing('other', 'memory'), none],
  ])('%s', (_what, device, expected) => {
    expect(given(offered(device), [claim({ requests: [one()] })])).toEqual(expected)
  })

  it('are counted set by set, and counter by counter', () => {
    const draws = (name: string, counterSet: string, counters: Readonly<Record<string, string>>): Device => ({
      name,
      consumesCounters: [
        { counterSet, counters: Object.fromEntries(Object.entries(counters).map(([key, value]) => [key, { value }])) },
      ],
    })
    const sets = ['left', 'right'].map((name) => ({
      name,
      counters: { memory: { value: '4' }, cores: { value: '2' } },
    }))
    const devices = [
      draws('other-set', 'right', { memory: '4', cores: '2' }),
      draws('little', 'left', { memory: '1' }),
      draws('cores', 'left', { cores: '2' }),
      draws('much', 'left', { memory: '4' }),
      draws('rest', 'left', { memory: '3', cores: '0' }),
    ]
    const slices = [slice(devices, { sharedCounters: sets })]
    const left = (taken: readonly string[]) =>
      devices
        .map(({ name }) => name)
        .filter((name) => !taken.includes(name))
        .filter((name) => {
          const selector = selecting(`device.attributes["d.example.com"].name == "${name}"`)
          return Array.isArray(
            given(
              slices.map((each) => withNames(each)),
              [claim({ requests: [one(selector)] })],
              { taken },
            ),
          )
        })
    expect(left(['little', 'other-set', 'cores'])).toEqual(['rest'])
    expect(left(['much'])).toEqual(['other-set', 'cores'])
  })

  it('are drawn from once by a device that several have', () => {
    const shared: Device = {
      ...drawing('card', 'memory'),
      allowMultipleAllocations: true,
      capacity: { slots: { value: '2', requestPolicy: { default: '1' } } },
    }
    expect(given(offered(shared), [claim({ requests: [one({ count: 2 })] })])).toEqual(['r=a r=a'])
    const greedy: Device = {
      ...shared,
      consumesCounters: [{ counterSet: 'card', counters: { memory: { value: '2' } } }],
    }
    expect(given(offered(greedy), [claim({ requests: [one()] })])).toBe(none)
  })
})

describe('a device that several may have', () => {
  const nic: Device = {
    name: 'nic',
    allowMultipleAllocations: true,
    capacity: { bandwidth: { value: '10', requestPolicy: { default: '1', validRange: { min: '1', step: '2' } } } },
  }
  const wanted = (bandwidth?: string) =>
    claim(
      { requests: [one(bandwidth === undefined ? {} : { capacity: { requests: { bandwidth } } })] },
      `c${bandwidth}`,
    )

  it('is had in parts, as long as something is left', () => {
    const allocation = tried([slice([nic])], [wanted('4'), wanted('5')])
    expect(allocation).toMatchObject({
      results: ['5', '5'].map((bandwidth) => ({ devices: { results: [{ consumedCapacity: { bandwidth } }] } })),
    })
    expect(given([slice([nic])], [wanted('4'), wanted('5'), wanted()])).toBe(none)
    expect(given([slice([nic])], [wanted('11')])).toBe(none)
    expect(tried([slice([nic])], [wanted()])).toMatchObject({
      results: [{ devices: { results: [{ consumedCapacity: { bandwidth: '1' } }] } }],
    })
  })
})

describe('a device of which others have a part', () => {
  const nic: Device = {
    name: 'nic',
    allowMultipleAllocations: true,
    capacity: { bandwidth: { value: '10' }, queues: { value: '4', requestPolicy: { default: '0' } } },
  }
  const wanted = (bandwidth: string, more: object = {}) =>
    claim({ requests: [one({ capacity: { requests: { bandwidth } }, ...more })] })
  const afterSix = (...claims: readonly ResourceClaim[]) => {
    const offered = slice([nic])
    const use = new AllocatedDevices()
    const results = [
      {
        request: 'r',
        driver: 'd.example.com',
        pool: offered.spec.pool.name,
        device: 'nic',
        consumedCapacity: { bandwidth: '6' },
      },
    ]
    use.set('other', { devices: { results } })
    const pools = new DevicePools([offered])
    return allocate(claims, node, { devicesOn: (each) => pools.devicesOn(each), use, deviceClass: () => any, selects })
  }
  const consumed = (bandwidth: string) => ({ devices: { results: [{ consumedCapacity: { bandwidth, queues: '0' } }] } })

  it('is had for what they leave', () => {
    expect(afterSix(wanted('4'))).toMatchObject({ results: [consumed('4')] })
    expect(afterSix(wanted('5'))).toEqual({ reason: none })
    expect(afterSix(wanted('2'), wanted('2'))).toMatchObject({ results: [consumed('2'), consumed('2')] })
    expect(afterSix(wanted('2'), wanted('3'))).toEqual({ reason: none })
  })

  it('is not measured for who only looks after it', () => {
    const allocation = afterSix(wanted('9', { adminAccess: true }), wanted('4'))
    expect(allocation).toMatchObject({ results: [{ devices: { results: [{ adminAccess: true }] } }, consumed('4')] })
    expect('results' in allocation && allocation.results[0]?.devices?.results?.[0]).not.toHaveProperty(
      'consumedCapacity',
    )
  })

  it('is given back where a choice has to be taken back', () => {
    const way = (name: string, bandwidth: string) => ({
      ...one({ capacity: { requests: { bandwidth } } }).exactly,
      name,
    })
    const request = { name: 'r', firstAvailable: [way('fast', '4'), way('slow', '1')] }
    const both = claim({ requests: [request, one({ capacity: { requests: { bandwidth: '3' } } }, 's')] })
    const allocation = afterSix(both)
    expect('results' in allocation && allocation.results[0]?.devices?.results?.map((each) => each.request)).toEqual([
      'r/slow',
      's',
    ])
  })
})

describe('what is asked of a device as a whole', () => {
  it('is nothing that it does not have, and may be all that it has', () => {
    const device: Device = { name: 'a', capacity: { memory: { value: '20Gi' } } }
    const asking = (requests: Record<string, string>) =>
      given([slice([device])], [claim({ requests: [one({ capacity: { requests } })] })])
    expect(asking({ memory: '20Gi' })).toEqual(['r=a'])
    expect(asking({ memory: '20Gi', cores: '1' })).toBe(none)
  })

  it('is how much it has', () => {
    const devices = ['10Gi', '40Gi'].map((value) => ({
      name: `m${value.toLowerCase()}`,
      capacity: { memory: { value } },
    }))
    const wanted = claim({ requests: [one({ capacity: { requests: { memory: '20Gi' } } })] })
    expect(given([slice(devices)], [wanted])).toEqual(['r=m40gi'])
  })
})

it('hands on the parameters of classes and of the claim', () => {
  const opaque = (driver: string) => ({ opaque: { driver, parameters: { a: 1 } } })
  const configured = deviceClass('any', { config: [opaque('class.example.com')] })
  const wanted = claim({
    requests: [one()],
    config: [opaque('claim.example.com'), { requests: ['r'], ...opaque('r.example.com') }],
  })
  const allocation = tried([slice(['a'])], [wanted], { classes: [configured] })
  expect('results' in allocation && allocation.results[0]?.devices?.config).toEqual([
    { source: 'FromClass', requests: ['r'], ...opaque('class.example.com') },
    { source: 'FromClaim', ...opaque('claim.example.com') },
    { source: 'FromClaim', requests: ['r'], ...opaque('r.example.com') },
  ])
})

it('hands on no parameters that are for a way that was not taken', () => {
  const opaque = (driver: string) => ({ opaque: { driver, parameters: { a: 1 } } })
  const configured = deviceClass('any', { config: [opaque('class.example.com')] })
  const way = (name: string, count: number) => ({ ...one({ count }).exactly, name })
  const wanted = claim({
    requests: [{ name: 'r', firstAvailable: [way('two', 2), way('one', 1)] }],
    config: ['r/two', 'r/one', 'r', 's'].map((request) => ({
      requests: [request],
      ...opaque(`${request}.example.com`),
    })),
  })
  const allocation = tried([slice(['a'])], [wanted], { classes: [configured] })
  expect('results' in allocation && allocation.results[0]?.devices?.config).toEqual([
    { source: 'FromClass', requests: ['r/one'], ...opaque('class.example.com') },
    { source: 'FromClaim', requests: ['r/one'], ...opaque('r/one.example.com') },
    { source: 'FromClaim', requests: ['r'], ...opaque('r.example.com') },
  ])
})

it('hands on what devices wait for before their pod is bound', () => {
  const conditions = { bindingConditions: ['Ready'], bindingFailureConditions: ['Broken'] }
  const bare = { request: 'r', driver: 'd.example.com', pool: expect.any(String), device: 'bare' }
  const allocation = tried([slice([{ name: 'a', ...conditions }, 'bare'])], [claim({ requests: [one({ count: 2 })] })])
  expect('results' in allocation && allocation.results[0]?.devices).toEqual({
    results: [{ ...bare, device: 'a', ...conditions }, bare],
  })
})

describe('devices that their pod has to wait for', () => {
  const waiting = (name: string): Device => ({ name, bindingConditions: ['Ready'] })
  const places = { 'of the node': {}, 'of all nodes': { allNodes: true } }
  it.each(Object.entries(places))('come after others of another pool: %s', (_, place) => {
    const slices = [slice([waiting('a')], place), slice(['b'], { allNodes: true }), slice(['c'])]
    expect(given(slices, [claim({ requests: [one({ count: 2 })] })])).toEqual(['r=c r=b'])
    expect(given(slices, [claim({ requests: [one({ count: 3 })] })])).toEqual(['r=c r=b r=a'])
  })

  it('come after others of their pool, with all that is in their slice', () => {
    const pool = { name: 'pool', generation: 1, resourceSliceCount: 2 }
    const slices = [slice(['a', waiting('b')], { pool }), slice(['c'], { pool })]
    expect(given(slices, [claim({ requests: [one({ count: 3 })] })])).toEqual(['r=c r=a r=b'])
  })
})

it('gives up where there are too many choices', () => {
  const devices = Array.from({ length: 60 }, (_, index) => attribute(`d${index}`, index % 2))
  const early = claim({
    requests: [one({ count: 16 }), one({ count: 16 }, 's')],
    constraints: [
      { requests: ['r'], matchAttribute: 'd.example.com/group' },
      { matchAttribute: 'd.example.com/nothing' },
    ],
  })
  expect(given([slice(devices)], [early])).toBe(none)
  const late = claim({ requests: [one({ count: 20 }), one(selecting('false'), 's')] })
  expect(given([slice(devices)], [late])).toBe('timed out trying to allocate devices')
})

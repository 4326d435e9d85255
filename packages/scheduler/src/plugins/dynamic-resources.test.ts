import type { Pod, ResourceClaim } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { ClusterEvent } from '../cluster-event.ts'
import type { DeviceBinder } from '../devices/device-binder.ts'
import type { DeviceCache } from '../devices/device-cache.ts'
import { NodeInfo } from '../node-info.ts'
import { makeCluster, makeNode, makePod } from '../testing/objects.ts'
import { dynamicResources } from './dynamic-resources.ts'

const claim = (name: string, status: ResourceClaim['status'] = {}, namespace = 'default'): ResourceClaim =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace, uid: `uid-${name}` },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'any' } }] } },
    status,
  }) as unknown as ResourceClaim
const using = (...names: readonly string[]): Pod =>
  makePod({ resourceClaims: names.map((each) => ({ name: each, resourceClaimName: each })) }, 'web')
const plain = makePod({}, 'plain')

interface Surroundings {
  readonly claims?: readonly ResourceClaim[]
  readonly isReady?: boolean
  readonly pastHope?: readonly string[]
}

/** The plugin, with what it has asked the binder for. */
function plugin({ claims = [], isReady = true, pastHope = [] }: Surroundings = {}) {
  const asked: string[] = []
  const devices = {
    isReady,
    claim: (_: string, name: string) => claims.find(({ metadata }) => metadata.name === name),
    deviceClass: () => ({ spec: {} }),
    isPending: () => false,
    allocate: (claims: readonly ResourceClaim[]) =>
      claims.length === 0 ? { results: [] } : { reason: 'cannot allocate all claims' },
  } as unknown as DeviceCache
  const binder = {
    isPastHope: ({ metadata }: ResourceClaim) => pastHope.includes(metadata.name ?? ''),
    release: async ({ metadata }: ResourceClaim) => void asked.push(`release ${metadata.name}`),
    reserve: ({ metadata }: Pod) => void asked.push(`reserve ${metadata.name}`),
    unreserve: ({ metadata }: Pod) => void asked.push(`unreserve ${metadata.name}`),
    bind: ({ metadata }: Pod) => void asked.push(`bind ${metadata.name}`),
  } as unknown as DeviceBinder
  return { ...dynamicResources(devices, binder), asked }
}

const node = new NodeInfo(makeNode({ name: 'n1' }))
const cluster = makeCluster([node])
/** Why the node does not take the pod, or no node does. */
function refusal(surroundings: Surroundings, pod: Pod): unknown {
  const filter = plugin(surroundings).filter?.(pod, cluster)
  return filter?.rejection ?? filter?.refuse(node)
}
const because = (reason: string) => ({ reasons: [reason], isHelpedByEviction: false })

const elsewhere = {
  allocation: {
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }] },
  },
} as ResourceClaim['status']

describe('a node', () => {
  it.each<[string, unknown, Surroundings, Pod]>([
    ['takes a pod without claims', undefined, {}, plain],
    [
      'takes a pod whose claims have devices there',
      undefined,
      { claims: [claim('a', { allocation: {} })] },
      using('a'),
    ],
    [
      'takes no pod whose devices are elsewhere',
      because('resourceclaim not available on the node'),
      { claims: [claim('a', { allocation: {} }), claim('b', elsewhere)] },
      using('a', 'b'),
    ],
    [
      'takes no pod whose devices do not get ready',
      because('resourceclaim not available on the node'),
      { claims: [claim('a', { allocation: {} })], pastHope: ['a'] },
      using('a'),
    ],
    [
      'takes no pod whose devices it has not',
      because('cannot allocate all claims'),
      { claims: [claim('a')] },
      using('a'),
    ],
    ['takes no pod whose claim is missing', because('could not find ResourceClaim "default/a"'), {}, using('a')],
    [
      'takes no pod that wants devices where nobody can be asked for them',
      because('there are no devices'),
      { claims: [claim('a')], isReady: false },
      using('a'),
    ],
    [
      'takes a pod that has them where nobody can be asked for others',
      undefined,
      { claims: [claim('a', { allocation: {} })], isReady: false },
      using('a'),
    ],
  ])('%s', (_what, expected, surroundings, pod) => {
    expect(refusal(surroundings, pod)).toEqual(expected)
  })
})

describe('a pod that found no node', () => {
  const user = (uid: string) => ({ resource: 'pods', name: uid, uid })
  const used = (...users: readonly string[]) => ({ ...elsewhere, reservedFor: users.map(user) })

  /** What is said, and which claims are released. */
  function after(claims: readonly ResourceClaim[], pod: Pod) {
    const tried = plugin({ claims })
    tried.filter?.(pod, cluster)?.refuse(node)
    return [tried.postFilter?.(pod)?.message, ...tried.asked]
  }

  it.each<[string, readonly (string | undefined)[], readonly ResourceClaim[], Pod]>([
    ['is not helped where it has no claims', [undefined], [], plain],
    [
      'has the claim released that is elsewhere',
      ['deallocation of ResourceClaim completed', 'release b'],
      [claim('a', { allocation: {} }), claim('b', elsewhere)],
      using('a', 'b'),
    ],
    [
      'has it released where it is its only user',
      ['deallocation of ResourceClaim completed', 'release a'],
      [claim('a', used('uid-web'))],
      using('a'),
    ],
    [
      'has none released that others use',
      ['still not schedulable'],
      [claim('a', used('other')), claim('b', used('uid-web', 'other'))],
      using('a', 'b'),
    ],
    ['has none released that is not in the way', ['still not schedulable'], [claim('a')], using('a')],
  ])('%s', (_what, expected, claims, pod) => {
    expect(after(claims, pod)).toEqual(expected)
  })

  it('is not helped before it was tried', () => {
    expect(plugin({ claims: [claim('a', elsewhere)] }).postFilter?.(using('a'))).toEqual({
      message: 'still not schedulable',
    })
  })
})

describe('whether a pod that waits is woken by', () => {
  const has = { allocation: {} }
  const changed = (now: ResourceClaim | undefined, old?: ResourceClaim): ClusterEvent => ({
    type: 'resource-claim-changed',
    ...(now === undefined ? {} : { claim: now }),
    ...(old === undefined ? {} : { old }),
  })

  it.each<[string, ClusterEvent, boolean]>([
    ['other devices', { type: 'devices-changed' }, true],
    ['anything else', { type: 'namespace-changed', namespace: 'default' }, false],
    ['its claim, which has come', changed(claim('a')), true],
    ['its claim, whose status has changed', changed(claim('a', has), claim('a')), true],
    ['its claim, whose status is as it was', changed(claim('a', has), claim('a', { allocation: {} })), false],
    ['its claim, which has gone', changed(undefined, claim('a')), false],
    ['another claim', changed(claim('b')), false],
    ['a claim of its name elsewhere', changed(claim('a', {}, 'other')), false],
    ['another claim that has given its devices back', changed(claim('b'), claim('b', has)), true],
    ['another claim that has gone with its devices', changed(undefined, claim('b', has)), true],
    ['another claim that has got devices', changed(claim('b', has), claim('b')), false],
    ['another claim that keeps its devices', changed(claim('b', { ...has, devices: [] }), claim('b', has)), false],
  ])('%s', (_what, event, isHelped) => {
    expect(plugin().isHelpedBy?.(using('a'), event, cluster)).toBe(isHelped)
  })
})

it('tells pods apart by their claims', () => {
  const { signature } = plugin()
  expect(signature(plain)).toBeUndefined()
  expect(signature(using('a'))).toEqual(['default', ['a']])
  expect(signature(using('b'))).not.toEqual(signature(using('a')))
})

it('has the binder do something only for pods with claims', () => {
  const { reserve, unreserve, preBind, asked } = plugin()
  for (const pod of [plain, using('a')]) reserve?.(pod, node)
  expect(asked).toEqual(['reserve web'])
  unreserve?.(using('a'), node)
  preBind?.(using('a'), node)
  expect(asked.slice(1)).toEqual(['unreserve web', 'bind web'])
})

describe('nodes', () => {
  const way = (name: string, only: string) => ({ name, deviceClassName: only })
  const preferring = (name: string, ...classes: readonly string[]): ResourceClaim =>
    ({
      ...claim(name),
      spec: {
        devices: { requests: [{ name: 'r', firstAvailable: classes.map((each, index) => way(`w${index}`, each)) }] },
      },
    }) as ResourceClaim
  const nodes = ['n1', 'n2', 'n3'].map((name) => new NodeInfo(makeNode({ name })))

  /** Each node has devices of the class that is called like it. */
  function scores(...claims: readonly ResourceClaim[]): readonly number[] | undefined {
    const offer = {
      isReady: true,
      claim: (_: string, name: string) => claims.find(({ metadata }) => metadata.name === name),
      deviceClass: () => ({ spec: {} }),
      isPending: () => false,
      allocate: (wanting: readonly ResourceClaim[], { metadata }: { metadata: { name: string } }) => ({
        results: wanting.map(({ spec }) => {
          const [request] = spec.devices?.requests ?? []
          const found = request?.firstAvailable?.find(({ deviceClassName }) => deviceClassName === metadata.name)
          return { devices: { results: [{ request: found === undefined ? 'r' : `r/${found.name}` }] } }
        }),
      }),
    } as unknown as DeviceCache
    const { filter, scorer } = dynamicResources(offer, { isPastHope: () => false } as unknown as DeviceBinder)
    const pod = using(...claims.map(({ metadata }) => metadata.name ?? ''))
    const asked = filter?.(pod, makeCluster(nodes))
    for (const each of nodes) expect(asked?.refuse(each)).toBe(undefined)
    const said = scorer?.(pod, makeCluster(nodes), nodes)
    const all = Float64Array.from(nodes, (each) => said?.score(each) ?? 0)
    said?.normalize?.(all, nodes)
    return said && [...all]
  }

  it('are the better the earlier the claim lists what they have', () => {
    // 7, 8 and 6 of 8.
    expect(scores(preferring('a', 'n2', 'n1', 'n3'))).toEqual([87, 100, 75])
  })

  it('are judged by all claims of the pod', () => {
    // 8 + 6, 7 + 8 and 6 + 7 of 15, as in upstream's testPrioritizedListScoring.
    expect(scores(preferring('a', 'n1', 'n2', 'n3'), preferring('b', 'n2', 'n3', 'n1'))).toEqual([93, 100, 86])
  })

  it('are alike where nothing is preferred', () => {
    expect(scores(claim('a'))).toBe(undefined)
  })
})

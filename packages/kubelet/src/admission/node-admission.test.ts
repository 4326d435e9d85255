import type { Container, Node, NodeSpec, Pod, PodSpec } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { NodeAdmission, refusalBurst, refusalsPerSecond } from './node-admission.ts'
import type { PreemptablePod } from './preemption.ts'

const allocatable = { cpu: '4', memory: '1Gi', pods: '3', 'ephemeral-storage': '10Gi' }

function admission(
  known: Node = node(),
  now: Node = known,
  { clock } = virtualEnvironment(),
  strictGroups = false,
  pressures: readonly string[] = [],
  others: readonly PreemptablePod[] = [],
): NodeAdmission {
  return new NodeAdmission({
    clock,
    allocatable,
    operatingSystem: 'linux',
    strictGroups,
    pressures: () => pressures,
    others: () => others,
    known: () => known,
    read: () => Promise.resolve(now),
  })
}

function node(labels: Readonly<Record<string, string>> = {}, spec: NodeSpec = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a', labels }, spec }
}

const asking = (requests: Readonly<Record<string, string>>, more: Partial<PodSpec> = {}): Pod =>
  testPod({ containers: [testContainer({ resources: { requests } })], ...more })

const onPort = (hostPort: number, more: object = {}): Pod => {
  const ports: Container['ports'] = [{ containerPort: 80, hostPort, ...more }]
  return testPod({ containers: [testContainer({ ports })] })
}

describe('a node takes on pods with kernel settings', () => {
  const setting = (name: string, more: Partial<PodSpec> = {}): Pod =>
    testPod({ securityContext: { sysctls: [{ name, value: '1' }] }, ...more })

  it.each([
    [setting('kernel.shm_rmid_forced'), undefined],
    [setting('net/ipv4/tcp_syncookies'), undefined],
    [setting('kernel.shm_rmid_forced', { hostNetwork: true }), undefined],
    [setting('kernel.msgmax'), '"kernel.msgmax" not allowlisted'],
    [setting('net.ipv4.tcp_rmem', { hostNetwork: true }), '"net.ipv4.tcp_rmem" not allowed with host net enabled'],
    [
      setting('kernel.shm_rmid_forced', { hostIPC: true }),
      '"kernel.shm_rmid_forced" not allowed with host ipc enabled',
    ],
  ])('that are safe, and no others: %#', async (pod, problem) => {
    const refusal = { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` }
    expect(await admission().admit('a', pod)).toEqual(problem === undefined ? undefined : refusal)
  })
})

describe('a node takes on', () => {
  it('as many pods as it has room for, and says what the next one lacks', async () => {
    const full = admission()
    expect(await full.admit('a', asking({ cpu: '3' }))).toBeUndefined()
    expect(await full.admit('b', asking({ cpu: '1500m' }))).toEqual({
      reason: 'OutOfcpu',
      message: "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
    })
    expect(await full.admit('b', asking({ cpu: '1', memory: '2Gi' }))).toEqual({
      reason: 'OutOfmemory',
      message: "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
    })
    full.release('a')
    expect(await full.admit('b', asking({ cpu: '4' }))).toBeUndefined()
  })

  it('no more pods than it may have', async () => {
    const full = admission()
    full.count('a', testPod())
    for (const uid of ['b', 'c']) expect(await full.admit(uid, testPod())).toBeUndefined()
    expect(await full.admit('d', testPod())).toEqual({
      reason: 'OutOfpods',
      message: "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    })
  })

  it('pods that ask for what it has never heard of: others count that', async () => {
    expect(await admission().admit('a', asking({ 'example.com/gpu': '1' }))).toBeUndefined()
    expect(await admission().admit('a', asking({ 'hugepages-2Mi': '2Mi' }))).toEqual({
      reason: 'OutOfhugepages-2Mi',
      message: "Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
    })
  })

  it('pods that want no other groups than theirs, where its runtime can do that', async () => {
    const pod = testPod({ securityContext: { supplementalGroupsPolicy: 'Strict' } })
    expect(await admission().admit('a', pod)).toEqual({
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    })
    expect(await admission(node(), node(), virtualEnvironment(), true).admit('a', pod)).toBeUndefined()
    const merging = testPod({ securityContext: { supplementalGroupsPolicy: 'Merge' } })
    expect(await admission().admit('a', merging)).toBeUndefined()
  })

  it('pods, and says of several reasons against one the first by upstream’s order', async () => {
    const tainted = node({}, { taints: [{ key: 'gone', effect: 'NoExecute' }] })
    const port = onPort(80)
    const why = async (pod: Pod) => {
      const taken = admission(tainted)
      taken.count('x', port)
      return (await taken.admit('a', pod))?.reason
    }
    expect([await why(port), await why({ ...port, spec: { ...port.spec, nodeSelector: { disk: 'ssd' } } })]).toEqual([
      'NodePorts',
      'NodeAffinity',
    ])
  })

  it.each<[string, Pod, boolean]>([
    ['the same', onPort(80), true],
    ['one of another number', onPort(81), false],
  ])('a pod with a port of the node beside one with %s', async (_, pod, refused) => {
    const taken = admission()
    await taken.admit('a', onPort(80))
    expect(await taken.admit('b', pod)).toEqual(
      refused
        ? {
            reason: 'NodePorts',
            message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
          }
        : undefined,
    )
  })

  it('pods that are meant for it', async () => {
    const pod = testPod({ nodeSelector: { disk: 'ssd' } })
    const refusal = {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    }
    expect(await admission(node({ disk: 'hdd' })).admit('a', pod)).toEqual(refusal)
    expect(await admission(node({ disk: 'ssd' })).admit('a', pod)).toBeUndefined()
  })

  it('pods that a label allows which it has only just got', async () => {
    const pod = testPod({ nodeSelector: { disk: 'ssd' } })
    expect(await admission(node(), node({ disk: 'ssd' })).admit('a', pod)).toBeUndefined()
  })

  it('pods that it would not have to put off at once', async () => {
    const tainted = node({}, { taints: [{ key: 'gone', effect: 'NoExecute' }] })
    expect(await admission(tainted).admit('a', testPod())).toEqual({
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    })
    expect(await admission(tainted).admit('a', testPod({ tolerations: [{ operator: 'Exists' }] }))).toBeUndefined()
    const closed = node({}, { taints: [{ key: 'closed', effect: 'NoSchedule' }] })
    expect(await admission(closed).admit('a', testPod())).toBeUndefined()
  })

  it('pods for its operating system', async () => {
    expect(await admission().admit('a', testPod({ os: { name: 'windows' } }))).toEqual({
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    })
    expect(await admission().admit('a', testPod({ os: { name: 'linux' } }))).toBeUndefined()
  })
})

describe('a node that runs out of something', () => {
  const [memory, disk] = [['MemoryPressure'], ['DiskPressure']]
  const ofQuality = (qosClass: 'BestEffort' | 'Burstable', more: Partial<PodSpec> = {}): Pod =>
    testPod(more, { status: { qosClass } })
  const tolerating = (key: string) => ({
    tolerations: [{ key, operator: 'Exists' as const, effect: 'NoSchedule' as const }],
  })
  it.each<[string, readonly string[], Pod, string | undefined]>([
    ['takes a pod on without pressure', [], ofQuality('BestEffort'), undefined],
    ['takes none of best effort for want of memory', memory, ofQuality('BestEffort'), '[MemoryPressure]'],
    ['takes others for want of memory', memory, ofQuality('Burstable'), undefined],
    [
      'takes one that tolerates that',
      memory,
      ofQuality('BestEffort', tolerating('node.kubernetes.io/memory-pressure')),
      undefined,
    ],
    ['takes none for want of disk', disk, ofQuality('Burstable'), '[DiskPressure]'],
    [
      'takes none for want of disk, whatever it tolerates',
      disk,
      ofQuality('Burstable', tolerating('node.kubernetes.io/disk-pressure')),
      '[DiskPressure]',
    ],
    ['takes none for want of both', [...memory, ...disk], ofQuality('Burstable'), '[MemoryPressure DiskPressure]'],
    ['takes what the system depends on', disk, ofQuality('BestEffort', { priority: 2_000_000_000 }), undefined],
  ])('%s', async (_, pressures, pod, conditions) => {
    const refusal = await admission(node(), node(), virtualEnvironment(), false, pressures).admit('a', pod)
    const message = `The node had condition: ${conditions}. `
    expect(refusal).toEqual(conditions === undefined ? undefined : { reason: 'Evicted', message })
  })
})

describe('a node that turns pods away', () => {
  it('does so at a pace that whoever makes them anew cannot outrun', async () => {
    const environment = virtualEnvironment()
    const full = admission(node(), node(), environment)
    let refused = 0
    for (let index = 0; index < refusalBurst + 25; index += 1)
      void full.admit(`pod-${index}`, asking({ cpu: '9' })).then(() => {
        refused += 1
      })
    await environment.clock.settle()
    expect(refused).toBe(refusalBurst)
    await environment.clock.advance('1s')
    expect(refused).toBe(refusalBurst + refusalsPerSecond)
    await environment.clock.advance('10s')
    expect(refused).toBe(refusalBurst + 25)
  })

  it('does not keep a pod that is on its way out waiting', async () => {
    const environment = virtualEnvironment()
    const full = admission(node(), node(), environment)
    for (let index = 0; index < refusalBurst; index += 1) await full.admit(`pod-${index}`, asking({ cpu: '9' }))
    const ending = new AbortController()
    const answer = full.admit('last', asking({ cpu: '9' }), ending.signal)
    ending.abort()
    expect(await answer).toMatchObject({ reason: 'OutOfcpu' })
  })
})

describe('a node that makes room for critical pods', () => {
  const critical = asking({ cpu: '2' }, { priority: 2_000_000_000 })
  const roomFor = (preempted: string[]) => {
    const pod = testPod(asking({ cpu: '2' }).spec, { status: { qosClass: 'Burstable' } })
    const others = ['a', 'b'].map((uid) => ({ uid, pod, preempt: () => void preempted.push(uid) }))
    const full = admission(node(), node(), virtualEnvironment(), false, [], others)
    for (const each of others) full.count(each.uid, each.pod)
    return full
  }

  it('takes each on when all have gone that go for it, also where these go for several', async () => {
    const preempted: string[] = []
    const full = roomFor(preempted)
    const taken: string[] = []
    for (const uid of ['first', 'second']) void full.admit(uid, critical).then(() => taken.push(uid))
    await expect.poll(() => new Set(preempted)).toEqual(new Set(['a', 'b']))
    full.release('a')
    full.release('b')
    await expect.poll(() => taken.toSorted()).toEqual(['first', 'second'])
  })

  it('has nobody go for one that is to end before it has begun', async () => {
    const preempted: string[] = []
    expect(await roomFor(preempted).admit('first', critical, AbortSignal.abort())).toBeUndefined()
    expect(preempted).toEqual([])
  })
})

describe('a node whose plugins offer devices', () => {
  function offering(refusal?: string) {
    const released: string[] = []
    const devices = {
      async allocate() {
        if (refusal !== undefined) throw new Error(refusal)
      },
      release: (uid: string) => void released.push(uid),
    }
    const { clock } = virtualEnvironment()
    const own = new NodeAdmission({
      ...{ clock, allocatable, operatingSystem: 'linux', strictGroups: false },
      others: () => [],
      known: () => node(),
      read: () => Promise.resolve(node()),
      devices: () => devices,
    })
    return { own, released }
  }

  it('takes their devices back when a pod has ended', async () => {
    const { own, released } = offering()
    expect(await own.admit('a', testPod())).toBeUndefined()
    expect(released).toEqual([])
    own.release('a')
    expect(released).toEqual(['a'])
  })

  it('takes no pod on that cannot have its devices, and counts nothing of it', async () => {
    const { own, released } = offering('too few')
    const message = 'Allocate failed due to too few, which is unexpected'
    for (const uid of ['a', 'b', 'c', 'd'])
      expect(await own.admit(uid, testPod())).toEqual({ reason: 'UnexpectedAdmissionError', message })
    expect(released).toEqual(['a', 'b', 'c', 'd'])
  })
})

import {
  ApiError,
  conflict,
  type Device,
  type DeviceClass,
  deviceClasses,
  eventsV1,
  formatTime,
  type KubernetesObject,
  type Node,
  nodes,
  type Pod,
  pods,
  type Resource,
  type ResourceClaim,
  type ResourceSlice,
  resourceClaims,
  resourceSlices,
} from '@coracle/api'
import type { ObjectKey } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createLogger, type LogLine, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import { createScheduler, type Scheduler } from '../scheduler.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import { DeviceBinder } from './device-binder.ts'
import type { DeviceCache } from './device-cache.ts'

const apiVersion = 'resource.k8s.io/v1'
const namespace = 'default'
const driver = 'd.example.com'

let environment: VirtualEnvironment
let client: FakeClient
let scheduler: Scheduler
let bindings: string[]
let refusal: Error | undefined

beforeEach(async () => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  bindings = []
  refusal = undefined
  client.createSubresource = async <U>(_: unknown, key: ObjectKey, __: string, body: object): Promise<U> => {
    if (refusal !== undefined) throw refusal
    const { name: nodeName } = (body as { readonly target: { readonly name: string } }).target
    bindings.push(`${key.name} to ${nodeName}`)
    await client.patch(pods, key, { type: 'merge', body: { spec: { nodeName } } })
    return {} as U
  }
  scheduler = createScheduler({ client, environment })
  await scheduler.start()
  await create<DeviceClass>(deviceClasses, { apiVersion, kind: 'DeviceClass', metadata: { name: 'any' }, spec: {} })
  for (const name of ['n1', 'n2']) await create<Node>(nodes, makeNode({ name }))
})

afterEach(() => scheduler.stop())

async function create<T extends KubernetesObject>(resource: Resource<T>, { metadata, ...rest }: T): Promise<T> {
  const { uid: _, ...own } = metadata
  const created = await client.create<T>(resource, { ...rest, metadata: own } as unknown as T)
  await environment.clock.settle()
  return created
}

/** A node offers these devices. */
const offer = (nodeName: string, ...devices: readonly (Device | string)[]) =>
  create<ResourceSlice>(resourceSlices, {
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: `${nodeName}-devices` },
    spec: {
      driver,
      nodeName,
      pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
      devices: devices.map((each) => (typeof each === 'string' ? { name: each } : each)),
    },
  })

const addClaim = (name: string, status?: ResourceClaim['status']) =>
  create<ResourceClaim>(resourceClaims, {
    apiVersion,
    kind: 'ResourceClaim',
    metadata: { name, namespace },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'any' } }] } },
    ...(status === undefined ? {} : { status }),
  })

const addPod = (name: string, ...claims: readonly string[]) => {
  const resourceClaims = claims.map((each) => ({ name: each, resourceClaimName: each }))
  return create<Pod>(pods, makePod({ resourceClaims }, name))
}

const keyOf = (name: string) => ({ namespace, name })
const claimNow = (name: string) => client.get(resourceClaims, keyOf(name))
const devicesOf = async (name: string) =>
  (await claimNow(name)).status?.allocation?.devices?.results?.map(({ pool, device }) => `${pool}/${device}`)
const usersOf = async (name: string) => (await claimNow(name)).status?.reservedFor?.map((each) => each.name) ?? []
async function changeStatus(name: string, status: object | null): Promise<void> {
  await client.patch(resourceClaims, keyOf(name), { type: 'merge', body: { status } }, { subresource: 'status' })
  await environment.clock.settle()
}
const failures = () =>
  client
    .stored(eventsV1)
    .filter(({ reason }) => reason === 'FailedScheduling')
    .map(({ note = '' }) => note)

describe('a pod with a claim', () => {
  it('is bound where a device is, which is then the claim’s, and the pod’s to use', async () => {
    await offer('n2', 'gpu')
    await addClaim('c')
    const { metadata } = await addPod('web', 'c')
    expect(bindings).toEqual(['web to n2'])
    expect(await devicesOf('c')).toEqual(['n2/gpu'])
    const { metadata: of, status } = await claimNow('c')
    expect(of.finalizers).toEqual(['resource.kubernetes.io/delete-protection'])
    expect(status?.reservedFor).toEqual([{ resource: 'pods', name: 'web', uid: metadata.uid }])
    expect(status?.allocation?.allocationTimestamp).toBe(formatTime(environment.clock.now()))
  })

  it('gets no device that another claim is about to get', async () => {
    await offer('n1', 'a', 'b')
    for (const name of ['c', 'd', 'e']) await addClaim(name)
    client.holdWatches(resourceClaims)
    for (const name of ['c', 'd', 'e']) await addPod(`of-${name}`, name)
    expect([await devicesOf('c'), await devicesOf('d'), await devicesOf('e')]).toEqual([['n1/a'], ['n1/b'], undefined])
    client.releaseWatches()
    await environment.clock.settle()
    await changeStatus('c', null)
    await environment.clock.advance('10s')
    expect(await devicesOf('e')).toEqual(['n1/a'])
  })

  it('waits for a claim that another pod is getting a device for, and then goes where that is', async () => {
    await offer('n2', 'gpu')
    await addClaim('c')
    client.holdWatches(resourceClaims)
    await addPod('first', 'c')
    await addPod('second', 'c')
    await environment.clock.advance('1s')
    expect(failures().join()).toContain('resource claim default/c is in the process of being allocated')
    client.releaseWatches()
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['first to n2', 'second to n2'])
    expect(await usersOf('c')).toEqual(['first', 'second'])
  })

  it.each<readonly [string, () => Promise<unknown>, string]>([
    ['is not there', async () => {}, 'could not find ResourceClaim "default/c"'],
    [
      'is of a class that is not there',
      async () => {
        await client.delete(deviceClasses, { name: 'any' })
        await addClaim('c')
      },
      'request r: device class any does not exist',
    ],
    [
      'is used by as many as may use it',
      () =>
        addClaim('c', {
          allocation: {},
          reservedFor: Array.from({ length: 256 }, (_, i) => ({ resource: 'pods', name: `p${i}`, uid: `u${i}` })),
        }),
      'resourceclaim in use',
    ],
    [
      'is being deleted',
      async () => {
        const claim = await addClaim('c')
        const metadata = { finalizers: ['example.com/kept'] }
        await client.patch(resourceClaims, keyOf('c'), { type: 'merge', body: { metadata } })
        await client.delete(resourceClaims, keyOf(claim.metadata.name ?? ''))
      },
      'resourceclaim "c" is being deleted',
    ],
  ])('waits where that %s', async (_, happens, why) => {
    await offer('n1', 'gpu')
    await happens()
    await environment.clock.settle()
    await addPod('web', 'c')
    await environment.clock.advance('1s')
    expect(failures()).toEqual([expect.stringContaining(why)])
    expect(bindings).toEqual([])
  })

  it('is not bound where that was deleted or given devices by somebody else, and leaves the device to others', async () => {
    await offer('n1', 'gpu')
    for (const name of ['c', 'd']) await addClaim(name)
    client.holdWatches(resourceClaims)
    await changeStatus('c', { allocation: { devices: { results: [] } } })
    await addPod('web', 'c')
    await environment.clock.advance('500ms')
    expect(failures()).toEqual([
      'running PreBind plugin "DynamicResources": claim default/c got allocated elsewhere in the meantime',
    ])
    await addPod('other', 'd')
    expect(await devicesOf('d')).toEqual(['n1/gpu'])
    client.releaseWatches()
  })

  it('is not bound where that was deleted in the meantime', async () => {
    await offer('n1', 'gpu')
    await addClaim('c')
    client.holdWatches(resourceClaims)
    const metadata = { finalizers: ['example.com/kept'] }
    await client.patch(resourceClaims, keyOf('c'), { type: 'merge', body: { metadata } })
    await client.delete(resourceClaims, keyOf('c'))
    await addPod('web', 'c')
    await environment.clock.advance('500ms')
    expect(failures()).toEqual([
      'running PreBind plugin "DynamicResources": claim default/c got deleted in the meantime',
    ])
    expect((await claimNow('c')).status?.allocation).toBeUndefined()
    client.releaseWatches()
  })

  it('holds its claim beside others, once', async () => {
    await offer('n1', 'a', 'b')
    for (const [name, finalizers] of [
      ['c', ['example.com/kept']],
      ['d', ['resource.kubernetes.io/delete-protection', 'example.com/kept']],
    ] as const) {
      await addClaim(name)
      await client.patch(resourceClaims, keyOf(name), { type: 'merge', body: { metadata: { finalizers } } })
    }
    await environment.clock.settle()
    await addPod('web', 'c', 'd')
    expect((await claimNow('c')).metadata.finalizers).toEqual([
      'example.com/kept',
      'resource.kubernetes.io/delete-protection',
    ])
    expect((await claimNow('d')).metadata.finalizers).toEqual([
      'resource.kubernetes.io/delete-protection',
      'example.com/kept',
    ])
  })

  it('gets a share of a device that others have as well, each by a name of its own', async () => {
    const capacity = { memory: { value: '10', requestPolicy: { default: '4' } } }
    await offer('n1', { name: 'shared', allowMultipleAllocations: true, capacity }, 'whole')
    for (const name of ['c', 'd', 'e']) await addClaim(name)
    await addPod('web', 'c', 'd', 'e')
    const results = await Promise.all(
      ['c', 'd', 'e'].map(async (name) => (await claimNow(name)).status?.allocation?.devices?.results?.[0]),
    )
    expect(results.map((each) => each?.device)).toEqual(['shared', 'shared', 'whole'])
    expect(results.map((each) => each?.consumedCapacity)).toEqual([{ memory: '4' }, { memory: '4' }, undefined])
    const [first, second, third] = results.map((each) => each?.shareID)
    expect([typeof first, typeof second, third]).toEqual(['string', 'string', undefined])
    expect(second).not.toBe(first)
  })

  it('gives a name to the shares of a claim alone, not to what it has whole', async () => {
    const capacity = { memory: { value: '10', requestPolicy: { default: '4' } } }
    await offer('n1', { name: 'shared', allowMultipleAllocations: true, capacity }, 'whole')
    await create<ResourceClaim>(resourceClaims, {
      apiVersion,
      kind: 'ResourceClaim',
      metadata: { name: 'both', namespace },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'any', count: 3 } }] } },
    })
    await addPod('web', 'both')
    const results = (await claimNow('both')).status?.allocation?.devices?.results ?? []
    expect(results.map(({ device, shareID }) => [device, typeof shareID])).toEqual([
      ['shared', 'string'],
      ['shared', 'string'],
      ['whole', 'undefined'],
    ])
  })

  it('says of what it writes for which pod and node', async () => {
    const causes: unknown[] = []
    const [update, patch] = [client.update.bind(client), client.patch.bind(client)]
    client.update = async (resource, object, options) => {
      if (resource.plural === 'resourceclaims') causes.push(options)
      return update(resource, object, options)
    }
    client.patch = async (resource, key, change, options) => {
      if (resource.plural === 'resourceclaims') causes.push(options)
      return patch(resource, key, change, options)
    }
    await offer('n1', 'gpu')
    await addClaim('c')
    refusal = new Error('the server is away')
    await addPod('web', 'c')
    const reconcile = { controller: 'default-scheduler', object: { kind: 'Pod', name: 'web' } }
    const because = 'pod default/web is to run on n1'
    expect(causes).toMatchObject([
      { because, reconcile },
      { because, reconcile, subresource: 'status' },
      { because: 'pod default/web does not come to n1 after all', reconcile, subresource: 'status' },
    ])
  })

  it('has its claim written again where somebody else was faster', async () => {
    await offer('n1', 'gpu')
    await addClaim('c')
    let conflicts = 0
    client.intercept(({ verb, subresource }) => {
      if (verb === 'update' && subresource === 'status' && conflicts++ < 3) throw conflict(resourceClaims, 'c', 'stale')
    })
    await addPod('web', 'c')
    expect(bindings).toEqual(['web to n1'])
    expect(conflicts).toBe(4)
  })

  it('is tried again where that does not help', async () => {
    await offer('n1', 'gpu')
    await addClaim('c')
    const stop = client.intercept(({ verb, subresource }) => {
      if (verb === 'update' && subresource === 'status') throw conflict(resourceClaims, 'c', 'stale')
    })
    await addPod('web', 'c')
    expect(client.calls.filter(({ verb, subresource }) => verb === 'update' && subresource === 'status')).toHaveLength(
      5,
    )
    expect(bindings).toEqual([])
    stop()
    await environment.clock.advance('2s')
    expect(bindings).toEqual(['web to n1'])
  })

  it('no longer uses it where the pod cannot be bound after all', async () => {
    await offer('n1', 'gpu')
    await addClaim('c')
    refusal = new Error('the server is away')
    await addPod('web', 'c')
    await environment.clock.settle()
    expect([await devicesOf('c'), await usersOf('c')]).toEqual([['n1/gpu'], []])
    refusal = undefined
    await environment.clock.advance('2s')
    expect(bindings).toEqual(['web to n1'])
    expect(await usersOf('c')).toEqual(['web'])
  })

  it('gives devices back that cannot be used where the pod may run, unless others use them', async () => {
    const nodeSelector = {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: ['n3'] }] }],
    }
    const other = { resource: 'pods', name: 'other', uid: 'other' }
    await offer('n1', 'gpu')
    await addClaim('c', { allocation: { nodeSelector } })
    await addClaim('d', { allocation: { nodeSelector }, reservedFor: [other] })
    await addPod('free', 'c')
    await addPod('bound', 'd')
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['free to n1'])
    expect(await devicesOf('c')).toEqual(['n1/gpu'])
    expect((await claimNow('d')).status).toEqual({ allocation: { nodeSelector }, reservedFor: [other] })
    expect(failures().join()).toContain('still not schedulable')
  })

  it('hears of what else keeps it from a node before what devices that lacks', async () => {
    await offer('n1')
    await addClaim('c')
    const pod = makePod({
      resourceClaims: [{ name: 'c', resourceClaimName: 'c' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
      ],
    })
    await create<Pod>(pods, pod)
    expect(failures()[0]).toContain(
      "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing required label).",
    )
  })

  it('is tried again where they could not be given back', async () => {
    const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: ['n3'] }]
    await offer('n1', 'gpu')
    await addClaim('c', { allocation: { nodeSelector: { nodeSelectorTerms: [{ matchFields }] } } })
    const refused = new ApiError(500, 'InternalError', 'not today')
    const stop = client.intercept(({ verb, plural }) => {
      if (verb === 'update' && plural === 'resourceclaims') throw refused
    })
    await addPod('web', 'c')
    stop()
    await environment.clock.advance('1s')
    expect(bindings).toEqual(['web to n1'])
  })

  it('leaves its device to no other claim where the pod could not be bound and nothing is heard of the claim yet', async () => {
    await offer('n1', 'gpu')
    for (const name of ['c', 'd']) await addClaim(name)
    client.holdWatches(resourceClaims)
    refusal = new Error('the server is away')
    await addPod('web', 'c')
    expect([await devicesOf('c'), bindings]).toEqual([['n1/gpu'], []])
    await addPod('other', 'd')
    expect(await devicesOf('d')).toBeUndefined()
    client.releaseWatches()
    refusal = undefined
    await environment.clock.advance('10s')
    expect([bindings, await devicesOf('d')]).toEqual([['web to n1'], undefined])
  })

  it('leaves its device to others again where all that is heard of the claim is that it has none', async () => {
    await offer('n1', 'gpu')
    for (const name of ['c', 'd']) await addClaim(name)
    client.holdWatches(resourceClaims)
    refusal = new Error('the server is away')
    await addPod('web', 'c')
    await client.delete(pods, keyOf('web'))
    await changeStatus('c', null)
    // History is lost: the scheduler lists, and never sees the claim with its device.
    client.compact()
    client.dropWatches()
    client.releaseWatches()
    refusal = undefined
    await environment.clock.advance('1m')
    await addPod('other', 'd')
    expect([bindings, await devicesOf('d')]).toEqual([['other to n1'], ['n1/gpu']])
  })
})

describe('a pod whose device gets ready on its own time', () => {
  const condition = (type: string, status = 'True') => ({
    type,
    status,
    reason: 'Told',
    message: 'so it is',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  const tell = (...conditions: readonly object[]) =>
    changeStatus('c', { devices: [{ driver, pool: 'n1', device: 'gpu', conditions }] })
  const restart = async () => {
    await scheduler.stop()
    scheduler = createScheduler({ client, environment })
    await scheduler.start()
    await environment.clock.settle()
  }

  beforeEach(async () => {
    const conditions = { bindingConditions: ['Attached', 'Formatted'], bindingFailureConditions: ['Broken'] }
    await offer('n1', { name: 'gpu', ...conditions })
    await addClaim('c')
    await addPod('web', 'c')
    expect([await devicesOf('c'), await usersOf('c'), bindings]).toEqual([['n1/gpu'], ['web'], []])
  })

  it('has an event that tells so', async () => {
    const waiting = () => client.stored(eventsV1).filter(({ reason }) => reason === 'BindingConditionsPending')
    expect(waiting()).toMatchObject([
      {
        type: 'Normal',
        action: 'Scheduling',
        note: 'waiting for binding conditions for device on node n1',
        regarding: { kind: 'Pod', name: 'web' },
      },
    ])
    await tell(condition('Attached'), condition('Formatted'))
    // Whoever comes later is told, too, though there is nothing left to wait for.
    await addPod('late', 'c')
    expect(waiting().map(({ regarding }) => regarding?.name)).toEqual(['web', 'late'])
    expect(bindings).toEqual(['web to n1', 'late to n1'])
    await addClaim('plain')
    await addPod('other', 'plain')
    expect(waiting()).toHaveLength(2)
  })

  it('is bound when all that it waits for is true', async () => {
    await tell(condition('Attached'), condition('Formatted', 'False'), condition('Broken', 'False'))
    expect(bindings).toEqual([])
    await tell(condition('Attached'), condition('Formatted'))
    expect(bindings).toEqual(['web to n1'])
  })

  it('waits for it beside another that is ready, which others may use meanwhile', async () => {
    await client.delete(pods, keyOf('web'))
    await addClaim('ready', { allocation: {} })
    await addPod('both', 'ready', 'c')
    await environment.clock.advance('1m')
    expect([await usersOf('c'), await usersOf('ready'), bindings]).toEqual([['both'], ['both'], []])
    await addPod('one', 'ready')
    expect(bindings).toEqual(['one to n2'])
    await tell(condition('Attached'), condition('Formatted'))
    expect(bindings).toEqual(['one to n2', 'both to n1'])
  })

  it('waits for it beside another that is ready also where both are its own already', async () => {
    await client.delete(pods, keyOf('web'))
    await addClaim('ready', { allocation: {} })
    await addPod('both', 'ready', 'c')
    await restart()
    await environment.clock.advance('30s')
    expect([await usersOf('c'), await usersOf('ready'), bindings]).toEqual([['both'], ['both'], []])
    await tell(condition('Attached'), condition('Formatted'))
    expect(bindings).toEqual(['both to n1'])
  })

  it('waits for that also where it had to be tried again', async () => {
    await restart()
    await environment.clock.advance('30s')
    expect(bindings).toEqual([])
    await tell(condition('Attached'), condition('Formatted'))
    expect(bindings).toEqual(['web to n1'])
  })

  it('looks for another where it fails', async () => {
    await offer('n2', 'spare')
    await client.delete(resourceSlices, { name: 'n1-devices' })
    await tell(condition('Attached'), condition('Broken'))
    await environment.clock.settle()
    expect(failures()[0]).toBe(
      'running PreBind plugin "DynamicResources": device binding failed: claim=c, reason=Told, message="so it is"',
    )
    expect([await usersOf('c'), bindings]).toEqual([[], []])
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['web to n2'])
    expect((await claimNow('c')).status).toMatchObject({ reservedFor: [{ name: 'web' }] })
    expect((await claimNow('c')).status?.devices).toBeUndefined()
  })

  it('does not come with a device that has failed where another uses the claim', async () => {
    await addPod('other', 'c')
    await tell(condition('Broken'))
    await changeStatus('c', { reservedFor: [{ resource: 'pods', name: 'third', uid: 'third' }] })
    await environment.clock.advance('60s')
    expect(bindings).toEqual([])
    expect(await devicesOf('c')).toEqual(['n1/gpu'])
  })

  it('looks for another after ten minutes in vain', async () => {
    await offer('n2', 'spare')
    await client.delete(resourceSlices, { name: 'n1-devices' })
    await environment.clock.advance('599s')
    expect([failures(), bindings]).toEqual([[], []])
    await environment.clock.advance('1s')
    expect(failures()).toEqual(['running PreBind plugin "DynamicResources": device binding timeout'])
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['web to n2'])
  })

  it('waits no longer when it is gone, and its claim is left to others', async () => {
    await client.delete(pods, keyOf('web'))
    await environment.clock.settle()
    expect(await usersOf('c')).toEqual([])
    await tell(condition('Attached'), condition('Formatted'))
    expect(bindings).toEqual([])
    await addPod('next', 'c')
    expect(bindings).toEqual(['next to n1'])
  })

  it('keeps what it has when the scheduler stops', async () => {
    await scheduler.stop()
    await environment.clock.settle()
    expect([await devicesOf('c'), await usersOf('c')]).toEqual([['n1/gpu'], ['web']])
  })
})

describe('what is set aside for a pod', () => {
  const node = new NodeInfo(makeNode({ name: 'n1' }))
  const pod = makePod({ resourceClaims: [{ name: 'c', resourceClaimName: 'c' }] }, 'web')
  const user = { resource: 'pods', name: 'web', uid: 'uid-web' }
  const held = (status: ResourceClaim['status']) =>
    ({ ...claimOf('c'), status: { allocation: {}, reservedFor: [user], ...status } }) as ResourceClaim
  const claimOf = (name: string): ResourceClaim => ({
    apiVersion,
    kind: 'ResourceClaim',
    metadata: { name, namespace, uid: name, resourceVersion: '1' },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'any' } }] } },
  })
  let asked: string[]
  let answer: Error | undefined
  let logged: LogLine[]

  function binderOf(claim: ResourceClaim | undefined): DeviceBinder {
    const devices = {
      claim: () => claim,
      deviceClass: () => ({ spec: {} }),
      isPending: () => false,
      written: () => {},
      allocate: (claims: readonly ResourceClaim[]) =>
        claims.length === 0 ? { results: [] } : { reason: 'cannot allocate all claims' },
      restore: ({ metadata }: ResourceClaim) => void asked.push(`restore ${metadata.name}`),
    } as unknown as DeviceCache
    const logger = createLogger((line) => logged.push(line))
    return new DeviceBinder(client, { ...environment, logger }, devices, { waitsForDevices: () => {} })
  }

  beforeEach(() => {
    asked = []
    answer = undefined
    logged = []
    client.update = async (_, object, options) => {
      asked.push(`update ${JSON.stringify((object as ResourceClaim).status)} because ${options?.because}`)
      if (answer !== undefined) throw answer
      return object
    }
    client.patch = async (_, __, { body }) => {
      asked.push(`patch ${JSON.stringify(body)}`)
      if (answer !== undefined) throw answer
      return {} as never
    }
  })

  it.each<[string, ResourceClaim | undefined, Pod, string | undefined]>([
    ['is nothing where it has no claims', undefined, makePod({}, 'plain'), undefined],
    ['is not there where a claim is gone', undefined, pod, 'could not find ResourceClaim "default/c"'],
    ['is not there where devices are gone', claimOf('c'), pod, 'cannot allocate all claims'],
    ['is there where its claims are its own', held({}), pod, undefined],
  ])('%s', (_what, claim, of, why) => {
    expect(binderOf(claim).reserve(of, node)).toBe(why)
  })

  it('is nothing to wait for where its claims are its own and ready', () => {
    const binder = binderOf(held({}))
    expect(binder.bind(pod)).toBeUndefined()
    binder.reserve(pod, node)
    expect(binder.bind(pod)).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('is taken back once, and its claims are left', async () => {
    const binder = binderOf(held({}))
    binder.unreserve(pod)
    binder.reserve(pod, node)
    for (let times = 0; times < 2; times++) binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toEqual([
      'patch {"metadata":{"uid":"c"},"status":{"reservedFor":[{"$patch":"delete","uid":"uid-web"}]}}',
    ])
  })

  it('is taken back without a word to the API where a claim was not its own yet', async () => {
    const binder = binderOf(held({ reservedFor: [] }))
    binder.reserve(pod, node)
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toEqual(['restore c'])
  })

  it('is not taken back any more once its claims are written and the API shows where it is', async () => {
    const binder = binderOf(held({ reservedFor: [] }))
    binder.reserve(pod, node)
    await binder.bind(pod)
    const written = [...asked]
    expect(written).toHaveLength(1)
    binder.podPlaced('uid-web')
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toEqual(written)
  })

  it('is left as it is by a scheduler that stops', async () => {
    const binder = binderOf(held({}))
    binder.reserve(pod, node)
    binder.stop()
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toEqual([])
  })

  it('is nothing for pods that are placed or gone and had nothing', () => {
    const binder = binderOf(undefined)
    expect(() => binder.podPlaced('uid-other')).not.toThrow()
    expect(() => binder.podGone('uid-other')).not.toThrow()
  })

  it.each<[string, (binder: DeviceBinder) => void]>([
    ['the API shows where it is', (binder) => binder.podPlaced('uid-web')],
    ['it is gone', (binder) => binder.podGone('uid-web')],
  ])('is not taken back any more once %s', async (_, happens) => {
    const binder = binderOf(held({}))
    binder.reserve(pod, node)
    // It is not bound yet: what others say of where it is changes nothing.
    happens(binder)
    binder.bind(pod)
    happens(binder)
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toEqual([])
  })

  it('is taken back where it is gone before it is bound', async () => {
    const binder = binderOf(held({}))
    binder.reserve(pod, node)
    binder.podGone('uid-web')
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toHaveLength(1)
  })

  it.each<[string, Error, boolean]>([
    ['is gone', new ApiError(404, 'NotFound', 'gone'), false],
    ['is another now', new ApiError(409, 'Conflict', 'another'), false],
    ['cannot be left, which is logged', new ApiError(500, 'InternalError', 'not today'), true],
  ])('is taken back also where a claim %s', async (_, refused, isLogged) => {
    const binder = binderOf(held({}))
    answer = refused
    binder.reserve(pod, node)
    binder.unreserve(pod)
    await environment.clock.settle()
    expect(asked).toHaveLength(1)
    const because = 'pod default/web does not come to n1 after all'
    const line = { level: 'warn', message: 'a pod is still said to use a claim', fields: { because, error: refused } }
    expect(logged).toMatchObject(isLogged ? [line] : [])
    expect(logged).toHaveLength(isLogged ? 1 : 0)
  })

  it('is written and released in the name of the scheduler that the pod asks for', async () => {
    const controllers: unknown[] = []
    client.update = async (_, object, options) => {
      controllers.push(options?.reconcile?.controller)
      return object
    }
    const { schedulerName: _, ...unnamed } = pod.spec
    for (const spec of [{ ...unnamed, schedulerName: 'own' }, unnamed]) {
      const binder = binderOf(held({ reservedFor: [] }))
      binder.reserve({ ...pod, spec }, node)
      await binder.bind({ ...pod, spec })
      await binder.release(held({}), { ...pod, spec })
    }
    expect(controllers).toEqual(['own', 'own', 'default-scheduler', 'default-scheduler'])
  })

  it('is released where the pod cannot use it, unless it has changed', async () => {
    const binder = binderOf(undefined)
    const because = 'pod default/web finds no node where the devices of the claim can be used'
    await binder.release(held({}), pod)
    expect(asked).toEqual([`update {} because ${because}`])
    answer = new ApiError(409, 'Conflict', 'stale')
    await binder.release(held({}), pod)
    answer = new ApiError(404, 'NotFound', 'gone')
    await binder.release(held({}), pod)
    answer = new ApiError(500, 'InternalError', 'not today')
    await expect(binder.release(held({}), pod)).rejects.toThrow('not today')
  })
})

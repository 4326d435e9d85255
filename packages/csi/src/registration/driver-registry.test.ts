import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { csiDrivers, csiNodes } from '@coracle/api'
import type { LogLine } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { FakeDriver, failure, noAnswer, temporaryDirectory } from '../testing/fake-driver.ts'
import { claimed, csiDriver, driverName, startNode, testPod, testVolume } from '../testing/objects.ts'

const csiNodeOf = ({ client }: Awaited<ReturnType<typeof startNode>>) => client.get(csiNodes, { name: 'node-a' })
const driversOf = async (test: Awaited<ReturnType<typeof startNode>>) => {
  const { spec } = await csiNodeOf(test)
  return spec.drivers.map(({ name, nodeID }) => `${name} ${nodeID}`)
}

describe('a driver whose registrar has a socket in the directory', () => {
  it('is told of in the CSINode and the Node, and told so', async () => {
    const root = temporaryDirectory()
    const driver = await FakeDriver.start(root, {
      getInfo: () => ({
        nodeId: 'i-1',
        maxVolumesPerNode: 3,
        accessibleTopology: { segments: { 'example.com/zone': 'a' } },
      }),
    })
    const test = await startNode({ root })
    expect(driver.told).toEqual([{ pluginRegistered: true, error: '' }])
    const { metadata, spec } = await csiNodeOf(test)
    const { uid } = (await test.node()).metadata
    expect(metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid }])
    expect(spec.drivers).toEqual([
      { name: driverName, nodeID: 'i-1', topologyKeys: ['example.com/zone'], allocatable: { count: 3 } },
    ])
    expect((await test.node()).metadata).toMatchObject({
      labels: { 'example.com/zone': 'a' },
      annotations: { 'csi.volume.kubernetes.io/nodeid': `{"${driverName}":"i-1"}` },
    })
  })

  it('is asked again how many of its volumes fit, as often as it wants', async () => {
    const root = temporaryDirectory()
    let maxVolumesPerNode = 3
    await FakeDriver.start(root, { getInfo: () => ({ nodeId: 'i-1', maxVolumesPerNode }) })
    const other = await FakeDriver.start(root, { getInfo: () => ({ nodeId: 'o' }) }, { name: 'other.example.com' })
    const test = await startNode({ root, driver: csiDriver({ nodeAllocatableUpdatePeriodSeconds: 20 }) })
    const told = async () => (await csiNodeOf(test)).spec.drivers.find(({ name }) => name === driverName)?.allocatable
    const timeFor = async (duration: string) => {
      await test.environment.clock.advance(duration)
      return told()
    }
    await test.environment.clock.settle()
    maxVolumesPerNode = 2
    expect(await timeFor('19s')).toEqual({ count: 3 })
    await test.environment.clock.advance('1s')
    await expect.poll(told).toEqual({ count: 2 })
    maxVolumesPerNode = 0
    await expect.poll(() => timeFor('20s')).toBeUndefined()
    const body = { spec: { nodeAllocatableUpdatePeriodSeconds: null } }
    await test.client.patch(csiDrivers, { name: driverName }, { type: 'merge', body })
    await test.environment.clock.settle()
    maxVolumesPerNode = 5
    expect(await timeFor('1h')).toBeUndefined()
    expect(other.asked.filter(({ name }) => name === 'getInfo')).toHaveLength(1)
  })

  it('is told of in a CSINode of the Node that is there', async () => {
    const root = temporaryDirectory()
    const driver = await FakeDriver.start(root)
    const { client, drivers } = await startNode({ root })
    await drivers.stop({ unmounts: false })
    const body = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'former' }] } }
    await client.patch(csiNodes, { name: 'node-a' }, { type: 'merge', body })
    const test = await startNode({ root, client })
    expect(driver.told).toHaveLength(2)
    const { uid } = (await test.node()).metadata
    expect((await csiNodeOf(test)).metadata.ownerReferences).toMatchObject([{ uid }])
  })

  it('is found when it comes later, is another when it comes back as one, and is gone with its socket', async () => {
    const test = await startNode()
    let nodeId = 'first'
    const driver = await FakeDriver.start(test.root, { getInfo: () => ({ nodeId }) })
    await expect.poll(() => driversOf(test).catch(() => [])).toEqual([`${driverName} first`])
    await driver.stop()
    nodeId = 'second'
    await driver.start()
    await expect.poll(() => driversOf(test)).toEqual([`${driverName} second`])
    await driver.stop()
    await expect.poll(() => driversOf(test)).toEqual([])
    expect((await test.node()).metadata.annotations).not.toHaveProperty(['csi.volume.kubernetes.io/nodeid'])
  })

  it('stands beside others', async () => {
    const root = temporaryDirectory()
    await FakeDriver.start(root, {}, { name: 'a.example.com' })
    await FakeDriver.start(root, {}, { name: 'b.example.com' })
    const test = await startNode({ root })
    expect((await driversOf(test)).sort()).toEqual(['a.example.com the-node', 'b.example.com the-node'])
  })

  it('takes the place of what it was when the agent was away', async () => {
    const root = temporaryDirectory()
    let nodeId = 'first'
    await FakeDriver.start(root, { getInfo: () => ({ nodeId }) })
    const { client, drivers } = await startNode({ root })
    await drivers.stop({ unmounts: false })
    nodeId = 'second'
    const test = await startNode({ root, client })
    expect(await driversOf(test)).toEqual([`${driverName} second`])
    // What cannot be changed of it has to go first.
    const updates = client.calls.filter(({ verb, plural }) => verb === 'update' && plural === 'csinodes')
    expect(updates).toHaveLength(3)
  })

  it('is another where another socket takes the place of its own', async () => {
    const test = await startNode()
    const first = await FakeDriver.start(test.root)
    await expect.poll(() => first.told).toHaveLength(1)
    const second = await FakeDriver.start(temporaryDirectory(), { getInfo: () => ({ nodeId: 'second' }) })
    renameSync(second.registration, first.registration)
    await expect.poll(() => driversOf(test)).toEqual([`${driverName} second`])
  })

  it('is registered also where its registrar cannot be told so', async () => {
    const root = temporaryDirectory()
    const driver = await FakeDriver.start(root)
    driver.answerWhenTold = () => failure(13, 'out of order')
    const { drivers } = await startNode({ root })
    expect(await drivers.mount(testPod(), claimed, testVolume())).toHaveProperty('path')
  })

  it('is gone with its socket also while its registrar is told', async () => {
    const test = await startNode()
    const driver = await FakeDriver.start(test.root)
    driver.answerWhenTold = noAnswer
    await expect.poll(() => driver.told).toHaveLength(1)
    await driver.stop()
    await expect.poll(() => driversOf(test)).toEqual([])
  })

  it('is gone with its last socket', async () => {
    const test = await startNode()
    const first = await FakeDriver.start(test.root)
    await expect.poll(() => first.told).toHaveLength(1)
    const second = await FakeDriver.start(temporaryDirectory(), { getInfo: () => ({ nodeId: 'second' }) })
    renameSync(second.registration, join(dirname(first.registration), 'second-reg.sock'))
    await expect.poll(() => second.told).toHaveLength(1)
    await first.stop()
    // Whoever comes after that is seen after that.
    const other = await FakeDriver.start(test.root, {}, { name: 'other.example.com' })
    await expect.poll(() => other.told).toHaveLength(1)
    expect(await driversOf(test)).toEqual([`${driverName} second`, 'other.example.com the-node'])
    await test.drivers.mount(testPod(), claimed, testVolume())
    expect(second.volumeCalls).toEqual(['stageVolume', 'publishVolume'])
  })

  it('is gone when it comes back as one that cannot be taken', async () => {
    const test = await startNode()
    const first = await FakeDriver.start(test.root)
    await expect.poll(() => first.told).toHaveLength(1)
    const second = await FakeDriver.start(temporaryDirectory(), { getInfo: () => failure(13, 'no metadata') })
    renameSync(second.registration, first.registration)
    await expect.poll(() => second.told).toMatchObject([{ pluginRegistered: false }])
    await expect.poll(() => driversOf(test)).toEqual([])
  })

  it('is gone as soon as that can be told', async () => {
    const test = await startNode()
    const driver = await FakeDriver.start(test.root)
    await expect.poll(() => driver.told).toHaveLength(1)
    let refusals = 0
    const allow = test.client.intercept(({ verb, plural }) => {
      if (plural !== 'csinodes' || verb !== 'update') return
      refusals++
      throw new Error('the server is away')
    })
    await driver.stop()
    await expect.poll(() => refusals).toBeGreaterThan(0)
    allow()
    await expect
      .poll(async () => {
        await test.environment.clock.advance('1s')
        return driversOf(test)
      })
      .toEqual([])
  })

  it('keeps nobody waiting where it hangs', async () => {
    const test = await startNode()
    const hanging = await FakeDriver.start(test.root, { getInfo: noAnswer }, { name: 'hanging.example.com' })
    await expect.poll(() => hanging.asked).toHaveLength(1)
    const driver = await FakeDriver.start(test.root)
    await expect.poll(() => driver.told).toHaveLength(1)
    await driver.stop()
    await expect.poll(() => driversOf(test)).toEqual([])
    expect(hanging.asked).toHaveLength(1)
  })
})

describe('a driver that is not taken', () => {
  const failed = 'RegisterPlugin error -- plugin registration failed with err: '

  it.each([
    [
      'cannot say what the node is',
      { getInfo: () => failure(13, 'no metadata') },
      'rpc error: code = Internal desc = no metadata',
    ],
    [
      'has no name for the node',
      { getInfo: () => ({}) },
      'error adding CSI driver node info: driverNodeID must not be empty',
    ],
    [
      'is somewhere else than others say',
      { getInfo: () => ({ nodeId: 'n', accessibleTopology: { segments: { zone: 'b' } } }) },
      'error updating Node object with CSI driver node info: detected topology value collision: driver reported "zone":"b" but existing label is "zone":"a"',
    ],
  ])('because it %s is told so', async (_, answers, why) => {
    const root = temporaryDirectory()
    const driver = await FakeDriver.start(root, answers)
    const test = await startNode({ root, node: { metadata: { name: 'node-a', labels: { zone: 'a' } } } })
    expect(driver.told).toEqual([{ pluginRegistered: false, error: `${failed}${why}` }])
    expect(test.client.stored(csiNodes).flatMap(({ spec }) => spec.drivers)).toEqual([])
  })

  it('is asked again after a while', async () => {
    const root = temporaryDirectory()
    let answer: object = failure(14, 'not yet')
    const driver = await FakeDriver.start(root, { getInfo: () => answer as Error })
    const test = await startNode({ root })
    expect(driver.told).toHaveLength(1)
    answer = { nodeId: 'n' }
    await test.environment.clock.advance('1s')
    await expect.poll(() => driver.told.at(-1)?.pluginRegistered).toBe(true)
  })

  it('is told of once for each reason', async () => {
    const root = temporaryDirectory()
    let answer = failure(14, 'not yet')
    const driver = await FakeDriver.start(root, { getInfo: () => answer })
    const logged: LogLine[] = []
    const { environment } = await startNode({ root, logged })
    const retry = async (times: number) => {
      await environment.clock.advance('1m')
      await expect.poll(() => driver.told).toHaveLength(times)
    }
    await retry(2)
    answer = failure(14, 'out of memory')
    await retry(3)
    expect(logged.map(({ fields }) => /desc = ([a-z ]+)/.exec(String(fields.error))?.[1])).toEqual([
      'not yet',
      'out of memory',
    ])
  })

  it('leaves the others alone, as do hidden sockets', async () => {
    const root = temporaryDirectory()
    const hidden = await FakeDriver.start(root, {}, { name: '.hidden' })
    const devices = await FakeDriver.start(root, {}, { name: 'devices', type: 'DRAPlugin' })
    await FakeDriver.start(root)
    const test = await startNode({ root })
    expect(await driversOf(test)).toEqual([`${driverName} the-node`])
    expect(hidden.told).toEqual([])
    const error = `RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket ${devices.registration}`
    expect(devices.told).toEqual([{ pluginRegistered: false, error }])
  })

  it('because it speaks another version is told so', async () => {
    const root = temporaryDirectory()
    const driver = await FakeDriver.start(root, {}, { supportedVersions: ['0.3.0'] })
    await startNode({ root })
    const error =
      'RegisterPlugin error -- plugin validation failed with err: none of the CSI versions ["0.3.0"] reported by this driver are supported'
    expect(driver.told).toEqual([{ pluginRegistered: false, error }])
  })
})

it('a volume of a driver that is not there is not there either, and its pod is told', async () => {
  const { drivers } = await startNode({ driver: csiDriver({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] }) })
  const missing = `driver name ${driverName} not found in the list of registered CSI drivers`
  expect(await drivers.mount(testPod(), claimed, testVolume())).toEqual({
    problem: `MountVolume.MountDevice failed for volume "pv-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${missing}`,
    isWaiting: false,
  })
  expect(await drivers.mount(testPod(), { name: 'v', csi: { driver: driverName } }, undefined)).toEqual({
    problem: `MountVolume.SetUp failed for volume "v" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${missing}`,
    isWaiting: false,
  })
})

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container, Pod, PodSpec } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeDevicePlugin, gpu, partsOf } from '../testing/fake-device-plugin.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { DeviceManager, pluginGoneMaxMs } from './device-manager.ts'

async function startManager({
  directory = join(temporaryDirectory(), 'device-plugins'),
  isActive = (_: string): boolean => true,
} = {}) {
  const environment = virtualEnvironment()
  const manager = new DeviceManager({ environment, directory, isActive })
  onTestFinished(() => manager.stop())
  await manager.start()
  const counted = (capacity: number, allocatable = capacity, resource = gpu) =>
    expect.poll(() => manager.counts().get(resource)).toEqual({ capacity, allocatable })
  return { manager, directory, clock: environment.clock, counted }
}

/** A container that wants so many devices. */
const wanting = (count: number, fields: Partial<Container> = {}): Container =>
  testContainer({ resources: { limits: { [gpu]: String(count) }, requests: { [gpu]: String(count) } }, ...fields })

const podOf = (uid: string, spec: Partial<PodSpec>): Pod => testPod(spec, { metadata: { uid } })
const asking = (uid: string, count: number) => podOf(uid, { containers: [wanting(count)] })

describe('a device plugin', () => {
  it('that registers has its devices counted, and those that are healthy', async () => {
    const { directory, counted } = await startManager()
    const plugin = await FakeDevicePlugin.start(directory, ['a', 'b'])
    await counted(2)
    plugin.tell({ a: true, b: false, c: false })
    await counted(3, 1)
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      'speaks another version',
      { version: 'v1alpha' },
      'requested API version "v1alpha" is not supported by kubelet. Supported version is ["v1beta1"]',
    ],
    ['offers what is no extended resource', { resourceName: 'cpu' }, 'the ResourceName "cpu" is invalid'],
    [
      'is not where it says',
      { endpoint: 'nowhere.sock' },
      'failed to get device plugin options: rpc error: code = Unavailable desc = there is no socket',
    ],
  ])('that %s is refused', async (_, fields, message) => {
    const { directory, manager } = await startManager()
    const plugin = await FakeDevicePlugin.start(directory, ['a'], { resource: 'example.com/other' })
    await expect(plugin.register(fields)).rejects.toThrow(message)
    expect([...manager.counts().keys()]).toEqual(['example.com/other'])
  })

  it('that goes leaves its devices unhealthy, and after five minutes none', async () => {
    const { directory, clock, counted } = await startManager()
    const plugin = await FakeDevicePlugin.start(directory, ['a', 'b'])
    await counted(2)
    plugin.stop()
    await counted(2, 0)
    await clock.advance(pluginGoneMaxMs - 1)
    await counted(2, 0)
    await clock.advance(1)
    await counted(0)
  })

  it('that comes back has them again', async () => {
    const { directory, counted } = await startManager()
    const plugin = await FakeDevicePlugin.start(directory, ['a'])
    plugin.stop()
    await counted(1, 0)
    await plugin.serve()
    await plugin.register()
    await counted(1)
  })

  it('that registers in place of another counts alone, whenever that goes', async () => {
    const { directory, counted } = await startManager()
    const first = await FakeDevicePlugin.start(directory, ['a'], { resource: gpu })
    await counted(1)
    await first.register()
    await expect.poll(() => first.followers).toBe(1)
    await counted(1)
    first.tell({ a: true, b: true })
    await counted(2)
  })
})

describe('a pod that asks for devices', () => {
  it('is given what its plugin says', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a', 'b'])
    await counted(2)
    const pod = asking('one', 2)
    await manager.allocate(pod)
    expect(await manager.prepareStart(pod, wanting(2))).toEqual({
      env: [{ name: 'GPUS', value: 'a,b' }],
      mounts: [{ name: '/usr/lib/gpu', containerPath: '/usr/lib/gpu', hostPath: '/opt/gpu', readOnly: true }],
      files: ['a', 'b'].map((id) => ({ containerPath: `/dev/${id}`, hostPath: `/dev/host-${id}`, permissions: 'rw' })),
      annotations: { 'example.com/gpus': 'a,b' },
      cdiNames: ['example.com/gpu=a', 'example.com/gpu=b'],
    })
  })

  it('has them alone until it ends', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a', 'b', 'c'])
    await counted(3)
    await manager.allocate(asking('one', 2))
    const message = `requested number of devices unavailable for ${gpu}. Requested: 2, Available: 1`
    await expect(manager.allocate(asking('two', 2))).rejects.toThrow(message)
    manager.release('one')
    await manager.allocate(asking('two', 2))
  })

  it('has none where one of its containers cannot have some', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a', 'b'])
    await counted(2)
    const containers = [wanting(1), wanting(2, { name: 'other' })]
    await expect(manager.allocate(podOf('one', { containers }))).rejects.toThrow('Requested: 2, Available: 1')
    await manager.allocate(asking('two', 2))
  })

  it('does not share them with one that asks at the same moment', async () => {
    const { manager, directory, counted } = await startManager()
    const options = { getPreferredAllocationAvailable: true }
    const answers = { getPreferredAllocation: () => ({ containerResponses: [{ deviceIds: ['b'] }] }) }
    await FakeDevicePlugin.start(directory, ['a', 'b'], { answers, options })
    await counted(2)
    const pods = [asking('one', 1), asking('two', 1)]
    await Promise.all(pods.map((pod) => manager.allocate(pod)))
    const given = await Promise.all(pods.map((pod) => manager.prepareStart(pod, wanting(1))))
    expect(given.map((each) => each?.env[0]?.value).sort()).toEqual(['a', 'b'])
  })

  it('of devices that others had which have gone gets these', async () => {
    const gone = new Set<string>()
    const { manager, directory, counted } = await startManager({ isActive: (uid) => !gone.has(uid) })
    await FakeDevicePlugin.start(directory, ['a'])
    await counted(1)
    await manager.allocate(asking('one', 1))
    gone.add('one')
    await manager.allocate(asking('two', 1))
  })

  it('uses those of its init containers again, but not of those that go on beside it', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a', 'b', 'c'])
    await counted(3)
    const initContainers = [wanting(2, { name: 'first' }), wanting(1, { name: 'beside', restartPolicy: 'Always' })]
    const pod = podOf('one', { initContainers, containers: [wanting(1), wanting(1, { name: 'last' })] })
    await manager.allocate(pod)
    const given = async (container: Container | undefined) =>
      (await manager.prepareStart(pod, container ?? wanting(0)))?.env[0]?.value
    const containers = [...initContainers, ...pod.spec.containers]
    expect(await Promise.all(containers.map(given))).toEqual(['a,b', 'a', 'b', 'c'])
  })

  it('gets those that its plugin prefers, which is told what there is', async () => {
    const { manager, directory, counted } = await startManager()
    const options = { getPreferredAllocationAvailable: true }
    const answers = { getPreferredAllocation: () => ({ containerResponses: [{ deviceIds: ['c', 'x'] }] }) }
    const plugin = await FakeDevicePlugin.start(directory, ['a', 'b', 'c'], { answers, options })
    await counted(3)
    const pod = asking('one', 2)
    await manager.allocate(pod)
    expect(plugin.requests('getPreferredAllocation')).toEqual([
      { containerRequests: [{ availableDeviceIds: ['a', 'b', 'c'], mustIncludeDeviceIds: [], allocationSize: 2 }] },
    ])
    expect((await manager.prepareStart(pod, wanting(2)))?.env[0]?.value).toBe('c,a')
  })

  it.each<[string, object, object, string]>([
    ['says why not', {}, { allocate: () => new Error('too hot') }, 'rpc error: code = Unknown desc = too hot'],
    ['says nothing', {}, { allocate: () => ({}) }, 'no containers return in allocation response'],
    [
      'fails to say what it prefers',
      { getPreferredAllocationAvailable: true },
      { getPreferredAllocation: () => new Error('no idea') },
      'device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown desc = no idea',
    ],
  ])('gets none where its plugin %s', async (_, options, answers, message) => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a'], { options, answers })
    await counted(1)
    await expect(manager.allocate(asking('one', 1))).rejects.toThrow(message)
    expect(await manager.prepareStart(asking('one', 1), wanting(1))).toBeUndefined()
  })

  it('waits with each start of a container for a plugin that prepares devices, and does not start where that fails', async () => {
    const { manager, directory, counted } = await startManager()
    let fails = false
    const answers = { preStartContainer: () => (fails ? new Error('broken') : {}) }
    const plugin = await FakeDevicePlugin.start(directory, ['a'], { answers, options: { preStartRequired: true } })
    await counted(1)
    const pod = asking('one', 1)
    await manager.allocate(pod)
    await manager.prepareStart(pod, wanting(1))
    expect(plugin.requests('preStartContainer')).toEqual([{ deviceIds: ['a'] }])
    fails = true
    const message = 'device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = broken'
    await expect(manager.prepareStart(pod, wanting(1))).rejects.toThrow(message)
  })

  it('of other resources is nobody’s business here', async () => {
    const { manager, directory } = await startManager()
    const resources = { limits: { cpu: '1', 'example.com/license': '1' } }
    await manager.allocate(podOf('one', { containers: [testContainer({ resources })] }))
    expect(existsSync(join(directory, 'kubelet_internal_checkpoint'))).toBe(false)
  })
})

describe('an agent that starts again', () => {
  it('knows who has which devices, and has none to give until plugins are back', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a', 'b'])
    await counted(2)
    const pod = asking('one', 1)
    await manager.allocate(pod)
    await manager.stop()
    const next = await startManager({ directory })
    await next.counted(0)
    expect(await next.manager.prepareStart(pod, wanting(1))).toMatchObject({ env: [{ name: 'GPUS', value: 'a' }] })
    const message = `no healthy devices present; cannot allocate unhealthy devices ${gpu}`
    await expect(next.manager.allocate(asking('two', 1))).rejects.toThrow(message)
    await FakeDevicePlugin.start(directory, ['a', 'b'])
    await next.counted(2)
    const two = asking('two', 1)
    await next.manager.allocate(two)
    expect((await next.manager.prepareStart(two, wanting(1)))?.env[0]?.value).toBe('b')
  })

  it('clears sockets of before away, by which plugins notice, and leaves directories', async () => {
    const directory = join(temporaryDirectory(), 'device-plugins')
    mkdirSync(join(directory, 'mine'), { recursive: true })
    writeFileSync(join(directory, 'old.sock'), '')
    await startManager({ directory })
    expect(existsSync(join(directory, 'old.sock'))).toBe(false)
    expect(existsSync(join(directory, 'mine'))).toBe(true)
    expect(existsSync(join(directory, 'kubelet.sock'))).toBe(true)
  })

  it('goes on where it cannot read what was', async () => {
    const directory = join(temporaryDirectory(), 'device-plugins')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'kubelet_internal_checkpoint'), '{')
    const { manager, counted } = await startManager({ directory })
    await FakeDevicePlugin.start(directory, ['a'])
    await counted(1)
    await manager.allocate(asking('one', 1))
  })

  it('finds what upstream’s kubelet has written', async () => {
    const { manager, directory, counted } = await startManager()
    await FakeDevicePlugin.start(directory, ['a'])
    await counted(1)
    await manager.allocate(asking('one', 1))
    const { Data } = JSON.parse(readFileSync(join(directory, 'kubelet_internal_checkpoint'), 'utf8'))
    const [entry] = Data.PodDeviceEntries
    expect(entry).toMatchObject({ PodUID: 'one', ContainerName: 'web', ResourceName: gpu, DeviceIDs: { '-1': ['a'] } })
    expect(Data.RegisteredDevices).toEqual({ [gpu]: ['a'] })
    // As Go's protobuf has it: the environment first.
    expect(Buffer.from(entry.AllocResp, 'base64').toString('latin1')).toMatch(/^\n.\n.GPUS.+a/)
    expect(partsOf(['a']).envs).toEqual({ GPUS: 'a' })
  })
})

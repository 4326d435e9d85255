import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  attachmentName,
  type CsiDriver,
  type Secret,
  secrets,
  serviceAccounts,
  type Volume,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import {
  FakeDriver,
  failure,
  type NodeAnswers,
  noAnswer,
  temporaryDirectory,
  withCapabilities,
} from './testing/fake-driver.ts'
import { claimed, csiDriver, driverName, startNode, testPod, testVolume } from './testing/objects.ts'

async function start(spec: Partial<CsiDriver['spec']> = {}, answers: NodeAnswers = {}, signal?: AbortSignal) {
  const root = temporaryDirectory()
  const driver = await FakeDriver.start(root, answers)
  const node = await startNode({ root, driver: csiDriver(spec), ...(signal && { signal }) })
  const pathOf = (uid: string) => join(root, 'pods', uid, 'volumes/kubernetes.io~csi/pv-1/mount')
  return { ...node, driver, pathOf, staged: join(root, 'plugins/kubernetes.io/csi', driverName) }
}

const inline: Volume = { name: 'own', csi: { driver: driverName, volumeAttributes: { size: '1' } } }
const taking: Partial<CsiDriver['spec']> = { volumeLifecycleModes: ['Persistent', 'Ephemeral'] }
const tell = (data: Record<string, string>): Secret['data'] =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))

describe('a volume that a pod has by a claim', () => {
  it('is staged on the node and published to the pod, at upstream’s paths', async () => {
    const { drivers, driver, pathOf, staged } = await start()
    const volume = testVolume(
      { fsType: 'xfs', volumeAttributes: { a: '1' } },
      { mountOptions: ['noatime'], accessModes: ['ReadWriteMany'] },
    )
    const brought = await drivers.mount(testPod(), claimed, volume)
    expect(brought).toEqual({ path: pathOf('pod-1'), readOnly: false, keepsGroup: true, driver: driverName })
    const [directory = ''] = readdirSync(staged)
    const stagingTargetPath = join(staged, directory, 'globalmount')
    const volumeCapability = {
      mount: { fsType: 'xfs', mountFlags: ['noatime'], volumeMountGroup: '' },
      accessMode: { mode: 5 },
    }
    const common = {
      volumeId: 'handle-1',
      publishContext: {},
      secrets: {},
      volumeContext: { a: '1' },
      volumeCapability,
    }
    expect(driver.lastRequest('stageVolume')).toEqual({ ...common, stagingTargetPath })
    const published = { ...common, stagingTargetPath, targetPath: pathOf('pod-1'), readonly: false }
    expect(driver.lastRequest('publishVolume')).toEqual(published)
    expect(directory).toMatch(/^[0-9a-f]{64}$/)
  })

  it('is published alone by a driver that does not stage', async () => {
    const { drivers, driver } = await start({}, { getCapabilities: () => ({}) })
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.unmount('pod-1')
    expect(driver.volumeCalls).toEqual(['publishVolume', 'unpublishVolume'])
  })

  it('is read-only where the claim is', async () => {
    const { drivers, driver } = await start()
    const volume = { ...claimed, persistentVolumeClaim: { claimName: 'data', readOnly: true } }
    expect(await drivers.mount(testPod(), volume, testVolume())).toMatchObject({ readOnly: true, keepsGroup: true })
    expect(driver.lastRequest('publishVolume')).toMatchObject({ readonly: true })
  })

  it('is mounted for the group of the pod by a driver that does that, and by no other', async () => {
    const pod = testPod({ securityContext: { fsGroup: 2000 } })
    const usual = await start({ fsGroupPolicy: 'File' })
    expect(await usual.drivers.mount(pod, claimed, testVolume())).toMatchObject({ keepsGroup: false })
    const forGroup = await start({}, { getCapabilities: () => withCapabilities('volumeMountGroup') })
    expect(await forGroup.drivers.mount(pod, claimed, testVolume())).toMatchObject({ keepsGroup: true })
    const { volumeCapability } = forGroup.driver.lastRequest('publishVolume')
    expect(volumeCapability.mount.volumeMountGroup).toBe('2000')
  })

  it('comes with the secrets that it names, each for its call', async () => {
    const { drivers, driver, client } = await start()
    const put = (name: string) =>
      client.create<Secret>(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'safe' },
        data: tell({ key: name }),
      })
    await put('staging')
    await put('publishing')
    const reference = (name: string) => ({ namespace: 'safe', name })
    const volume = testVolume({
      nodeStageSecretRef: reference('staging'),
      nodePublishSecretRef: reference('publishing'),
    })
    await drivers.mount(testPod(), claimed, volume)
    expect(driver.lastRequest('stageVolume').secrets).toEqual({ key: 'staging' })
    expect(driver.lastRequest('publishVolume').secrets).toEqual({ key: 'publishing' })
    const missing = await drivers.mount(
      testPod(),
      claimed,
      testVolume({ nodePublishSecretRef: reference('none'), volumeHandle: 'other' }),
    )
    expect(missing).toMatchObject({
      problem: expect.stringMatching(
        /^MountVolume.SetUp failed for volume "pv-1" : fetching NodePublishSecretRef safe\/none failed: /,
      ),
    })
  })

  it('tells the driver of the pod where it asks for that', async () => {
    const { drivers, driver } = await start({ podInfoOnMount: true })
    await drivers.mount(testPod(), claimed, testVolume({ volumeAttributes: { a: '1' } }))
    expect(driver.lastRequest('publishVolume').volumeContext).toEqual({
      a: '1',
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.namespace': 'shop',
      'csi.storage.k8s.io/pod.uid': 'pod-1',
      'csi.storage.k8s.io/serviceAccount.name': 'seller',
      'csi.storage.k8s.io/ephemeral': 'false',
    })
    expect(driver.lastRequest('stageVolume').volumeContext).toEqual({ a: '1' })
  })

  it.each([
    ['attributes', {}, 'volumeContext', 'secrets'],
    ['secrets', { serviceAccountTokenInSecrets: true }, 'secrets', 'volumeContext'],
  ])('hands the driver tokens of the account as %s', async (_, more, there, notThere) => {
    const tokenRequests = [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }]
    const { drivers, driver, client } = await start({ tokenRequests, ...more })
    const asked: unknown[] = []
    const createSubresource: typeof client.createSubresource = async (resource, key, subresource, body) => {
      asked.push([resource, key, subresource, (body as { readonly spec: unknown }).spec])
      return { status: { token: `token-${asked.length}`, expirationTimestamp: 'later' } }
    }
    Object.assign(client, { createSubresource })
    await drivers.mount(testPod(), claimed, testVolume())
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'pod-1' }
    const account = [serviceAccounts, { namespace: 'shop', name: 'seller' }, 'token']
    expect(asked).toEqual([
      [...account, { audiences: ['vault'], expirationSeconds: 600, boundObjectRef }],
      [...account, { audiences: [], expirationSeconds: 3600, boundObjectRef }],
    ])
    const key = 'csi.storage.k8s.io/serviceAccount.tokens'
    expect(JSON.parse(driver.lastRequest('publishVolume')[there][key])).toEqual({
      vault: { token: 'token-1', expirationTimestamp: 'later' },
      '': { token: 'token-2', expirationTimestamp: 'later' },
    })
    expect(driver.lastRequest('publishVolume')[notThere]).toEqual({})
  })

  it('says which step has failed, and is tried again as if it was the first time', async () => {
    let stage: object = failure(5, 'no such disk')
    let publish: object = failure(13, 'wrong fs type')
    const { drivers, driver, pathOf } = await start(
      {},
      {
        stageVolume: () => stage as Error,
        publishVolume({ targetPath }) {
          mkdirSync(targetPath, { recursive: true })
          return publish as Error
        },
      },
    )
    const mount = () => drivers.mount(testPod(), claimed, testVolume())
    const because = (step: string, why: string) => ({
      problem: `MountVolume.${step} failed for volume "pv-1" : rpc error: code = ${why}`,
      isWaiting: false,
    })
    expect(await mount()).toEqual(because('MountDevice', 'NotFound desc = no such disk'))
    stage = {}
    expect(await mount()).toEqual(because('SetUp', 'Internal desc = wrong fs type'))
    expect(existsSync(pathOf('pod-1'))).toBe(false)
    publish = {}
    expect(await mount()).toMatchObject({ path: pathOf('pod-1') })
    expect(driver.volumeCalls.filter((name) => name === 'stageVolume')).toHaveLength(3)
  })

  it('is refused where the driver has none but for pods', async () => {
    const { drivers, driver } = await start({ volumeLifecycleModes: ['Ephemeral'] })
    expect(await drivers.mount(testPod(), claimed, testVolume())).toMatchObject({
      problem: `MountVolume.NewMounter initialization failed for volume "pv-1" : volume mode "Persistent" not supported by driver ${driverName} (only supports ["Ephemeral"])`,
    })
    expect(driver.volumeCalls).toEqual([])
  })

  it('is not a block device', async () => {
    const { drivers, driver } = await start()
    expect(await drivers.mount(testPod(), claimed, testVolume({}, { volumeMode: 'Block' }))).toEqual({
      problem: 'MapVolume.SetUpDevice failed for volume "pv-1" : block devices are not mapped here',
      isWaiting: false,
    })
    expect(driver.volumeCalls).toEqual([])
  })
})

describe('a volume that has to be attached first', () => {
  const attachment = (status: VolumeAttachment['status']): VolumeAttachment => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName(driverName, 'handle-1', 'node-a') },
    spec: { attacher: driverName, nodeName: 'node-a', source: { persistentVolumeName: 'pv-1' } },
    ...(status === undefined ? {} : { status }),
  })
  const key = { name: attachmentName(driverName, 'handle-1', 'node-a') }

  it('waits for that, says so after two minutes, and hands on what was said then', async () => {
    const { drivers, driver, client, environment, node } = await start({ attachRequired: true })
    const mount = () => drivers.mount(testPod(), claimed, testVolume())
    expect(await mount()).toMatchObject({ isWaiting: true })
    await client.create(volumeAttachments, attachment({ attached: false }))
    await environment.clock.advance('2m')
    expect(await mount()).toMatchObject({ isWaiting: true })
    await environment.clock.advance('4s')
    expect(await mount()).toEqual({
      problem:
        'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded',
      isWaiting: false,
    })
    expect(driver.volumeCalls).toEqual([])
    const status = { attached: true, attachmentMetadata: { device: '/dev/x' } }
    await client.patch(volumeAttachments, key, { type: 'merge', body: { status } }, { subresource: 'status' })
    expect(await mount()).toHaveProperty('path')
    expect(driver.lastRequest('stageVolume').publishContext).toEqual({ device: '/dev/x' })
    expect(driver.lastRequest('publishVolume').publishContext).toEqual({ device: '/dev/x' })
    expect((await node()).status?.volumesInUse).toEqual([`kubernetes.io/csi/${driverName}^handle-1`])
  })

  it('is given up where no more can be attached, if the driver wants to be asked how many that are: it is asked then', async () => {
    const attachError = { time: '2026-01-01T00:00:00Z', message: 'too many', errorCode: 8 }
    const giveUp = async (spec: Partial<CsiDriver['spec']>) => {
      const test = await start({ attachRequired: true, ...spec }, { getInfo: () => ({ nodeId: 'n' }) })
      await test.client.create(volumeAttachments, attachment({ attached: false, attachError }))
      const mount = () => test.drivers.mount(testPod(), claimed, testVolume())
      const first = await mount()
      const asked = test.driver.asked.length
      await test.environment.clock.advance('124s')
      return { test, first, last: await mount(), asked }
    }
    const { first, last, test, asked } = await giveUp({ nodeAllocatableUpdatePeriodSeconds: 3600 })
    expect(first).not.toHaveProperty('refusal')
    expect(last).toEqual({
      problem:
        'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded',
      isWaiting: false,
      refusal: 'VolumeAttachmentLimitExceeded',
    })
    await expect.poll(() => test.driver.asked.slice(asked).map(({ name }) => name)).toEqual(['getInfo'])
    expect((await giveUp({})).last).not.toHaveProperty('refusal')
  })

  it('is not mounted where it is detached before the Node says that it is in use', async () => {
    const { drivers, driver, client } = await start({ attachRequired: true })
    await client.create(volumeAttachments, attachment({ attached: true }))
    const detaches = client.intercept(async ({ plural, verb }) => {
      if (plural !== 'nodes' || verb !== 'patch') return
      detaches()
      await client.delete(volumeAttachments, key)
    })
    expect(await drivers.mount(testPod(), claimed, testVolume())).toMatchObject({ isWaiting: true })
    expect(driver.volumeCalls).toEqual([])
    await client.create(volumeAttachments, attachment({ attached: true }))
    expect(await drivers.mount(testPod(), claimed, testVolume())).toHaveProperty('path')
  })

  it('is in use in the Node before the driver is asked, and until it has taken it away', async () => {
    const seen: unknown[] = []
    const noted = async () => seen.push((await test.node()).status?.volumesInUse)
    const note = () => {
      void noted()
      return {}
    }
    const test = await start({ attachRequired: true }, { stageVolume: note, unstageVolume: note })
    await test.client.create(volumeAttachments, attachment({ attached: true }))
    await test.drivers.mount(testPod(), claimed, testVolume())
    await test.drivers.unmount('pod-1')
    const inUse = [`kubernetes.io/csi/${driverName}^handle-1`]
    expect(seen).toEqual([inUse, inUse])
    expect((await test.node()).status?.volumesInUse).toEqual([])
  })

  it('is not the pod’s own', async () => {
    const { drivers, driver } = await start({ attachRequired: true, ...taking })
    expect(await drivers.mount(testPod(), inline, undefined)).toHaveProperty('path')
    expect(driver.volumeCalls).toEqual(['publishVolume'])
  })
})

describe('a volume of a pod’s own', () => {
  it('is published to it alone, under a handle of its own', async () => {
    const { drivers, driver, root } = await start({ podInfoOnMount: true, ...taking })
    const path = join(root, 'pods/pod-1/volumes/kubernetes.io~csi/own/mount')
    expect(await drivers.mount(testPod(), inline, undefined)).toMatchObject({ path })
    const { volumeId, volumeContext } = driver.lastRequest('publishVolume')
    // SHA-256 of `pod-1own`.
    expect(volumeId).toBe('csi-55728100dd9ef0a2d9464c509a51221e68c9cdf687ff461269e29bdc060191fe')
    expect(volumeContext).toMatchObject({ size: '1', 'csi.storage.k8s.io/ephemeral': 'true' })
    await drivers.unmount('pod-1')
    expect(driver.volumeCalls).toEqual(['publishVolume', 'unpublishVolume'])
    expect(driver.lastRequest('unpublishVolume')).toEqual({ volumeId, targetPath: path })
    await drivers.mount(testPod(), inline, undefined)
    await driver.stop()
    await expect
      .poll(() => drivers.unmount('pod-1').catch(({ message }) => message))
      .toMatch(
        /^UnmountVolume.TearDown failed for volume "own" : kubernetes.io\/csi: mounter.SetUpAt failed to get CSI client: /,
      )
  })

  it('is refused where the driver has none for pods', async () => {
    const { drivers, root } = await start()
    expect(await drivers.mount(testPod(), inline, undefined)).toMatchObject({
      problem: `MountVolume.NewMounter initialization failed for volume "own" : volume mode "Ephemeral" not supported by driver ${driverName} (only supports ["Persistent"])`,
    })
    expect(existsSync(join(root, 'pods'))).toBe(false)
  })
})

describe('a volume that goes', () => {
  it('goes from the pod first and from the node with the last pod, and leaves nothing', async () => {
    const { drivers, driver, root, staged, pathOf } = await start()
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.mount(testPod({}, 'pod-2'), claimed, testVolume())
    await drivers.unmount('pod-1')
    expect(driver.lastRequest('unpublishVolume')).toEqual({ volumeId: 'handle-1', targetPath: pathOf('pod-1') })
    expect(driver.volumeCalls).not.toContain('unstageVolume')
    await drivers.unmount('pod-2')
    expect(driver.volumeCalls.slice(-2)).toEqual(['unpublishVolume', 'unstageVolume'])
    expect(readdirSync(staged)).toEqual([])
    expect(readdirSync(join(root, 'pods/pod-2/volumes/kubernetes.io~csi'))).toEqual([])
  })

  it('is known to the agent after this one, by what upstream writes down', async () => {
    const { drivers, driver, root, client, pathOf } = await start()
    await drivers.mount(testPod(), claimed, testVolume())
    expect(JSON.parse(readFileSync(join(pathOf('pod-1'), '../vol_data.json'), 'utf8'))).toEqual({
      attachmentID: '',
      driverName,
      nodeName: 'node-a',
      specVolID: 'pv-1',
      volumeHandle: 'handle-1',
      volumeLifecycleMode: 'Persistent',
    })
    await drivers.stop({ unmounts: false })
    const next = await startNode({ root, client })
    expect((await next.node()).status?.volumesInUse ?? []).toEqual([])
    await next.drivers.unmount('pod-1')
    expect(driver.volumeCalls.slice(-2)).toEqual(['unpublishVolume', 'unstageVolume'])
    await next.drivers.unmount('pod-1')
    expect(driver.volumeCalls).toHaveLength(4)
  })

  it('stays where the driver is not there or refuses, and is asked for again', async () => {
    let answer: object = failure(9, 'still in use')
    const { drivers, driver, pathOf } = await start({}, { unstageVolume: () => answer as Error })
    await drivers.mount(testPod(), claimed, testVolume())
    await expect(drivers.unmount('pod-1')).rejects.toThrow(
      'UnmountVolume.TearDown failed for volume "pv-1" : rpc error: code = FailedPrecondition desc = still in use',
    )
    expect(existsSync(join(pathOf('pod-1'), '../vol_data.json'))).toBe(true)
    answer = {}
    await drivers.unmount('pod-1')
    expect(driver.volumeCalls.filter((name) => name === 'unstageVolume')).toHaveLength(2)
    await drivers.mount(testPod(), claimed, testVolume())
    await driver.stop()
    await expect(drivers.unmount('pod-1')).rejects.toThrow('UnmountVolume.TearDown failed for volume "pv-1" : ')
  })

  it.each([
    ['is cut off', '{"driverName":'],
    ['says nothing', '{}'],
    ['is no record', 'null'],
  ])('stays where what is known of it %s, and so do those of other pods of which it may be one', async (_, text) => {
    const { drivers, driver, root, pathOf } = await start()
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.mount(testPod({}, 'pod-2'), claimed, testVolume())
    const record = join(pathOf('pod-2'), '../vol_data.json')
    const whole = readFileSync(record, 'utf8')
    writeFileSync(record, text)
    const problem = `${record} does not say which volume is there`
    await expect(drivers.unmount('pod-2')).rejects.toThrow(problem)
    await expect(drivers.unmount('pod-1')).rejects.toThrow(problem)
    expect(driver.volumeCalls).not.toContain('unstageVolume')
    writeFileSync(record, whole)
    for (const pod of ['pod-1', 'pod-2']) await drivers.unmount(pod)
    expect(readdirSync(join(root, 'pods/pod-2/volumes/kubernetes.io~csi'))).toEqual([])
  })

  it('stays where what is known of it cannot be read', async () => {
    const { drivers, driver, pathOf } = await start()
    await drivers.mount(testPod(), claimed, testVolume())
    const record = join(pathOf('pod-1'), '../vol_data.json')
    rmSync(record)
    mkdirSync(record)
    await expect(drivers.unmount('pod-1')).rejects.toThrow(/EISDIR/)
    expect(driver.volumeCalls).toEqual(['stageVolume', 'publishVolume'])
  })

  it('is never emptied: what the driver leaves in its place stays', async () => {
    const { drivers, pathOf } = await start({}, { unpublishVolume: () => ({}) })
    await drivers.mount(testPod(), claimed, testVolume())
    writeFileSync(join(pathOf('pod-1'), 'precious'), '')
    await expect(drivers.unmount('pod-1')).rejects.toThrow(/ENOTEMPTY/)
    expect(readdirSync(pathOf('pod-1'))).toEqual(['precious'])
  })

  it('goes with all others from a node that is switched off', async () => {
    const { drivers, driver, staged } = await start(taking)
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.mount(testPod({}, 'pod-2'), inline, undefined)
    await drivers.stop({ unmounts: true })
    expect(driver.volumeCalls.filter((name) => name === 'unpublishVolume')).toHaveLength(2)
    expect(readdirSync(staged)).toEqual([])
  })
})

describe('a volume of a driver that wants to be asked again', () => {
  it('is published once more, with tokens of that moment, and not staged', async () => {
    const tokenRequests = [{ audience: 'vault' }]
    const { drivers, driver, client } = await start({ requiresRepublish: true, tokenRequests })
    let tokens = 0
    const createSubresource: typeof client.createSubresource = async () => ({ status: { token: `token-${++tokens}` } })
    Object.assign(client, { createSubresource })
    expect(await drivers.repeats(driverName)).toBe(true)
    await drivers.mount(testPod(), claimed, testVolume())
    const first = driver.lastRequest('publishVolume')
    expect(await drivers.repeat(testPod(), claimed, testVolume())).toBeUndefined()
    expect(driver.volumeCalls).toEqual(['stageVolume', 'publishVolume', 'publishVolume'])
    const { volumeContext, ...again } = driver.lastRequest('publishVolume')
    expect(again).toEqual({ ...again, stagingTargetPath: first.stagingTargetPath, targetPath: first.targetPath })
    expect(JSON.parse(volumeContext['csi.storage.k8s.io/serviceAccount.tokens'])).toEqual({
      vault: { token: 'token-2' },
    })
  })

  it('stays as it is where the driver fails', async () => {
    let answer: object = {}
    const { drivers, pathOf } = await start(
      { requiresRepublish: true },
      {
        publishVolume({ targetPath }) {
          mkdirSync(targetPath, { recursive: true })
          return answer as Error
        },
      },
    )
    await drivers.mount(testPod(), claimed, testVolume())
    answer = failure(13, 'vault is sealed')
    expect(await drivers.repeat(testPod(), claimed, testVolume())).toBe(
      'MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = vault is sealed',
    )
    expect(existsSync(pathOf('pod-1'))).toBe(true)
  })

  it('is not brought again to a pod that has it no longer', async () => {
    const { drivers, driver } = await start({ requiresRepublish: true })
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.unmount('pod-1')
    expect(await drivers.repeat(testPod(), claimed, testVolume())).toBeUndefined()
    expect(driver.volumeCalls.at(-1)).toBe('unstageVolume')
    expect(driver.volumeCalls.filter((name) => name === 'publishVolume')).toHaveLength(1)
  })

  it('is of no other driver', async () => {
    const { drivers } = await start()
    expect([await drivers.repeats(driverName), await drivers.repeats('other')]).toEqual([false, false])
  })
})

describe('a driver that hangs as the node agent stops', () => {
  const stopped = new Error('the agent stops')
  const mountsOf = (test: Awaited<ReturnType<typeof start>>) =>
    Promise.all(['pod-1', 'pod-2'].map((uid) => test.drivers.mount(testPod({}, uid), claimed, testVolume())))

  it.each([
    ['saying what it can do', { getCapabilities: noAnswer }, 'MountDevice'],
    ['staging', { stageVolume: noAnswer }, 'MountDevice'],
    ['publishing', { publishVolume: noAnswer }, 'SetUp'],
  ])('is waited for no longer while %s, nor is it asked for the next', async (_, answers, step) => {
    const stopping = new AbortController()
    const test = await start({}, answers, stopping.signal)
    const brought = mountsOf(test)
    const [asked = ''] = Object.keys(answers)
    await expect.poll(() => test.driver.asked.map(({ name }) => name)).toContain(asked)
    stopping.abort(stopped)
    const because = (failed: string) => `MountVolume.${failed} failed for volume "pv-1" : the agent stops`
    expect(await brought).toEqual([
      { problem: because(step), isWaiting: true },
      { problem: because('MountDevice'), isWaiting: true },
    ])
    expect(test.driver.asked.filter(({ name }) => name === asked)).toHaveLength(1)
    expect(existsSync(join(test.root, 'pods/pod-2'))).toBe(false)
  })

  it('is asked once more to take all away from a node that is switched off', async () => {
    const stopping = new AbortController()
    let answer = noAnswer as () => object
    const test = await start({}, { unpublishVolume: () => answer() }, stopping.signal)
    await test.drivers.mount(testPod(), claimed, testVolume())
    const gone = test.drivers.unmount('pod-1')
    await expect.poll(() => test.driver.volumeCalls).toContain('unpublishVolume')
    stopping.abort(stopped)
    await expect(gone).rejects.toThrow('UnmountVolume.TearDown failed for volume "pv-1" : the agent stops')
    answer = () => ({})
    await test.drivers.stop({ unmounts: true })
    expect(readdirSync(test.staged)).toEqual([])
  })

  it('leaves a node that is switched off also where what is known of one of its volumes cannot be read', async () => {
    const { drivers, driver, pathOf } = await start()
    await drivers.mount(testPod(), claimed, testVolume())
    await drivers.mount(testPod({}, 'pod-2'), claimed, testVolume({ volumeHandle: 'other' }))
    writeFileSync(join(pathOf('pod-1'), '../vol_data.json'), '')
    await drivers.stop({ unmounts: true })
    expect(driver.lastRequest('unpublishVolume')).toMatchObject({ volumeId: 'other' })
  })
})

it('a registrar that hangs as the node agent stops is waited for no longer', async () => {
  const stopping = new AbortController()
  const root = temporaryDirectory()
  const driver = await FakeDriver.start(root, { getInfo: noAnswer })
  const node = startNode({ root, signal: stopping.signal })
  await expect.poll(() => driver.asked).toHaveLength(1)
  stopping.abort(new Error('the agent stops'))
  await node
})

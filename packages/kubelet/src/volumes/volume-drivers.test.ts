import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  events,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PodSpec,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type Volume,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { apiSources } from '../env/api-sources.ts'
import { createKubelet } from '../kubelet.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { FakeVolumeDrivers } from '../testing/fake-volume-drivers.ts'
import { testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { mountVolumes, removeOtherVolumes, unmountVolumes } from './mount-volumes.ts'
import { repeatPeriodMs, VolumeRepeater } from './volume-repeater.ts'

let client: FakeClient
let directory: string
let drivers: FakeVolumeDrivers

beforeEach(() => {
  client = createFakeClient(virtualEnvironment())
  directory = temporaryDirectory()
  drivers = new FakeVolumeDrivers(directory)
})

const uid = testPod().metadata.uid ?? ''
const own: Volume = { name: 'v', csi: { driver: 'd' } }
const claimed: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } }
const mount = (volume: Volume, more: { readonly isReal?: boolean; readonly spec?: Partial<PodSpec> } = {}) =>
  mountVolumes(testPod({ volumes: [volume], ...more.spec }), {
    client,
    objects: apiSources(client),
    allocatable: {},
    isReal: more.isReal ?? true,
    hasOwners: more.spec !== undefined,
    directory,
    drivers,
  })

async function createClaimOfDriver() {
  const key = { namespace: 'default', name: 'data' }
  const { metadata } = await client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...key, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: 'pv' },
  } as PersistentVolumeClaim)
  await client.create<PersistentVolume>(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { claimRef: { ...key, uid: metadata.uid ?? '' }, csi: { driver: 'd', volumeHandle: 'h' } },
  } as PersistentVolume)
}

describe('a volume of a driver', () => {
  it('is brought by it, whether the pod has it by a claim or as its own', async () => {
    await createClaimOfDriver()
    const path = join(directory, uid, 'volumes', 'v')
    expect((await mount(claimed)).get('v')).toMatchObject({ path })
    expect((await mount(own)).get('v')).toMatchObject({ path })
    expect(drivers.asked).toEqual(['mount v pv', 'mount v of its own'])
  })

  it.each([
    [true, 'is waited for'],
    [false, 'is told of'],
  ])('that is not there is not there for its pod: it %s, %s', async (isWaiting) => {
    await createClaimOfDriver()
    drivers.problem = { problem: 'MountVolume.SetUp failed', isWaiting }
    const error = { message: 'MountVolume.SetUp failed', reason: 'FailedMount', isWaiting }
    await expect(mount(claimed)).rejects.toMatchObject(error)
    await expect(mount(own)).rejects.toMatchObject(error)
  })

  it('is nobody’s where containers are not real, and the claim has to be bound all the same', async () => {
    await expect(mount(claimed, { isReal: false })).rejects.toThrow('persistentvolumeclaims "data" not found')
    await createClaimOfDriver()
    expect((await mount(claimed, { isReal: false })).size).toBe(0)
    expect((await mount(own, { isReal: false })).size).toBe(0)
    expect(drivers.asked).toEqual([])
  })

  it.skipIf(process.getuid?.() !== 0)(
    'is given to the group of the pod, unless it keeps its own',
    { meta: { needs: 'root on Linux' } },
    async () => {
      const spec = { securityContext: { fsGroup: 1234 } }
      drivers.keepsGroup = true
      const kept = (await mount(own, { spec })).get('v')
      expect(statSync(kept?.path ?? '').gid).toBe(0)
      drivers.keepsGroup = false
      const given = (await mount(own, { spec })).get('v')
      expect(statSync(given?.path ?? '').gid).toBe(1234)
    },
  )

  it('is not there for its pod where it cannot be given to its group, and the pod is told', async () => {
    drivers.mount = async () => ({ path: join(directory, 'nowhere'), readOnly: false })
    await expect(mount(own, { spec: { securityContext: { fsGroup: 1234 } } })).rejects.toMatchObject({
      name: 'VolumesNotReadyError',
      message: expect.stringMatching(
        /^MountVolume.SetUp failed for volume "v" : applyFSGroup failed for vol v: ENOENT/,
      ),
    })
  })

  it('is taken away before anything of the pod is removed, which stays where that cannot be done', async () => {
    await mount(own)
    const path = join(directory, uid, 'volumes', 'v')
    drivers.refusal = 'no driver'
    await expect(unmountVolumes(uid, { directory }, drivers)).rejects.toThrow('no driver')
    expect(await removeOtherVolumes(directory, () => false, drivers)).toMatchObject([{ message: 'no driver' }])
    expect(existsSync(path)).toBe(true)
    drivers.refusal = undefined
    expect(await removeOtherVolumes(directory, () => false, drivers)).toEqual([])
    expect(existsSync(join(directory, uid))).toBe(false)
  })
})

/** An agent on a node with something of a pod that is gone. */
function agentWithLeftovers() {
  const environment = virtualEnvironment()
  const path = join(directory, 'gone')
  mkdirSync(path)
  const runtime = createSimulatedRuntime({ environment })
  const options = { nodeName: 'node-a', runtime, volumesDirectory: directory, volumeDrivers: drivers }
  const kubelet = createKubelet({ client: createFakeClient(environment), environment, ...options })
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  return { environment, path, kubelet }
}

it('what pods have left that are gone is taken away when the driver can do it', async () => {
  const { environment, path, kubelet } = agentWithLeftovers()
  drivers.refusal = 'the driver is away'
  await kubelet.start()
  await expect.poll(() => drivers.asked).toEqual(['start', 'unmount'])
  expect(existsSync(path)).toBe(true)
  drivers.refusal = undefined
  await environment.clock.advance('10s')
  await expect.poll(() => existsSync(path)).toBe(false)
})

it('a driver that hangs over that holds up neither the start of the agent nor its end', async () => {
  const { path, kubelet } = agentWithLeftovers()
  drivers.hangs = true
  await kubelet.start()
  await expect.poll(() => drivers.asked).toEqual(['start', 'unmount'])
  expect(existsSync(path)).toBe(true)
  await kubelet.stop({ containers: 'keep' })
})

describe('a volume of a driver that wants to be asked again', () => {
  /** A pod with a volume of its own and a claimed one, of a node whose minutes pass. */
  function repeating() {
    const environment = virtualEnvironment()
    const volumes: Volume[] = [own, { ...claimed, name: 'c' }]
    const found = (name: string) => [name, { path: join(directory, name), readOnly: false, driver: 'd' }] as const
    const pods = [{ pod: testPod({ volumes }), volumes: new Map([found('v'), found('c')]) }]
    const told: string[] = []
    const onProblem = (_: unknown, problem: string) => void told.push(problem)
    const repeater = new VolumeRepeater({
      ...{ client, environment, drivers, hasOwners: false },
      pods: () => pods,
      onProblem,
    })
    onTestFinished(() => repeater.stop())
    repeater.wake()
    const minute = async (): Promise<readonly string[]> => {
      drivers.asked.length = 0
      await environment.clock.advance(repeatPeriodMs)
      return drivers.asked
    }
    return { environment, pods, told, minute }
  }

  it('is brought again each minute, as long as the driver wants it', async () => {
    await createClaimOfDriver()
    const { minute } = repeating()
    expect(await minute()).toEqual([])
    drivers.isRepeated = true
    expect(await minute()).toEqual(['repeat v of its own', 'repeat c pv'])
    expect(await minute()).toEqual(['repeat v of its own', 'repeat c pv'])
  })

  it('is not brought to a pod that is about to go', async () => {
    const { minute, pods } = repeating()
    drivers.isRepeated = true
    const [{ pod, volumes } = { pod: testPod(), volumes: new Map() }] = pods.splice(0)
    pods.push({ pod: { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, volumes })
    expect(await minute()).toEqual([])
  })

  it('says what is wrong, once until it is another thing', async () => {
    await createClaimOfDriver()
    const { minute, told } = repeating()
    drivers.isRepeated = true
    drivers.repeatProblem = 'vault is sealed'
    await minute()
    await minute()
    expect(told).toEqual(['vault is sealed', 'vault is sealed'])
    drivers.repeatProblem = undefined
    await minute()
    drivers.repeatProblem = 'vault is sealed'
    await minute()
    expect(told).toHaveLength(4)
  })

  it('is asked for no second time while the driver does not answer', async () => {
    await createClaimOfDriver()
    const { minute } = repeating()
    drivers.isRepeated = true
    drivers.hangs = true
    expect(await minute()).toHaveLength(2)
    expect(await minute()).toEqual([])
  })
})

it('a pod whose volume a driver has brought gets it again after a minute, and an event where that fails', async () => {
  const environment = virtualEnvironment()
  const api = createFakeClient(environment)
  const runtime = Object.assign(createSimulatedRuntime({ environment }), { runsProcesses: true })
  const options = { nodeName: 'node-a', runtime, volumesDirectory: directory, volumeDrivers: drivers }
  const kubelet = createKubelet({ client: api, environment, ...options })
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  drivers.isRepeated = true
  drivers.repeatProblem = 'MountVolume.SetUp failed for volume "v" : sealed'
  await api.create(pods, testPod({ nodeName: 'node-a', volumes: [own] }))
  await kubelet.start()
  await expect.poll(() => drivers.asked).toContain('mount v of its own')
  await expect
    .poll(async () => {
      await environment.clock.advance(repeatPeriodMs)
      return drivers.asked
    })
    .toContain('repeat v of its own')
  await expect
    .poll(async () => (await api.list(events)).items.map(({ reason, message }) => `${reason}: ${message}`))
    .toContain('FailedMount: MountVolume.SetUp failed for volume "v" : sealed')
})

it('a pod whose volume can never be attached to the node is not taken on', async () => {
  const environment = virtualEnvironment()
  const api = createFakeClient(environment)
  const runtime = Object.assign(createSimulatedRuntime({ environment }), { runsProcesses: true })
  const options = { nodeName: 'node-a', runtime, volumesDirectory: directory, volumeDrivers: drivers }
  const kubelet = createKubelet({ client: api, environment, ...options })
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  drivers.problem = { problem: 'no more', isWaiting: false, refusal: 'VolumeAttachmentLimitExceeded' }
  await api.create(pods, testPod({ nodeName: 'node-a', volumes: [own] }))
  await kubelet.start()
  const status = async () => (await api.get(pods, { namespace: 'default', name: 'web' })).status
  await expect.poll(status).toMatchObject({
    phase: 'Failed',
    reason: 'VolumeAttachmentLimitExceeded',
    message: 'Pod was rejected: no more',
  })
  const told = async () => (await api.list(events)).items.map(({ type, reason, message }) => [type, reason, message])
  await expect.poll(told).toContainEqual(['Warning', 'VolumeAttachmentLimitExceeded', 'no more'])
})

it('an empty volume is nowhere where volumes of drivers are', async () => {
  const mounted = await mount({ name: 'volumes', emptyDir: {} })
  expect(mounted.get('volumes')?.path).toBe(join(directory, uid, 'volumes_'))
})

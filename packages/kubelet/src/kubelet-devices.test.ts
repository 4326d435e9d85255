import { join } from 'node:path'
import { events, nodes, type Pod, type PodSpec, pods, type ResourceClaim, resourceClaims } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ClaimedDevices } from './devices/claimed-devices.ts'
import { createKubelet } from './kubelet.ts'
import { heartbeatMs } from './node/node-heartbeat.ts'
import { openCriRuntime } from './runtimes/cri/open-cri-runtime.ts'
import { FakeCri } from './testing/fake-cri.ts'
import { FakeDevicePlugin, gpu } from './testing/fake-device-plugin.ts'
import { testContainer, testPod } from './testing/pods.ts'

/** A runtime that makes one sandbox, and containers in it of which it says no more. */
function oneSandbox() {
  // biome-ignore lint/suspicious/noExplicitAny: what it was asked
  let made: any
  const status = () => ({ id: 's1', metadata: made.metadata, labels: made.labels, state: 0, createdAt: 1e15 })
  return {
    listImages: () => ({}),
    imageFsInfo: () => ({}),
    imageStatus: () => ({ image: { id: 'sha256:1', repoTags: ['nginx:1'] } }),
    runPodSandbox: ({ config }: { readonly config: object }) => {
      made = config
      return { podSandboxId: 's1' }
    },
    listPodSandbox: () => ({ items: made === undefined ? [] : [status()] }),
    podSandboxStatus: () => ({ status: { ...status(), network: { ip: '10.0.0.7' } } }),
    createContainer: () => ({ containerId: 'c1' }),
    startContainer: () => ({}),
    stopPodSandbox: () => ({}),
    removePodSandbox: () => {
      made = undefined
      return {}
    },
  }
}

async function startNode(claimedDevices?: ClaimedDevices) {
  const environment = realEnvironment()
  const fake = await FakeCri.start(oneSandbox())
  const directory = join(fake.directory, 'node')
  const options = { environment, endpoint: fake.endpoint, directory, podLogsDirectory: join(fake.directory, 'logs') }
  const runtime = await openCriRuntime(options)
  const client = createFakeClient(environment)
  const devicesDirectory = join(fake.directory, 'devices')
  const kubelet = createKubelet({
    ...{ client, environment, nodeName: 'node-a', runtime, devicesDirectory },
    ...(claimedDevices === undefined ? {} : { claimedDevices }),
    volumesDirectory: join(fake.directory, 'pods'),
    clusterDns: { servers: ['10.96.0.10'] },
  })
  onTestFinished(async () => {
    await kubelet.stop({ containers: 'terminate', graceMaxMs: 0 })
    await runtime.close()
  })
  await kubelet.start()
  const create = async (name: string, spec: Partial<PodSpec>): Promise<Pod> => {
    const { uid: _, ...metadata } = testPod().metadata
    return client.create(pods, testPod(spec, { metadata: { ...metadata, name } }))
  }
  return { client, devicesDirectory, fake, create }
}

const wanting = (count: number) => testContainer({ resources: { limits: { [gpu]: String(count) } } })

describe('a node agent with device plugins', () => {
  it('says which devices its node has', async () => {
    const { client, devicesDirectory } = await startNode()
    const plugin = await FakeDevicePlugin.start(devicesDirectory, ['a', 'b'])
    plugin.tell({ a: true, b: false })
    const told = async () => {
      const { capacity, allocatable } = (await client.get(nodes, { name: 'node-a' })).status ?? {}
      return [capacity?.[gpu], allocatable?.[gpu]]
    }
    await vi.waitFor(async () => expect(await told()).toEqual(['2', '1']), { timeout: 4 * heartbeatMs, interval: 100 })
  })

  it('gives a container its devices', async () => {
    const { devicesDirectory, fake, create } = await startNode()
    await FakeDevicePlugin.start(devicesDirectory, ['a', 'b'])
    await create('one', { containers: [{ ...wanting(1), env: [{ name: 'OWN', value: '1' }] }] })
    const config = async () => fake.asked.find(({ name }) => name === 'createContainer')?.request.config
    await expect.poll(config).toMatchObject({
      devices: [{ containerPath: '/dev/a', hostPath: '/dev/host-a', permissions: 'rw' }],
      cdiDevices: [{ name: 'example.com/gpu=a' }],
      annotations: { 'example.com/gpus': 'a' },
    })
    const { envs, mounts } = await config()
    expect(envs.slice(0, 2)).toEqual([
      { key: 'GPUS', value: 'a' },
      { key: 'OWN', value: '1' },
    ])
    expect(mounts[0]).toMatchObject({ containerPath: '/usr/lib/gpu', hostPath: '/opt/gpu', readonly: true })
  })

  it('leaves variables that a container has itself as they are', async () => {
    const { devicesDirectory, fake, create } = await startNode()
    await FakeDevicePlugin.start(devicesDirectory, ['a'])
    await create('one', { containers: [{ ...wanting(1), env: [{ name: 'GPUS', value: 'mine' }] }] })
    const envs = async () => fake.asked.find(({ name }) => name === 'createContainer')?.request.config.envs
    await expect.poll(envs).toContainEqual({ key: 'GPUS', value: 'mine' })
    expect((await envs()).filter(({ key }: { readonly key: string }) => key === 'GPUS')).toHaveLength(1)
  })

  it('does not take a pod on whose devices it does not have', async () => {
    const { client, devicesDirectory, create } = await startNode()
    await FakeDevicePlugin.start(devicesDirectory, ['a'])
    await create('two', { containers: [wanting(2)] })
    const status = async () => (await client.get(pods, { namespace: 'default', name: 'two' })).status
    await expect.poll(status).toMatchObject({
      phase: 'Failed',
      reason: 'UnexpectedAdmissionError',
      message: `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${gpu}. Requested: 2, Available: 1, which is unexpected`,
    })
  })
})

describe('a node agent with drivers of devices', () => {
  /** Drivers that prepare claims as soon as a test lets them, and say what was given back. */
  function drivers() {
    let isReady = false
    const given: string[] = []
    const claimedDevices: ClaimedDevices = {
      async prepare() {
        if (!isReady) throw new Error('ResourceClaim training: DRA driver gpu.example.com is not registered')
      },
      cdiNames: async () => ['example.com/gpu=0'],
      async unprepare(podUid) {
        given.push(podUid)
      },
      podUids: async () => [],
    }
    const register = () => {
      isReady = true
    }
    return { claimedDevices, given, register }
  }

  it('waits until the devices of a pod are prepared, gives them to its containers, and gives them back', async () => {
    const { claimedDevices, given, register } = drivers()
    const { client, fake, create } = await startNode(claimedDevices)
    const pod = await create('three', {
      resourceClaims: [{ name: 'mine', resourceClaimName: 'training' }],
      containers: [testContainer({ resources: { claims: [{ name: 'mine' }] } })],
    })
    const uid = pod.metadata.uid ?? ''
    await client.create<ResourceClaim>(resourceClaims, {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { namespace: 'default', name: 'training' },
      spec: {},
      status: { allocation: {}, reservedFor: [{ resource: 'pods', name: 'three', uid }] },
    })
    const told = async () => (await client.list(events, { namespace: 'default' })).items.map(({ message }) => message)
    const why = 'ResourceClaim training: DRA driver gpu.example.com is not registered'
    await expect.poll(told).toContain(`Failed to prepare dynamic resources: prepare dynamic resources: ${why}`)
    expect(fake.asked.some(({ name }) => name === 'runPodSandbox')).toBe(false)
    register()
    const config = () => fake.asked.find(({ name }) => name === 'createContainer')?.request.config
    await expect.poll(config).toMatchObject({ cdiDevices: [{ name: 'example.com/gpu=0' }] })
    await client.delete(pods, { namespace: 'default', name: 'three' }, { gracePeriodSeconds: 0 })
    await expect.poll(() => given).toContain(uid)
  })
})

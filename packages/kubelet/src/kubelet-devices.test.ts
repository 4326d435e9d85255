import { join } from 'node:path'
import { nodes, type Pod, type PodSpec, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
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
    removePodSandbox: () => ({}),
  }
}

async function startNode() {
  const environment = realEnvironment()
  const fake = await FakeCri.start(oneSandbox())
  const directory = join(fake.directory, 'node')
  const options = { environment, endpoint: fake.endpoint, directory, podLogsDirectory: join(fake.directory, 'logs') }
  const runtime = await openCriRuntime(options)
  const client = createFakeClient(environment)
  const devicesDirectory = join(fake.directory, 'devices')
  const kubelet = createKubelet({
    ...{ client, environment, nodeName: 'node-a', runtime, devicesDirectory },
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

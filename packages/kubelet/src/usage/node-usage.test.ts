import { simulatedUsageAnnotation } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { Runtime } from '../runtimes/runtime.ts'
import { createSimulatedRuntime, type SimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { createNodeUsage } from './node-usage.ts'

async function start(runtime: SimulatedRuntime, uid: string, ...names: readonly string[]): Promise<void> {
  const place = { podUid: uid, podName: uid, podNamespace: 'default', attempt: 0, hostname: uid, hostNetwork: true }
  const sandbox = await runtime.runPodSandbox(place)
  for (const name of names) {
    const config = { name, attempt: 0, image: '', command: [], args: [], env: [], mounts: [], messageFromLog: false }
    await runtime.startContainer(await runtime.createContainer(sandbox.id, config))
  }
}

describe('what is used on a simulated node', () => {
  const environment = virtualEnvironment()
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a', labels: { zone: 'a' } } }

  async function withPods() {
    const runtime = createSimulatedRuntime({ environment })
    await start(runtime, 'one', 'web', 'proxy')
    await start(runtime, 'two', 'web')
    const pod = (name: string, usage?: string) =>
      testPod(
        { containers: [testContainer()] },
        {
          metadata: {
            name,
            uid: name,
            labels: { app: name },
            ...(usage === undefined ? {} : { annotations: { [simulatedUsageAnnotation]: usage } }),
          },
        },
      )
    const pods = [pod('one', 'web:cpu=250m,memory=64Mi'), pod('two'), pod('three', 'cpu=9')]
    return { runtime, pods, usage: createNodeUsage(runtime, environment.clock) }
  }

  it('is what its pods say, for containers that run', async () => {
    const { pods, usage } = await withPods()
    const time = '2026-01-01T00:00:00Z'
    const common = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', timestamp: time, window: '15s' }
    expect(await usage.podMetrics(pods)).toEqual([
      {
        ...common,
        metadata: { name: 'one', namespace: 'default', creationTimestamp: time, labels: { app: 'one' } },
        containers: [
          { name: 'web', usage: { cpu: '250000000n', memory: '32768Ki' } },
          { name: 'proxy', usage: { cpu: '1000000n', memory: '32768Ki' } },
        ],
      },
      {
        ...common,
        metadata: { name: 'two', namespace: 'default', creationTimestamp: time, labels: { app: 'two' } },
        containers: [{ name: 'web', usage: { cpu: '1000000n', memory: '8192Ki' } }],
      },
    ])
  })

  it('leaves out a container that has ended', async () => {
    const { runtime, pods, usage } = await withPods()
    runtime.exitContainer('one', 'web', 1)
    expect((await usage.podMetrics(pods))[0]?.containers.map(({ name }) => name)).toEqual(['proxy'])
  })

  it('is the sum of its pods for the node', async () => {
    const { pods, usage } = await withPods()
    expect(await usage.nodeMetrics(node, pods)).toMatchObject({
      kind: 'NodeMetrics',
      metadata: { name: 'node-a', labels: { zone: 'a' } },
      window: '15s',
      usage: { cpu: '252000000n', memory: '73728Ki' },
    })
  })
})

describe('what is used on a node with processes', () => {
  it('is told of all pods but one of which the runtime can tell nothing', async () => {
    const environment = virtualEnvironment()
    const runtime = {
      runsProcesses: true,
      listContainers: async (uid: string) => {
        if (uid === 'odd') throw new Error('no answer')
        return [{ id: uid, name: 'web', state: 'running' }]
      },
      containerStats: async (ids: readonly string[]) =>
        new Map(ids.map((id) => [id, { cpuMs: environment.clock.now() / 2, memoryBytes: 1024 }])),
    } as unknown as Runtime
    const pods = ['one', 'odd'].map((name) =>
      testPod({ containers: [testContainer()] }, { metadata: { name, uid: name } }),
    )
    const told = createNodeUsage(runtime, environment.clock).podMetrics(pods)
    await environment.clock.advance('2s')
    expect((await told).map(({ metadata }) => metadata.name)).toEqual(['one'])
  })
})

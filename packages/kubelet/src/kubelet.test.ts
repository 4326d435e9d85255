import {
  type ConfigMap,
  configMaps,
  conflict,
  type Event,
  events,
  forbidden,
  leases,
  type Node,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type Secret,
  secrets,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKubelet, type Kubelet } from './kubelet.ts'
import type { LogOptions } from './log-options.ts'
import { createNodeAgents, type NodeAgentsOptions } from './node-agents.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from './testing/pods.ts'
import { temporaryDirectory } from './testing/temporary-directory.ts'

/** A node agent with simulated containers, on a clock and an API of the test's own. */
async function startedKubelet({ startLatencyMs = 0 }: { readonly startLatencyMs?: number } = {}) {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const runtime = createSimulatedRuntime({ environment, startLatencyMs })
  const open = async (): Promise<Kubelet> => {
    const kubelet = createKubelet({ client, environment, nodeName: 'node-a', runtime })
    const started = kubelet.start()
    await environment.clock.settle()
    await started
    onTestFinished(() => kubelet.stop({ containers: 'keep' }))
    return kubelet
  }
  return { environment, clock: environment.clock, client, runtime, open, kubelet: await open() }
}

async function create(client: FakeClient, pod: Pod): Promise<Pod> {
  const { uid: _, ...metadata } = pod.metadata
  return client.create(pods, { ...pod, metadata })
}

const podNow = (client: FakeClient) => client.get(pods, { namespace: 'default', name: 'web' })
const statusOf = async (client: FakeClient) => (await podNow(client)).status
const writes = (client: FakeClient, plural = 'pods') =>
  client.calls.filter((call) => call.plural === plural && call.verb === 'patch').length
const told = (client: FakeClient) =>
  client
    .stored<Event>(events)
    .map(({ reason, message, involvedObject }) => `${reason} ${involvedObject.fieldPath ?? ''} ${message}`)

describe('an ephemeral container that is added to a running pod', () => {
  const added = { name: 'debug', image: 'busybox', targetContainerName: 'web' }

  async function withDebugger() {
    const test = await startedKubelet()
    const { client, clock } = test
    await create(client, testPod())
    await clock.settle()
    const before = await podNow(client)
    await client.update(pods, { ...before, spec: { ...before.spec, ephemeralContainers: [added] } })
    await clock.settle()
    return { ...test, before }
  }

  it('runs, is told of, and changes nothing of how the pod is', async () => {
    const { client, before } = await withDebugger()
    const status = await statusOf(client)
    expect(status?.ephemeralContainerStatuses).toMatchObject([
      { name: 'debug', state: { running: {} }, ready: false, restartCount: 0, image: 'busybox' },
    ])
    expect(status?.ephemeralContainerStatuses?.[0]?.started).toBeUndefined()
    expect([status?.phase, status?.containerStatuses]).toEqual(['Running', before.status?.containerStatuses])
    expect(told(client)).toContain('Started spec.ephemeralContainers{debug} Container started')
  })

  it('has a log, and ends once', async () => {
    const { client, clock, runtime, kubelet } = await withDebugger()
    const pod = await podNow(client)
    const options: LogOptions = { container: 'debug', follow: false, previous: false, timestamps: false }
    expect(() => kubelet.logs(pod, options, new AbortController().signal)).not.toThrow()
    expect(runtime.exitContainer(pod.metadata.uid ?? '', 'debug', 3)).toBe(true)
    await clock.advance('10m')
    const status = await statusOf(client)
    expect(status?.ephemeralContainerStatuses).toMatchObject([{ state: { terminated: { exitCode: 3 } } }])
    expect(status?.phase).toBe('Running')
  })
})

describe('a pod that shows a ConfigMap in a volume', () => {
  it('does not start before the ConfigMap and its key are there, and says what it waits for', async () => {
    const { client, clock } = await startedKubelet()
    const items = [{ key: 'theme', path: 'theme' }]
    await create(client, testPod({ volumes: [{ name: 'settings', configMap: { name: 'shop', items } }] }))
    await clock.advance('1m')
    const waiting = { name: 'web', state: { waiting: { reason: 'ContainerCreating' } } }
    expect(await statusOf(client)).toMatchObject({ phase: 'Pending', containerStatuses: [waiting] })
    const metadata = { namespace: 'default', name: 'shop' }
    await client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await clock.advance('1m')
    const prefix = 'FailedMount  MountVolume.SetUp failed for volume "settings" : '
    expect(told(client)).toEqual([
      `${prefix}configmap "shop" not found`,
      `${prefix}configmap references non-existent config key: theme`,
    ])
    await client.patch(configMaps, metadata, { type: 'merge', body: { data: { theme: 'dark' } } })
    await clock.advance('1m')
    expect(await statusOf(client)).toMatchObject({ phase: 'Running' })
  })
})

it('a pod waits as long as was meant for what is missing, though the clock is set back meanwhile', async () => {
  const environment = virtualEnvironment()
  let setMs = 0
  const clock = new Proxy(environment.clock, {
    get(target, name) {
      if (name === 'now') return () => target.now() + setMs
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const client = createFakeClient(environment)
  const runtime = createSimulatedRuntime({ environment: { ...environment, clock } })
  const kubelet = createKubelet({ client, environment: { ...environment, clock }, nodeName: 'node-a', runtime })
  const started = kubelet.start()
  await environment.clock.settle()
  await started
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  await create(client, testPod({ volumes: [{ name: 'settings', configMap: { name: 'shop' } }] }))
  const containers = [testContainer({ envFrom: [{ configMapRef: { name: 'shop' } }] })]
  await create(client, testPod({ containers }, { metadata: { name: 'other' } }))
  await environment.clock.advance('1m')
  setMs = -3_600_000
  const metadata = { namespace: 'default', name: 'shop' }
  await client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  await environment.clock.advance('1m')
  expect(client.stored<Pod>(pods).map(({ status }) => status?.phase)).toEqual(['Running', 'Running'])
})

describe('a pod that uses a claim', () => {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'shop' } }]

  it('does not start before the claim is bound, and says what it waits for, once', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ volumes }))
    await clock.advance('1m')
    const waiting = { name: 'web', state: { waiting: { reason: 'ContainerCreating' } } }
    expect(await statusOf(client)).toMatchObject({ phase: 'Pending', containerStatuses: [waiting] })
    const prefix =
      'FailedMount  Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/shop: '
    expect(told(client)).toEqual([
      `${prefix}failed to fetch PVC from API server: persistentvolumeclaims "shop" not found`,
    ])
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'shop' } }
    const { metadata } = await client.create<PersistentVolumeClaim>(persistentVolumeClaims, claim)
    await clock.advance('1m')
    expect(told(client)[1]).toBe(`${prefix}PVC is not bound`)
    await client.create<PersistentVolume>(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'shelf' },
      spec: { claimRef: { namespace: 'default', name: 'shop', uid: metadata.uid }, hostPath: { path: '/srv' } },
    })
    const key = { namespace: 'default', name: 'shop' }
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' }
    const body = { metadata: { annotations }, spec: { volumeName: 'shelf' } }
    await client.patch(persistentVolumeClaims, key, { type: 'merge', body })
    await clock.advance('1m')
    expect(await statusOf(client)).toMatchObject({ phase: 'Running' })
  })

  it('is shown to have it before its containers run: the claim may be deleted then, and another agent take over', async () => {
    const { client, clock } = await startedKubelet({ startLatencyMs: 60_000 })
    const named = (name: string) => ({ namespace: 'default', name })
    const claim = await client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...named('shop'), annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { volumeName: 'shelf' },
    })
    await client.create<PersistentVolume>(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'shelf' },
      spec: { claimRef: { ...named('shop'), uid: claim.metadata.uid }, hostPath: { path: '/srv' } },
    })
    await create(client, testPod({ volumes }))
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({
      phase: 'Pending',
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'PodReadyToStartContainers', status: 'True' }),
      ]),
    })
    expect(writes(client)).toBe(1)
  })

  it('ends without it when it is deleted', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ volumes }))
    await clock.advance('1s')
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await clock.advance('1m')
    expect(client.stored(pods)).toEqual([])
  })
})

describe('a pod on its node', () => {
  it('runs and says so in one write', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod())
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({
      phase: 'Running',
      startTime: '2026-01-01T00:00:00Z',
      podIP: '10.128.0.1',
      hostIP: '127.0.0.1',
      containerStatuses: [{ name: 'web', ready: true, restartCount: 0, state: { running: {} } }],
    })
    expect(writes(client)).toBe(1)
    await clock.advance('10m')
    expect(writes(client)).toBe(1)
  })

  it('is not touched when it belongs to another node', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ nodeName: 'node-b' }))
    await clock.settle()
    expect(await statusOf(client)).toBeUndefined()
  })

  it('tells of its life in events', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod())
    await clock.advance('1s')
    expect(told(client)).toEqual([
      'Pulled spec.containers{web} Container image "nginx:1" already present on machine and can be accessed by the pod',
      'Created spec.containers{web} Container created',
      'Started spec.containers{web} Container started',
    ])
  })

  it('is restarted at once when it ends, then after a growing wait', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.advance('5s')
    runtime.exitContainer(uid, 'web', 1)
    await clock.settle()
    expect((await statusOf(client))?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    })

    runtime.exitContainer(uid, 'web', 1)
    await clock.settle()
    expect((await statusOf(client))?.containerStatuses?.[0]).toMatchObject({
      ready: false,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: `back-off 10s restarting failed container=web pod=web_default(${uid})`,
        },
      },
    })
    await clock.advance('9s')
    expect((await statusOf(client))?.containerStatuses?.[0]?.restartCount).toBe(1)
    await clock.advance('1s')
    expect((await statusOf(client))?.containerStatuses?.[0]).toMatchObject({ restartCount: 2, state: { running: {} } })
    expect(told(client)).toContain(
      `BackOff spec.containers{web} Back-off restarting failed container web in pod web_default(${uid})`,
    )
  })

  it('is restarted and shown as it is where the runtime does not remove what is left of its first runs', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    const { removeContainer } = runtime
    let tries = 0
    runtime.removeContainer = () => {
      tries += 1
      return Promise.reject(new Error('device or resource busy'))
    }
    for (let restart = 0; restart < 4; restart += 1) {
      runtime.exitContainer(uid, 'web', 1)
      await clock.advance('6m')
    }
    expect((await statusOf(client))?.containerStatuses).toMatchObject([{ restartCount: 4, state: { running: {} } }])
    const before = tries
    await clock.advance('1m')
    // The three of them, every ten seconds.
    expect(tries - before).toBe(18)
    runtime.removeContainer = removeContainer
    await clock.advance('20s')
    expect(await runtime.listContainers(uid)).toHaveLength(2)
  })

  it('gets a new sandbox after a moment where the one before has ended at once', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { runPodSandbox, stopPodSandbox } = runtime
    let made = 0
    runtime.runPodSandbox = async (config) => {
      made += 1
      const sandbox = await runPodSandbox.call(runtime, config)
      await stopPodSandbox.call(runtime, sandbox.id)
      return sandbox
    }
    await create(client, testPod())
    await clock.advance('10s')
    expect(made).toBeLessThan(15)
    runtime.runPodSandbox = runPodSandbox
    await clock.advance('10s')
    expect(await statusOf(client)).toMatchObject({ phase: 'Running' })
  })

  it('is tried again after a while where its runtime makes a container and does not start it', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { createContainer, startContainer } = runtime
    let made = 0
    runtime.createContainer = (...given) => {
      made += 1
      return createContainer.apply(runtime, given)
    }
    runtime.startContainer = () => Promise.reject(new Error('no answer within 120 s'))
    await create(client, testPod())
    await clock.advance('1m')
    expect(made).toBeLessThan(9)
    expect((await statusOf(client))?.containerStatuses?.[0]?.state?.waiting?.reason).toBe('RunContainerError')
    runtime.startContainer = startContainer
    await clock.advance('10s')
    expect(await statusOf(client)).toMatchObject({ phase: 'Running' })
  })

  it('shows that it is not ready for the moment of a restart', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.advance('5s')
    runtime.exitContainer(uid, 'web', 1)
    await clock.settle()
    const ready = (await statusOf(client))?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' })
  })

  it('says in one write that it has ended and that its sandbox has stopped', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod({ restartPolicy: 'Never' }))).metadata
    await clock.settle()
    const before = writes(client)
    runtime.exitContainer(uid, 'web', 0)
    await clock.settle()
    expect(writes(client) - before).toBe(1)
    const { phase, conditions = [] } = (await statusOf(client)) ?? {}
    expect(phase).toBe('Succeeded')
    expect(conditions.find(({ type }) => type === 'PodReadyToStartContainers')?.status).toBe('False')
  })

  it.each([
    ['Always', 'Running', [1, true]],
    ['Never', 'Succeeded', [0, false]],
  ] as const)(
    'that restarts %s is stopped with its sandbox, and %s afterwards',
    async (restartPolicy, phase, [restartCount, ready]) => {
      const { client, clock, runtime } = await startedKubelet()
      const { uid = '' } = (await create(client, testPod({ restartPolicy }))).metadata
      await clock.settle()
      const { listPodSandboxes, stopPodSandbox } = runtime
      const stopped: string[] = []
      // What holds its network was killed, and its containers run on.
      runtime.listPodSandboxes = async (...args) =>
        (await listPodSandboxes.apply(runtime, args)).map((each) => ({
          ...each,
          ready: each.ready && each.attempt > 0,
        }))
      runtime.stopPodSandbox = async (id) => {
        stopped.push(id)
        return stopPodSandbox.call(runtime, id)
      }
      const [run] = await runtime.listContainers(uid)
      await client.patch(
        pods,
        { namespace: 'default', name: 'web' },
        { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
      )
      await clock.advance('1m')
      const status = await statusOf(client)
      expect(status).toMatchObject({ phase, containerStatuses: [{ restartCount, ready }] })
      expect((await runtime.listContainers(uid)).find(({ id }) => id === run?.id)?.state).toBe('exited')
      expect(stopped).toHaveLength(restartCount)
    },
  )

  it('succeeds when its containers do', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (
      await create(client, testPod({ restartPolicy: 'OnFailure', initContainers: [testContainer({ name: 'init' })] }))
    ).metadata
    await clock.settle()
    expect((await statusOf(client))?.phase).toBe('Pending')
    runtime.exitContainer(uid, 'init', 0)
    await clock.settle()
    expect((await statusOf(client))?.phase).toBe('Running')
    runtime.exitContainer(uid, 'web', 0)
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }],
    })
  })

  it('of the simulated runtime ends when and how its environment says', async () => {
    const { client, clock } = await startedKubelet()
    const env = [
      { name: 'SIMULATED_RUN', value: '5s' },
      { name: 'SIMULATED_EXIT_CODE', value: '3' },
    ]
    await create(client, testPod({ restartPolicy: 'Never', containers: [testContainer({ env })] }))
    await clock.advance('4s')
    expect((await statusOf(client))?.phase).toBe('Running')
    await clock.advance('1s')
    expect(await statusOf(client)).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 3, reason: 'Error' } } }],
    })
  })

  it('of the simulated runtime tells of an environment that says it wrongly', async () => {
    const { client, clock } = await startedKubelet()
    const env = [{ name: 'SIMULATED_RUN', value: 'soon' }]
    await create(client, testPod({ containers: [testContainer({ env })] }))
    await clock.advance('1s')
    expect((await statusOf(client))?.containerStatuses?.[0]?.state?.waiting?.message).toContain(
      'SIMULATED_RUN: "soon" is no duration such as "5s" or "1m30s"',
    )
  })

  it('fails past its active deadline', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ activeDeadlineSeconds: 30 }))
    await clock.advance('29s')
    expect((await statusOf(client))?.phase).toBe('Running')
    await clock.advance('1s')
    expect(await statusOf(client)).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
  })

  it('has not failed before its containers have stopped, and is not ready from when they begin to', async () => {
    const { client, clock } = await startedKubelet()
    const lifecycle = { preStop: { sleep: { seconds: 10 } } }
    await create(client, testPod({ activeDeadlineSeconds: 30, containers: [testContainer({ lifecycle })] }))
    await clock.advance('35s')
    const stopping = await statusOf(client)
    expect(stopping).toMatchObject({ phase: 'Running', containerStatuses: [{ state: { running: {} } }] })
    expect(stopping?.reason).toBeUndefined()
    expect(stopping?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'PodFailed',
    })
    await clock.advance('10s')
    expect(await statusOf(client)).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
  })

  it('keeps what others have said of it in the meantime', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    client.holdWatches(pods)
    const pod = await podNow(client)
    const conditions = [...(pod.status?.conditions ?? []), { type: 'x/y', status: 'True' as const }]
    await client.update(pods, { ...pod, status: { ...pod.status, conditions } }, { subresource: 'status' })
    runtime.exitContainer(uid, 'web', 1)
    await clock.settle()
    const status = await statusOf(client)
    expect(status?.containerStatuses?.[0]?.restartCount).toBe(1)
    expect(status?.conditions?.map(({ type }) => type)).toContain('x/y')
  })

  it('is started again where what its volumes show cannot be read for a while', async () => {
    const environment = virtualEnvironment()
    const { clock } = environment
    const client = createFakeClient(environment)
    const runtime = createSimulatedRuntime({ environment })
    const volumesDirectory = temporaryDirectory()
    const kubelet = createKubelet({ client, environment, nodeName: 'node-a', runtime, volumesDirectory })
    await kubelet.start()
    onTestFinished(() => kubelet.stop({ containers: 'keep' }))
    const metadata = { namespace: 'default', name: 'shop' }
    await client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    const created = await create(client, testPod({ volumes: [{ name: 'settings', configMap: { name: 'shop' } }] }))
    await clock.advance('1s')
    expect((await statusOf(client))?.phase).toBe('Running')
    let tries = 0
    client.intercept(({ plural }) => {
      if (plural !== 'configmaps') return
      tries += 1
      throw forbidden({ group: '', plural: 'configmaps' }, 'shop', 'no relation to this node')
    })
    await clock.advance('2m')
    expect(tries).toBeGreaterThan(0)
    runtime.exitContainer(created.metadata.uid ?? '', 'web', 1)
    await clock.advance('30s')
    expect((await statusOf(client))?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, state: { running: {} } })
  })

  it('writes its status in the end when the API fails for a while', async () => {
    const { client, clock } = await startedKubelet()
    const works = client.intercept((call) => {
      if (call.verb === 'patch' && call.plural === 'pods') throw new Error('no connection')
    })
    await create(client, testPod())
    await clock.advance('1s')
    works()
    await clock.advance('1m')
    expect((await statusOf(client))?.phase).toBe('Running')
  })
})

it('forgets containers that start anew together with others only when the API knows that they have run', async () => {
  const { client, clock, runtime } = await startedKubelet()
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
  const cause = testContainer({ name: 'cause', restartPolicy: 'Never', restartPolicyRules } as never)
  const works = client.intercept((call) => {
    if (call.verb === 'patch' && call.plural === 'pods') throw new Error('no connection')
  })
  await create(client, testPod({ containers: [testContainer(), cause] }))
  await clock.settle()
  expect(runtime.exitContainer((await podNow(client)).metadata.uid ?? '', 'cause', 42)).toBe(true)
  await clock.advance('1s')
  works()
  await clock.advance('1m')
  const seen = (await statusOf(client))?.containerStatuses?.map(
    ({ name, restartCount, lastState, ready }) => `${name} ${restartCount} ${lastState?.terminated?.reason} ${ready}`,
  )
  expect(seen).toEqual(['cause 1 RestartingAllContainers true', 'web 1 RestartingAllContainers true'])
})

describe('a pod for which the node has no room', () => {
  const huge = testPod({ containers: [testContainer({ resources: { requests: { cpu: '1000' } } })] })

  it('fails without having run, and says why', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, huge)).metadata
    await clock.advance('1s')
    const { conditions, ...status } = (await statusOf(client)) ?? {}
    const message = "Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: 32000"
    expect(status).toEqual({
      observedGeneration: 1,
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: `Pod was rejected: ${message}`,
      startTime: '2026-01-01T00:00:00Z',
    })
    expect(conditions?.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`)).toEqual([
      'Ready=False PodFailed',
      'ContainersReady=False PodFailed',
    ])
    expect(told(client)).toEqual([`OutOfcpu  ${message}`])
    expect(await runtime.listPodSandboxes(uid)).toEqual([])
  })

  it('stays as it is when the node agent comes back, and takes up no room', async () => {
    const { client, clock, kubelet, open } = await startedKubelet()
    await create(client, huge)
    await clock.settle()
    const before = await statusOf(client)
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.advance('1m')
    expect(await statusOf(client)).toEqual(before)
    const all = testPod({ containers: [testContainer({ resources: { requests: { cpu: '32' } } })] })
    await client.create(pods, { ...all, metadata: { namespace: 'default', name: 'all' } })
    await clock.settle()
    expect((await client.get(pods, { namespace: 'default', name: 'all' })).status?.phase).toBe('Running')
  })

  it('finds room once another has ended', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const half = testPod({
      restartPolicy: 'Never',
      containers: [testContainer({ resources: { requests: { cpu: '20' } } })],
    })
    const { uid = '' } = (await create(client, half)).metadata
    await clock.settle()
    runtime.exitContainer(uid, 'web', 0)
    await clock.settle()
    await client.create(pods, { ...half, metadata: { namespace: 'default', name: 'next' } })
    await clock.settle()
    expect((await client.get(pods, { namespace: 'default', name: 'next' })).status?.phase).toBe('Running')
  })

  it('is counted on by the next node agent as long as it runs', async () => {
    const { client, clock, kubelet, open } = await startedKubelet()
    const most = testPod({ containers: [testContainer({ resources: { requests: { cpu: '20' } } })] })
    await create(client, most)
    await clock.settle()
    await kubelet.stop({ containers: 'keep' })
    await open()
    await client.create(pods, { ...most, metadata: { namespace: 'default', name: 'next' } })
    await clock.settle()
    expect((await client.get(pods, { namespace: 'default', name: 'next' })).status?.reason).toBe('OutOfcpu')
  })
})

describe('a critical pod for which the node has no room', () => {
  const critical = (cpu: string) =>
    testPod(
      { containers: [testContainer({ resources: { requests: { cpu } } })], priority: 2_000_000_000 },
      { metadata: { name: 'critical' } },
    )
  const named = async (client: FakeClient, name: string) =>
    (await client.get(pods, { namespace: 'default', name })).status

  it('has others end, and runs when they have', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { stopContainer } = runtime
    const stopped = Promise.withResolvers<void>()
    runtime.stopContainer = async (...given) => {
      await stopped.promise
      return stopContainer.apply(runtime, given)
    }
    const resources = { requests: { cpu: '20' } }
    await create(client, testPod({ containers: [testContainer({ resources })] }, { status: { qosClass: 'Burstable' } }))
    await clock.settle()
    await create(client, critical('20'))
    await clock.settle()
    expect([(await statusOf(client))?.phase, (await named(client, 'critical'))?.phase]).toEqual(['Running', undefined])
    expect((await statusOf(client))?.conditions?.map(({ type }) => type)).not.toContain('DisruptionTarget')
    stopped.resolve()
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({
      phase: 'Failed',
      reason: 'Preempting',
      message: 'Preempted in order to admit critical pod',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'TerminationByKubelet',
          message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
        }),
      ]),
    })
    expect(told(client)).toContain('Preempting  Preempted in order to admit critical pod')
    expect((await named(client, 'critical'))?.phase).toBe('Running')
  })

  it('is refused where others do not have so much', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, critical('33'))
    await clock.settle()
    expect(await named(client, 'critical')).toMatchObject({
      phase: 'Failed',
      reason: 'UnexpectedAdmissionError',
      message: expect.stringContaining('no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]'),
    })
  })
})

describe('environment variables', () => {
  it('come from ConfigMaps and Secrets as they are when the container starts', async () => {
    const { client, clock } = await startedKubelet()
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'keys', key: 'b' } } },
    ]
    await create(client, testPod({ containers: [testContainer({ env })] }))
    await clock.settle()
    const waiting = async () => (await statusOf(client))?.containerStatuses?.[0]?.state?.waiting
    expect(await waiting()).toEqual({ reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' })

    const configMap: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'settings' },
      data: { a: '1' },
    }
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'keys' },
      data: {},
    }
    await client.create(configMaps, configMap)
    await client.create(secrets, secret)
    await clock.advance('10s')
    expect(await waiting()).toEqual({
      reason: 'CreateContainerConfigError',
      message: "couldn't find key b in Secret default/keys",
    })
    await client.patch(
      secrets,
      { namespace: 'default', name: 'keys' },
      { type: 'merge', body: { data: { b: 'Mg==' } } },
    )
    await clock.advance('10s')
    expect((await statusOf(client))?.phase).toBe('Running')
  })
})

describe('a container whose image has a name that there cannot be', () => {
  it('waits, says so, and starts as soon as it has another', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ containers: [testContainer({ image: 'Web:1' })] }))
    await clock.settle()
    const message =
      `Failed to apply default image tag "Web:1": couldn't parse image name "Web:1": ` +
      'invalid reference format: repository name (library/Web) must be lowercase'
    expect((await statusOf(client))?.containerStatuses?.[0]?.state).toEqual({
      waiting: { reason: 'InvalidImageName', message },
    })
    expect(told(client)).toEqual([
      `InspectFailed spec.containers{web} ${message}`,
      'Failed spec.containers{web} Error: InvalidImageName',
    ])
    const pod = await podNow(client)
    await client.update(pods, { ...pod, spec: { ...pod.spec, containers: [testContainer({ image: 'web:1' })] } })
    await clock.settle()
    expect((await statusOf(client))?.phase).toBe('Running')
  })
})

it('tells of secrets for images that are not there, and starts the pod all the same', async () => {
  const { client, clock } = await startedKubelet()
  const metadata = { namespace: 'default', name: 'there' }
  await client.create<Secret>(secrets, { apiVersion: 'v1', kind: 'Secret', metadata })
  const imagePullSecrets = ['none', 'there', 'neither'].map((name) => ({ name }))
  await create(client, testPod({ imagePullSecrets: [...imagePullSecrets, {}] }))
  await clock.settle()
  expect((await statusOf(client))?.phase).toBe('Running')
  expect(told(client)[0]).toBe(
    'FailedToRetrieveImagePullSecret  Unable to retrieve some image pull secrets (none, neither); attempting to pull the image may not succeed.',
  )
})

describe('a container that must not run as root', () => {
  it.each([
    [{ runAsUser: 0 }, { runAsNonRoot: true }, 'refused'],
    [{ runAsUser: 0, runAsNonRoot: true }, {}, 'refused'],
    [{ runAsNonRoot: true }, { runAsUser: 0 }, 'refused'],
    [{ runAsUser: 0, runAsNonRoot: true }, { runAsUser: 1000 }, 'run'],
    [{ runAsUser: 0, runAsNonRoot: true }, { runAsNonRoot: false }, 'run'],
    [{ runAsNonRoot: true }, {}, 'run'],
    [{ runAsUser: 0 }, {}, 'run'],
  ])('of a pod with %j, itself with %j, is %s', async (shared, own, outcome) => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({ securityContext: shared, containers: [testContainer({ securityContext: own })] }))
    await clock.settle()
    const state = (await statusOf(client))?.containerStatuses?.[0]?.state
    const { uid } = (await client.get(pods, { namespace: 'default', name: 'web' })).metadata
    const message = `container's runAsUser breaks non-root policy (pod: "web_default(${uid})", container: web)`
    if (outcome === 'run') expect(state?.running).toBeDefined()
    else expect(state?.waiting).toEqual({ reason: 'CreateContainerConfigError', message })
  })
})

describe('a pod whose variables are larger than any process takes', () => {
  it('waits and says which one it is, and the node goes on with others, also after a restart', async () => {
    const { client, clock, kubelet, open } = await startedKubelet()
    const doubled = Array.from({ length: 26 }, (_, index) => ({
      name: `V${index + 1}`,
      value: `$(V${index})$(V${index})`,
    }))
    const env = [{ name: 'V0', value: 'x'.repeat(1024) }, ...doubled]
    await create(client, testPod({ containers: [testContainer({ env })] }))
    await client.create(pods, { ...testPod(), metadata: { namespace: 'default', name: 'other' } })
    await clock.advance('30s')
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.advance('30s')
    expect((await statusOf(client))?.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: 'CreateContainerConfigError',
      message: 'environment variable "V7" is longer than 131008 bytes, the most that a process takes in one piece',
    })
    expect((await client.get(pods, { namespace: 'default', name: 'other' })).status?.phase).toBe('Running')
  })
})

describe('deleting a pod', () => {
  /** The finalizer keeps the pod in the fake API for as long as the real one keeps it for its node. */
  const graceful = { metadata: { finalizers: ['test/grace'] } }

  it('stops its containers, says how they ended, and only then takes it out of the API', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod({}, graceful))).metadata
    await clock.settle()
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    })
    expect(client.calls.filter(({ verb, plural }) => verb === 'delete' && plural === 'pods')).toHaveLength(2)
    expect(told(client)).toContain('Killing spec.containers{web} Stopping container web')

    await client.patch(
      pods,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    await clock.settle()
    expect(await runtime.listPodSandboxes(uid)).toEqual([])
    expect(await runtime.listContainers(uid)).toEqual([])
  })

  it('does not wait for containers that have yet to start, and tells of no failure', async () => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    const runtime = createSimulatedRuntime({ environment, startLatencyMs: 60_000 })
    const kubelet = createKubelet({ client, environment, nodeName: 'node-a', runtime })
    await kubelet.start()
    onTestFinished(() => kubelet.stop({ containers: 'keep' }))
    await create(client, testPod())
    await environment.clock.advance('1s')
    expect((await statusOf(client))?.phase).toBe('Pending')
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await environment.clock.settle()
    expect(client.stored(pods)).toEqual([])
    await environment.clock.advance('2m')
    expect(told(client).filter((each) => each.startsWith('Failed'))).toEqual([])
  })

  it('looks for no volumes of a pod that is on its way out when the node agent starts', async () => {
    const { client, clock, kubelet, open } = await startedKubelet()
    await create(client, testPod({ volumes: [{ name: 'settings', configMap: { name: 'shop' } }] }, graceful))
    await clock.advance('1s')
    const lookUps = () => client.calls.filter(({ plural }) => plural === 'configmaps').length
    const before = lookUps()
    expect(before).toBeGreaterThan(0)
    await kubelet.stop({ containers: 'keep' })
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await open()
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({ phase: 'Failed' })
    expect(lookUps()).toBe(before)
  })

  it('writes the status of a pod it ends once', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({}, graceful))
    await clock.settle()
    const before = writes(client)
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await clock.settle()
    expect(writes(client) - before).toBe(1)
    const conditions = (await statusOf(client))?.conditions ?? []
    expect(conditions.filter(({ status }) => status === 'True').map(({ type }) => type)).toEqual([
      'Initialized',
      'PodScheduled',
    ])
  })

  it('leaves one that has ended to whoever has marked it to go at once, and deletes it where that one did not come to it', async () => {
    const { client, clock } = await startedKubelet()
    const marks = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 2 }
    const asked = () => client.calls.filter(({ verb, plural }) => plural === 'pods' && /patch|delete/.test(verb)).length
    await create(client, testPod({}, { metadata: marks, status: { phase: 'Succeeded' } }))
    await clock.advance('9s')
    expect(asked()).toBe(0)
    expect(client.stored(pods)).toHaveLength(1)
    await clock.advance('2s')
    expect(client.stored(pods)).toEqual([])
  })

  it('asks again, less and less often, where a webhook refuses that with a conflict', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({}, graceful))
    await clock.settle()
    await client.delete(pods, { namespace: 'default', name: 'web' })
    const asked = () => client.calls.filter(({ verb, plural }) => verb === 'delete' && plural === 'pods').length
    const allows = client.intercept(({ verb }) => {
      if (verb === 'delete')
        throw conflict({ group: '', plural: 'pods' }, 'web', 'admission webhook denied the request')
    })
    await clock.advance('1m')
    allows()
    const before = asked()
    // Once a second for a moment, and then every ten.
    expect(before).toBeGreaterThan(4)
    expect(before).toBeLessThan(16)
    await clock.advance('10s')
    expect(asked()).toBe(before + 1)
    await clock.advance('1m')
    expect(asked()).toBe(before + 1)
  })

  it('takes a pod for gone whose name another has', async () => {
    const { client, clock } = await startedKubelet()
    await create(client, testPod({}, graceful))
    await clock.settle()
    const { uid } = (await podNow(client)).metadata
    await client.delete(pods, { namespace: 'default', name: 'web' })
    let refusals = 0
    client.intercept(async ({ verb, plural }) => {
      if (verb !== 'delete' || plural !== 'pods') return
      refusals += 1
      if (refusals > 1) return
      client.holdWatches(pods)
      const body = { metadata: { finalizers: null } }
      await client.patch(pods, { namespace: 'default', name: 'web' }, { type: 'merge', body })
      await create(client, testPod({}, graceful))
    })
    await clock.advance('1m')
    expect(refusals).toBe(1)
    expect((await podNow(client)).metadata.uid).not.toBe(uid)
  })

  it('tells once what its runtime refuses, and tries again', async () => {
    const { client, clock, runtime } = await startedKubelet()
    await create(client, testPod({}, graceful))
    await clock.settle()
    const { stopPodSandbox, listPodSandboxes } = runtime
    runtime.stopPodSandbox = () => Promise.reject(new Error('failed to destroy network'))
    await client.delete(pods, { namespace: 'default', name: 'web' })
    await clock.advance('1m')
    runtime.stopPodSandbox = stopPodSandbox
    runtime.listPodSandboxes = () => Promise.reject(new Error('no list'))
    await clock.advance('1m')
    const warnings = [
      'FailedKillPod  error killing pod: failed to destroy network',
      'FailedSync  error determining status: no list',
    ]
    expect(told(client).filter((each) => each.includes('error'))).toEqual(warnings)
    expect((await statusOf(client))?.phase).toBe('Running')
    runtime.listPodSandboxes = listPodSandboxes
    await clock.advance('10s')
    expect((await statusOf(client))?.phase).toBe('Succeeded')
  })

  it('kills a pod that was deleted by force', async () => {
    const { client, clock, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    await client.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await clock.settle()
    expect(await runtime.listPodSandboxes(uid)).toEqual([])
  })
})

describe('stopping the node agent', () => {
  it('leaves containers running, and the next one carries on with them', async () => {
    const { client, clock, kubelet, open, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    const before = await runtime.listContainers(uid)
    await kubelet.stop({ containers: 'keep' })
    expect(await runtime.listContainers(uid)).toEqual(before)
    await clock.advance('1m')
    await open()
    expect(await runtime.listContainers(uid)).toEqual(before)
    expect(writes(client)).toBe(1)
  })

  it('makes no crashing container start sooner: the next one waits on', async () => {
    const { client, clock, kubelet, open, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    for (let exits = 0; exits < 2; exits++) {
      runtime.exitContainer(uid, 'web', 1)
      await clock.settle()
    }
    await clock.advance('4s')
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.settle()
    const container = async () => (await statusOf(client))?.containerStatuses?.[0]
    const message = `back-off 10s restarting failed container=web pod=web_default(${uid})`
    expect(await container()).toMatchObject({ restartCount: 1, state: { waiting: { message } } })
    await clock.advance('5s')
    expect(await container()).toMatchObject({ restartCount: 1 })
    await clock.advance('1s')
    expect(await container()).toMatchObject({ restartCount: 2, state: { running: {} } })
  })

  it('stops them as if the node went down, and the next one starts them again', async () => {
    const { client, clock, kubelet, open, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    await kubelet.stop({ containers: 'terminate' })
    expect((await runtime.listContainers(uid)).map(({ state }) => state)).toEqual(['exited'])
    await open()
    await clock.settle()
    expect(await statusOf(client)).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 1 }] })
    await clock.advance('1s')
    expect(told(client)).toContain('SandboxChanged  Pod sandbox changed, it will be killed and re-created.')
  })

  it('ends what runs for pods that were deleted in the meantime', async () => {
    const { client, clock, kubelet, open, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    await kubelet.stop({ containers: 'keep' })
    await client.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await open()
    expect(await runtime.listPodSandboxes(uid)).toEqual([])
  })

  it('is at work where what is left of a pod resists, and tries again to remove it', async () => {
    const { client, clock, kubelet, open, runtime } = await startedKubelet()
    const { uid = '' } = (await create(client, testPod())).metadata
    await clock.settle()
    await kubelet.stop({ containers: 'keep' })
    await client.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    const { removePodSandbox } = runtime
    runtime.removePodSandbox = () => Promise.reject(new Error('failed to destroy network for sandbox'))
    await open()
    await create(client, testPod({}, { metadata: { name: 'other' } }))
    await clock.settle()
    expect((await client.get(pods, { namespace: 'default', name: 'other' })).status?.phase).toBe('Running')
    runtime.removePodSandbox = removePodSandbox
    await clock.advance('1m')
    expect(await runtime.listPodSandboxes(uid)).toEqual([])
  })
})

describe('the node', () => {
  const nodeNow = (client: FakeClient): Promise<Node> => client.get(nodes, { name: 'node-a' })

  it('registers itself, ready for pods', async () => {
    const { client } = await startedKubelet()
    const node = await nodeNow(client)
    expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'node-a', 'kubernetes.io/os': 'linux' })
    expect(node.status).toMatchObject({
      capacity: { pods: '110' },
      nodeInfo: { kubeletVersion: 'v1.36.0', containerRuntimeVersion: 'simulated://0.1.0' },
      declaredFeatures: [
        'InPlacePodLevelResourcesVerticalScaling',
        'InPlacePodVerticalScalingInitContainers',
        'RestartAllContainersOnContainerExits',
      ],
    })
    expect(node.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'MemoryPressure=False KubeletHasSufficientMemory',
      'DiskPressure=False KubeletHasNoDiskPressure',
      'PIDPressure=False KubeletHasSufficientPID',
      'Ready=True KubeletReady',
    ])
  })

  it('renews its lease every 10 s, and its status only every 5 min', async () => {
    const { client, clock } = await startedKubelet()
    const renewed = async () =>
      (await client.get(leases, { namespace: 'kube-node-lease', name: 'node-a' })).spec?.renewTime
    expect(await renewed()).toBe('2026-01-01T00:00:00.000000Z')
    await clock.advance('10s')
    expect(await renewed()).toBe('2026-01-01T00:00:10.000000Z')
    const before = writes(client, 'nodes')
    await clock.advance('4m')
    expect(writes(client, 'nodes')).toBe(before)
    await clock.advance('1m')
    expect(writes(client, 'nodes')).toBe(before + 1)
  })

  it('says that it is ready again after others took it for lost', async () => {
    const { client, clock } = await startedKubelet()
    const node = await nodeNow(client)
    const conditions = node.status?.conditions?.map((condition) => ({ ...condition, status: 'Unknown' as const }))
    await client.update(
      nodes,
      { ...node, status: { ...node.status, conditions: conditions ?? [] } },
      { subresource: 'status' },
    )
    await clock.advance('10s')
    const ready = (await nodeNow(client)).status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' })
  })
})

describe('logs', () => {
  const options: LogOptions = { container: '', follow: false, previous: false, timestamps: false }

  it.each<[string, Partial<LogOptions>, string]>([
    ['a container that is not there', { container: 'x' }, 'container x is not valid for pod web'],
    ['an earlier run that never was', { previous: true }, 'previous terminated container "web" in pod "web" not found'],
  ])('are refused for %s', async (_, more, message) => {
    const { client, clock, kubelet } = await startedKubelet()
    await create(client, testPod())
    await clock.settle()
    const pod = await podNow(client)
    expect(() => kubelet.logs(pod, { ...options, ...more }, new AbortController().signal)).toThrow(message)
  })

  it('need a name where there are several containers', async () => {
    const { client, clock, kubelet } = await startedKubelet()
    await create(
      client,
      testPod({
        containers: [testContainer(), testContainer({ name: 'two' })],
        initContainers: [testContainer({ name: 'init' })],
      }),
    )
    await clock.settle()
    const pod = await podNow(client)
    const message =
      'a container name must be specified for pod web, choose one of: [web two] or one of the init containers: [init]'
    expect(() => kubelet.logs(pod, options, new AbortController().signal)).toThrow(message)
    const waiting = 'container "web" in pod "web" is waiting to start: PodInitializing'
    expect(() => kubelet.logs(pod, { ...options, container: 'web' }, new AbortController().signal)).toThrow(waiting)
  })
})

describe('a group of nodes', () => {
  async function startedAgents(options: Partial<NodeAgentsOptions> = {}) {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    const agents = createNodeAgents({ client, environment, count: 100, runtime: 'simulated', ...options })
    const started = agents.start()
    await environment.clock.settle()
    await started
    onTestFinished(() => agents.stop())
    return { client, clock: environment.clock }
  }

  it('registers them all, runs pods on any of them, and watches pods once', async () => {
    const { client, clock } = await startedAgents()
    expect(client.stored(nodes)).toHaveLength(100)
    expect(client.stored(leases)).toHaveLength(100)
    await create(client, testPod({ nodeName: 'node-42' }))
    await clock.settle()
    expect((await statusOf(client))?.phase).toBe('Running')
    expect(client.calls.filter(({ verb, plural }) => verb === 'watch' && plural === 'pods')).toHaveLength(1)
  })

  it('renews each lease once in 10 s, spread over that time', async () => {
    const { client, clock } = await startedAgents()
    const before = writes(client, 'leases')
    await clock.advance('1s')
    const inOneSecond = writes(client, 'leases') - before
    await clock.advance('9s')
    expect(inOneSecond).toBe(10)
    expect(writes(client, 'leases') - before).toBe(100)
  })

  it('records what goes wrong with a pod, as its node, and not what goes as it should', async () => {
    const { client, clock } = await startedAgents()
    await create(client, testPod({ nodeName: 'node-42' }))
    await clock.advance('1m')
    expect(client.stored(events)).toEqual([])
    const volumes = [{ name: 'keys', secret: { secretName: 'shop' } }]
    await client.create(pods, {
      ...testPod({ nodeName: 'node-7', volumes }),
      metadata: { namespace: 'default', name: 'late' },
    })
    await clock.advance('1m')
    expect(client.stored<Event>(events)).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedMount',
        message: 'MountVolume.SetUp failed for volume "keys" : secret "shop" not found',
        involvedObject: { name: 'late' },
        source: { component: 'kubelet', host: 'node-7' },
      },
    ])
  })

  it('records everything where it is asked to', async () => {
    const { client, clock } = await startedAgents({ events: true })
    await create(client, testPod({ nodeName: 'node-42' }))
    await clock.settle()
    expect(told(client)).toContain('Started spec.containers{web} Container started')
  })
})

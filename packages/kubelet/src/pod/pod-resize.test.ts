import { type Event, events, type Pod, pods } from '@coracle/api'
import { countWork } from '@coracle/api/testing'
import { createFakeClient } from '@coracle/client/testing'
import { sleep, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKubelet } from '../kubelet.ts'
import { simulatedFacts } from '../node/node-facts.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { withResourcesOf, withResourcesOfStatus } from './given-resources.ts'
import { isResized, resizedInPlace, restartedForResize } from './pod-resize.ts'

/** A node of four processors, with simulated containers, which take some time to stop. */
async function startedNode({ stopMs = 0 } = {}) {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const runtime = createSimulatedRuntime({ environment })
  const { stopContainer } = runtime
  runtime.stopContainer = async (...given) => {
    if (stopMs > 0) await sleep(clock, stopMs)
    return stopContainer.apply(runtime, given)
  }
  const simulated = simulatedFacts('node-a')
  const facts = { ...simulated, capacity: { ...simulated.capacity, cpu: '4', memory: '8Gi' } }
  const open = async () => {
    const kubelet = createKubelet({ client, environment, nodeName: 'node-a', runtime, facts })
    const started = kubelet.start()
    await clock.settle()
    await started
    onTestFinished(() => kubelet.stop({ containers: 'keep' }))
    return kubelet
  }
  const kubelet = await open()
  const run = async (name: string, cpu: string, more: object = {}) => {
    const { uid: _, ...metadata } = testPod().metadata
    const container = { ...testContainer(), resources: { requests: { cpu } }, ...more }
    await client.create(pods, {
      ...testPod(),
      metadata: { ...metadata, name },
      spec: { ...testPod().spec, containers: [container] },
    } as Pod)
    await clock.settle()
  }
  const read = (name: string) => client.get(pods, { namespace: 'default', name })
  const resize = async (name: string, cpu: string) => {
    const pod = await read(name)
    const containers = pod.spec.containers.map((each) => ({ ...each, resources: { requests: { cpu } } }))
    await client.update(pods, { ...pod, spec: { ...pod.spec, containers } } as Pod)
    await clock.settle()
  }
  const shown = async (name: string) => {
    const { status } = await read(name)
    const [container] = status?.containerStatuses ?? []
    const conditions = status?.conditions?.filter(({ type }) => type.startsWith('PodResize')) ?? []
    return {
      cpu: container?.allocatedResources?.cpu,
      restarts: container?.restartCount,
      conditions: conditions.map(({ type, reason }) => [type, reason].filter(Boolean).join(' ')),
    }
  }
  const told = () =>
    client
      .stored<Event>(events)
      .map(({ reason }) => reason)
      .filter((reason) => reason?.startsWith('Resize'))
  const messages = () =>
    client.stored<Event>(events).flatMap(({ reason, message = '' }) => (reason?.startsWith('Resize') ? [message] : []))
  return { client, clock, kubelet, open, run, read, resize, runtime, shown, told, messages }
}

const anew = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] as const

describe('a pod whose resources are changed', () => {
  it('gets what the node can spare, and runs on', async () => {
    const { run, resize, shown, told } = await startedNode()
    await run('web', '1')
    await resize('web', '2')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 0, conditions: [] })
    expect(told()).toEqual(['ResizeStarted', 'ResizeCompleted'])
  })

  it('keeps what it has where there is not so much, and says why', async () => {
    const { run, resize, shown, read, told, messages } = await startedNode()
    await run('web', '1')
    await resize('web', '5')
    expect(await shown('web')).toEqual({ cpu: '1', restarts: 0, conditions: ['PodResizePending Deferred'] })
    const condition = (await read('web')).status?.conditions?.find(({ type }) => type === 'PodResizePending')
    expect(condition).toMatchObject({
      status: 'True',
      observedGeneration: 2,
      message: "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000",
    })
    expect(told()).toEqual(['ResizeDeferred'])
    expect(messages()[0]).toMatch(/^Pod resize OutOfcpu: {.*"error":"Node didn't have enough resource: cpu/)
    await resize('web', '3')
    expect(await shown('web')).toEqual({ cpu: '3', restarts: 0, conditions: [] })
  })

  it('waits for what others have, and gets it when they are gone', async () => {
    const { run, resize, shown, client, clock, told } = await startedNode()
    await run('web', '1')
    await run('other', '2')
    await resize('web', '3')
    expect(await shown('web')).toEqual({ cpu: '1', restarts: 0, conditions: ['PodResizePending Deferred'] })
    await client.delete(pods, { namespace: 'default', name: 'other' }, { gracePeriodSeconds: 0 })
    await clock.settle()
    expect(await shown('web')).toEqual({ cpu: '3', restarts: 0, conditions: [] })
    expect(told()).toEqual(['ResizeDeferred', 'ResizeStarted', 'ResizeCompleted'])
  })

  it('gets what is free before others that wait: the more important one, then the one that waits longer', async () => {
    const { run, resize, shown, client, clock } = await startedNode()
    for (const name of ['first', 'second', 'important']) await run(name, '500m')
    await run('other', '2500m')
    const { metadata, ...important } = await client.get(pods, { namespace: 'default', name: 'important' })
    await client.update(pods, { ...important, metadata, spec: { ...important.spec, priority: 7 } } as Pod)
    for (const name of ['first', 'second', 'important']) await resize(name, '1500m')
    await client.delete(pods, { namespace: 'default', name: 'other' }, { gracePeriodSeconds: 0 })
    await clock.settle()
    const given = await Promise.all(['first', 'second', 'important'].map(async (name) => (await shown(name)).cpu))
    expect(given).toEqual(['1500m', '500m', '1500m'])
  })

  it('is not held back by what it no longer asks for', async () => {
    const { run, resize, shown } = await startedNode()
    await run('web', '1')
    await run('other', '3')
    await resize('web', '2')
    await resize('web', '1')
    expect(await shown('web')).toEqual({ cpu: '1', restarts: 0, conditions: [] })
  })

  it('gets what others give back', async () => {
    const { run, resize, shown } = await startedNode()
    await run('web', '1')
    await run('other', '2')
    await resize('web', '3')
    await resize('other', '1')
    expect((await shown('web')).cpu).toBe('3')
  })

  it('starts its containers anew where their policy says so', async () => {
    const { run, resize, shown, clock, told } = await startedNode()
    await run('web', '1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })
    await resize('web', '2')
    await clock.advance('1m')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 1, conditions: [] })
    expect(told()).toEqual(['ResizeStarted', 'ResizeCompleted'])
  })

  it('says that the change is in progress until they have started anew', async () => {
    const { clock, run, read, resize, shown, told } = await startedNode({ stopMs: 10_000 })
    await run('web', '1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })
    await resize('web', '2')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 0, conditions: ['PodResizeInProgress'] })
    const condition = (await read('web')).status?.conditions?.find(({ type }) => type === 'PodResizeInProgress')
    expect(condition).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(told()).toEqual(['ResizeStarted'])
    await clock.advance('1m')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 1, conditions: [] })
    expect(told()).toEqual(['ResizeStarted', 'ResizeCompleted'])
  })

  it('is still in progress for the next node agent where they have not started anew', async () => {
    const { clock, kubelet, open, run, read, resize, shown } = await startedNode({ stopMs: 3_600_000 })
    await run('web', '1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })
    await resize('web', '2')
    const has = async () => (await read('web')).status?.containerStatuses?.[0]?.resources?.requests?.cpu
    expect(await has()).toBe('1')
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.settle()
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 0, conditions: ['PodResizeInProgress'] })
    await clock.advance('2h')
    expect(await has()).toBe('2')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 1, conditions: [] })
  })

  it('is done where the container that was to start anew does not run', async () => {
    const { client, clock, runtime, read, shown } = await startedNode()
    const { uid: _, ...metadata } = testPod().metadata
    const resources = { requests: { cpu: '1' } }
    const done = { ...testContainer({ name: 'done' }), resources, resizePolicy: anew }
    const containers = [testContainer(), done]
    await client.create(pods, { ...testPod({ restartPolicy: 'OnFailure', containers }), metadata } as Pod)
    await clock.settle()
    const pod = await read('web')
    runtime.exitContainer(pod.metadata.uid ?? '', 'done', 0)
    await clock.settle()
    const resized = { ...done, resources: { requests: { cpu: '2' } } }
    await client.update(pods, {
      ...pod,
      metadata: (await read('web')).metadata,
      spec: { ...pod.spec, containers: [testContainer(), resized] },
    } as Pod)
    await clock.advance('1m')
    expect((await shown('web')).conditions).toEqual([])
  })

  it('starts with what it has been given where the change comes as it starts', async () => {
    const { client, kubelet, run, resize, runtime, shown } = await startedNode()
    const given: string[] = []
    const { createContainer, listPodSandboxes } = runtime
    runtime.createContainer = (id, config) => {
      given.push(...config.env.flatMap(({ name, value }) => (name === 'CPU' ? [value] : [])))
      return createContainer.call(runtime, id, config)
    }
    runtime.listPodSandboxes = async (...asked) => {
      const found = await listPodSandboxes.apply(runtime, asked)
      const [pod] = client.stored<Pod>(pods)
      if (found.length > 0 && pod?.metadata.generation === 1) {
        const containers = pod.spec.containers.map((each) => ({ ...each, resources: { requests: { cpu: '5' } } }))
        await client.update(pods, { ...pod, spec: { ...pod.spec, containers } } as Pod)
        while (kubelet.pods()[0]?.metadata.generation !== 2) await undefined
      }
      return found
    }
    await run('web', '1', { env: [{ name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu' } } }] })
    expect(given).toEqual(['1'])
    expect(await shown('web')).toMatchObject({ cpu: '1', conditions: ['PodResizePending Deferred'] })
    await resize('web', '2')
    expect((await shown('web')).cpu).toBe('2')
  })

  it.each([
    ['without a limit of its own', {}, 1],
    ['with one', { limits: { cpu: '1' } }, 0],
  ])('starts a container %s anew for the limit of its pod where its policy says so', async (_what, own, restarts) => {
    const { client, clock, read, shown } = await startedNode()
    const { uid: _, ...metadata } = testPod().metadata
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
    const container = { ...testContainer(), resources: own, resizePolicy }
    const resources = { limits: { cpu: '2' } }
    await client.create(pods, { ...testPod({ containers: [container], resources } as never), metadata } as Pod)
    await clock.settle()
    const pod = await read('web')
    await client.update(pods, { ...pod, spec: { ...pod.spec, resources: { limits: { cpu: '3' } } } } as Pod)
    await clock.advance('1m')
    expect((await shown('web')).restarts).toBe(restarts)
  })

  it('does not start them anew for other resources', async () => {
    const { run, resize, shown, clock } = await startedNode()
    await run('web', '1', { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] })
    await resize('web', '2')
    await clock.advance('1m')
    expect(await shown('web')).toEqual({ cpu: '2', restarts: 0, conditions: [] })
  })

  it('has what it had when the node agent comes back', async () => {
    const { run, resize, shown, kubelet, open, clock } = await startedNode()
    await run('web', '1')
    await run('other', '2')
    await resize('web', '3')
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.settle()
    expect(await shown('web')).toEqual({ cpu: '1', restarts: 0, conditions: ['PodResizePending Deferred'] })
  })

  it('gets what is asked for as a whole, and shows what it has', async () => {
    const { client, clock, open, kubelet, read, shown, told } = await startedNode()
    const { uid: _, ...metadata } = testPod().metadata
    const container = { ...testContainer(), resources: { requests: { cpu: '1' } } }
    const resources = { requests: { cpu: '2' }, limits: { cpu: '3' } }
    await client.create(pods, { ...testPod({ containers: [container], resources }), metadata } as Pod)
    await clock.settle()
    const ask = async (cpu: string) => {
      const pod = await read('web')
      const asked = { requests: { cpu }, limits: { cpu: '9' } }
      await client.update(pods, { ...pod, spec: { ...pod.spec, resources: asked } } as Pod)
      await clock.settle()
    }
    const given = async () => {
      const { status } = await read('web')
      return [status?.resources?.requests?.cpu, status?.allocatedResources?.cpu]
    }
    expect(await given()).toEqual(['2', '2'])
    await ask('4')
    expect(await given()).toEqual(['4', '4'])
    expect(told()).toEqual(['ResizeStarted', 'ResizeCompleted'])
    await ask('5')
    expect(await given()).toEqual(['4', '4'])
    expect((await shown('web')).conditions).toEqual(['PodResizePending Deferred'])
    await kubelet.stop({ containers: 'keep' })
    await open()
    await clock.settle()
    expect(await given()).toEqual(['4', '4'])
  })

  it('has all of its containers told of in events', async () => {
    const { client, run, resize } = await startedNode()
    await run('web', '1')
    await resize('web', '2')
    const [started] = client.stored<Event>(events).filter(({ reason }) => reason === 'ResizeStarted')
    expect(started?.message).toMatch(
      /^Pod resize started: {"containers":\[{"name":"web","resources":{"requests":{"cpu":"2"}}}\],"generation":\d+}$/,
    )
  })
})

it('takes a pod for what its status says it has been given as a whole, as far as its spec names that', () => {
  const resources = { requests: { cpu: '2' } }
  const given = (cpu: string) =>
    testPod({ resources }, { status: { resources: { requests: { cpu, memory: '1Gi' }, limits: { cpu: '4' } } } })
  const same = given('2')
  expect(withResourcesOfStatus(same)).toBe(same)
  expect(withResourcesOfStatus(given('1')).spec.resources).toEqual({ requests: { cpu: '1' } })
})

it('takes a container for what it runs with, not for what it is to have', () => {
  const cpu = (amount: string) => ({ requests: { cpu: amount } })
  const container = { name: 'web', image: '', imageID: '', ready: true, restartCount: 0 }
  const status = { containerStatuses: [{ ...container, resources: cpu('1'), allocatedResources: { cpu: '2' } }] }
  const pod = testPod({ containers: [testContainer({ resources: cpu('2') })] }, { status })
  expect(withResourcesOfStatus(pod).spec.containers[0]?.resources).toEqual(cpu('1'))
})

/** A pod of so many containers, which asks for so much for each. */
function large(count: number, cpu: string): Pod {
  const { spec, status, ...pod } = testPod()
  const resources = { requests: { cpu } }
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  const containers = names.map((name) => ({ ...testContainer(), name, resources }))
  return {
    ...pod,
    spec: { ...spec, containers },
    status: {
      ...status,
      containerStatuses: names.map((name) => ({
        name,
        image: 'none',
        imageID: '',
        ready: true,
        restartCount: 0,
        resources,
      })),
    },
  } as Pod
}

it.each<[string, (pod: Pod, before: Pod) => unknown]>([
  ['given what it had', (pod, { spec }) => withResourcesOf(pod, spec)],
  ['given what its status says', (pod) => withResourcesOfStatus(pod)],
  ['compared', ({ spec }, before) => isResized(spec, before.spec)],
  ['looked through for containers to start anew', ({ spec }, before) => restartedForResize(spec, before.spec)],
])('a pod is %s with work that grows with its containers, not with their square', (_, run) => {
  const work = (count: number) =>
    countWork([large(count, '1'), large(count, '2')] as const, ([pod, before]) => run(pod, before))
  work(1)
  expect(work(1_000) / work(100)).toBeLessThan(20)
})

describe('containers that go on with other resources', () => {
  const cpu = (name: string, amount: string, restartPolicy = 'NotRequired') => ({
    ...testContainer(),
    name,
    resources: { requests: { cpu: amount } },
    resizePolicy: [{ resourceName: 'cpu', restartPolicy }],
  })
  const spec = (amount: string, resources?: object) =>
    testPod({
      initContainers: [{ ...cpu('side', amount), restartPolicy: 'Always' }],
      containers: [cpu('web', amount), cpu('anew', amount, 'RestartContainer'), cpu('same', '1')],
      ...(resources === undefined ? {} : { resources }),
    } as Partial<Pod['spec']>).spec

  it('are those that have changed and do not start anew', () => {
    expect(resizedInPlace(spec('2'), spec('1'))).toEqual(['web', 'side'])
  })

  it('are all others, too, where their pod as a whole has other limits', () => {
    const before = spec('1', { limits: { memory: '1Gi' } })
    expect(resizedInPlace(spec('1', { limits: { memory: '2Gi' } }), before)).toEqual(['web', 'anew', 'same', 'side'])
  })
})

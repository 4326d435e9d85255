import { type Pod, pods } from '@coracle/api'
import type { Client } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { createKubelet } from './kubelet.ts'
import type { Runtime } from './runtimes/runtime.ts'
import { createSimulatedRuntime, type SimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from './testing/pods.ts'

/** Calls that change something: the node agent may die before or after each. */
const changing = [
  'runPodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'stopPodSandbox',
  'removeContainer',
  'removePodSandbox',
] as const

interface Crash {
  /** Counts changing calls from 1. */
  readonly call: number
  readonly done: boolean
}

const never = new Promise<never>(() => {})

/** One life of a node agent, which ends at a crash: from then on nothing it asks for happens, or is answered. */
class Life {
  crashed = false
  calls = 0
  readonly #crash: Crash | undefined

  constructor(crash: Crash | undefined) {
    this.#crash = crash
  }

  client(client: Client): Client {
    return this.#intercept(client, (_, call) => (this.crashed ? never : call()))
  }

  runtime(runtime: Runtime): Runtime {
    return this.#intercept(runtime, (name, call) => {
      if (this.crashed) return never
      if (!changing.some((candidate) => candidate === name)) return call()
      this.calls += 1
      if (this.calls !== this.#crash?.call) return call()
      this.crashed = true
      if (this.#crash.done) call()
      return never
    })
  }

  #intercept<T extends object>(target: T, around: (name: string, call: () => unknown) => unknown): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function' || name === 'subscribe')
          return typeof value === 'function' ? value.bind(target) : value
        return (...args: unknown[]) => around(String(name), () => Reflect.apply(value, target, args))
      },
    })
  }
}

/** Refuses what must never be: two runs of one container at once. */
function watchful(runtime: SimulatedRuntime): Runtime {
  return new Proxy(runtime, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'startContainer') return value.bind(target)
      return async (id: string) => {
        const runs = await target.listContainers()
        const starting = runs.find((run) => run.id === id)
        const twins = runs.filter((run) => run.name === starting?.name && run.state === 'running')
        expect(twins.map((run) => run.id)).toEqual([])
        await target.startContainer(id)
      }
    },
  })
}

const sidecar = testContainer({ name: 'log', restartPolicy: 'Always' })

/**
 * The life of a pod - it is started, a container of it crashes, it is deleted - with a node agent that dies once, and
 * another that takes over a minute later. Gives the number of changing calls that there were.
 */
async function live(crash: Crash | undefined): Promise<number> {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const runtime = createSimulatedRuntime({ environment })
  const key = { namespace: 'default', name: 'web' }
  let life = new Life(crash)
  const open = async () => {
    const kubelet = createKubelet({
      client: life.client(client),
      environment,
      nodeName: 'node-a',
      runtime: life.runtime(watchful(runtime)),
    })
    const started = kubelet.start()
    await clock.advance('1s')
    if (!life.crashed) await started
    return kubelet
  }
  let kubelet = await open()
  const settle = async () => {
    await clock.advance('1m')
    if (!life.crashed) return
    life = new Life(undefined)
    kubelet = await open()
    await clock.advance('1m')
  }
  const { uid: _, ...metadata } = testPod().metadata
  const spec = testPod({ initContainers: [sidecar], terminationGracePeriodSeconds: 2 }).spec
  const { uid = '' } = (
    await client.create(pods, { ...testPod(), metadata: { ...metadata, finalizers: ['test/grace'] }, spec })
  ).metadata
  await settle()
  const pod = (): Promise<Pod> => client.get(pods, key)
  expect(await pod()).toMatchObject({
    status: { phase: 'Running', containerStatuses: [{ ready: true }], initContainerStatuses: [{ ready: true }] },
  })
  const before = (await pod()).status?.containerStatuses?.[0]?.restartCount ?? 0
  runtime.exitContainer(uid, 'web', 1)
  await settle()
  const after = (await pod()).status?.containerStatuses?.[0]
  expect(after).toMatchObject({ ready: true, state: { running: {} } })
  expect(after?.restartCount).toBeGreaterThan(before)

  await client.delete(pods, key)
  await settle()
  expect((await runtime.listContainers()).filter(({ state }) => state === 'running')).toEqual([])
  expect((await pod()).status?.phase).toMatch(/Succeeded|Failed/)
  await client.patch(pods, key, { type: 'merge', body: { metadata: { finalizers: null } } })
  await settle()
  expect([await runtime.listPodSandboxes(), await runtime.listContainers()]).toEqual([[], []])
  const { calls } = life
  if (!life.crashed) await kubelet.stop({ containers: 'keep' })
  return calls
}

describe('a node agent that dies', async () => {
  const calls = await live(undefined)
  const crashes = Array.from({ length: calls }, (_, index) => [
    { call: index + 1, done: false },
    { call: index + 1, done: true },
  ]).flat()

  it.each(crashes)('leaves nothing that the next one cannot go on from: call $call, done: $done', async (crash) => {
    await live(crash)
  })
})

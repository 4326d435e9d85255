import { pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { createKubelet } from './kubelet.ts'
import { collectionPeriodMs } from './pod/dead-container-collector.ts'
import { type DeadContainerLimits, deadContainerLimits } from './pod/dead-containers.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { testPod } from './testing/pods.ts'

/** A node whose pods `a` and `b` have each crashed so often, with ten minutes between. */
async function crashed(times: number, limits?: Partial<DeadContainerLimits>, { firstResists = false } = {}) {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const runtime = createSimulatedRuntime({ environment })
  if (firstResists) {
    const { createContainer, removeContainer } = runtime
    let first: string | undefined
    runtime.createContainer = async (...made) => {
      const id = await createContainer.apply(runtime, made)
      first ??= id
      return id
    }
    runtime.removeContainer = (id) =>
      id === first ? Promise.reject(new Error('device or resource busy')) : removeContainer.call(runtime, id)
  }
  const kubelet = createKubelet({
    client,
    environment,
    nodeName: 'node-a',
    runtime,
    ...(limits === undefined ? {} : { deadContainers: { ...deadContainerLimits, ...limits } }),
  })
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  const started = kubelet.start()
  await clock.settle()
  await started
  const uids: string[] = []
  for (const name of ['a', 'b']) {
    const { uid: _, ...metadata } = testPod().metadata
    const made = await client.create(pods, { ...testPod(), metadata: { ...metadata, name } })
    uids.push(made.metadata.uid ?? '')
  }
  await clock.settle()
  for (let time = 0; time < times; time += 1) {
    for (const uid of uids) runtime.exitContainer(uid, 'web', 1)
    await clock.advance('10m')
  }
  const attempts = async (): Promise<readonly (readonly number[])[]> => {
    const found = await Promise.all(uids.map((uid) => runtime.listContainers(uid)))
    return found.map((runs) => runs.map(({ attempt }) => attempt).toSorted((a, b) => a - b))
  }
  return { clock, attempts }
}

it('keeps the run before the last of each container, unless it is told otherwise', async () => {
  expect(await (await crashed(4)).attempts()).toEqual([
    [3, 4],
    [3, 4],
  ])
  expect(await (await crashed(4, { perContainerMax: 2 })).attempts()).toEqual([
    [2, 3, 4],
    [2, 3, 4],
  ])
  expect(await (await crashed(4, { perContainerMax: 0 })).attempts()).toEqual([[4], [4]])
})

it('keeps no more than so many on the node, of whichever pod', async () => {
  const { clock, attempts } = await crashed(4, { perContainerMax: -1, max: 3 })
  await clock.advance(collectionPeriodMs)
  expect(await attempts()).toEqual([
    [3, 4],
    [3, 4],
  ])
})

it('removes the others where one resists', async () => {
  const { clock, attempts } = await crashed(4, { perContainerMax: -1, max: 3 }, { firstResists: true })
  await clock.advance(collectionPeriodMs)
  expect(await attempts()).toEqual([
    [0, 3, 4],
    [3, 4],
  ])
})

it('keeps what was made lately', async () => {
  const { clock, attempts } = await crashed(2, { perContainerMax: 0, ttlMinMs: 3_600_000 })
  expect(await attempts()).toEqual([
    [0, 1, 2],
    [0, 1, 2],
  ])
  await clock.advance('1h')
  expect(await attempts()).toEqual([[2], [2]])
})

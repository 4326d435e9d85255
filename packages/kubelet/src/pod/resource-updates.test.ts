import type { Container, Pod, ResourceRequirements } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import {
  type ContainerRuntimeStatus,
  type LinuxResources,
  type Runtime,
  RuntimeUnavailableError,
} from '../runtimes/runtime.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { ResourceUpdates } from './resource-updates.ts'

const withMemory = (name: string, memory: string | undefined): Container => ({
  ...testContainer(),
  name,
  resources: memory === undefined ? {} : { limits: { memory } },
})

const podWith = (containers: readonly Container[], resources?: ResourceRequirements): Pod =>
  testPod({ containers, ...(resources === undefined ? {} : { resources }) })

const running = (name: string, id = `${name}-1`): ContainerRuntimeStatus =>
  ({ id, name, state: 'running' }) as ContainerRuntimeStatus

/** A runtime whose containers use so much memory, and that refuses some updates. */
function measuredRuntime(used: Readonly<Record<string, number>>, refused: Readonly<Record<string, Error>> = {}) {
  const updates: [string, LinuxResources][] = []
  const refusals = { ...refused }
  const runtime = {
    containerStats: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (used[id] === undefined ? [] : [[id, { cpuMs: 0, memoryBytes: used[id] }]]))),
    async updateContainerResources(id: string, resources: LinuxResources) {
      if (refusals[id] !== undefined) throw refusals[id]
      updates.push([id, resources])
    },
  } as unknown as Runtime
  return { runtime, limits: () => updates.map(([id, { memoryLimitBytes }]) => `${id} ${memoryLimitBytes}`), refusals }
}

const round = (pod: Pod, runs: readonly ContainerRuntimeStatus[], nowMs = 0) => ({
  pod,
  runs,
  nodeMemoryBytes: 1e9,
  nowMs,
})

describe('containers that run and are to have other resources', () => {
  it('are given them', async () => {
    const { runtime, limits } = measuredRuntime({ 'a-1': 50 })
    const updates = new ResourceUpdates()
    updates.expect(['a'], podWith([withMemory('a', '100')]).spec)
    expect(updates.actual.get('a')).toEqual({ limits: { memory: '100' } })
    await updates.carryOut(runtime, round(podWith([withMemory('a', '200')]), [running('a')]))
    expect(limits()).toEqual(['a-1 200'])
    expect(updates).toMatchObject({ isDone: true, error: undefined, retryAtMs: undefined })
    expect(updates.actual.size).toBe(0)
  })

  it.each([
    ['what it uses is below the new limit', '100', '60', 59, undefined],
    ['what it uses is the new limit', '100', '60', 60, /container "a" memory limit \(60\) below current usage \(60\)$/],
    ['it had no limit', undefined, '60', 70, /^cannot decrease memory limits: attempting to set container "a"/],
    ['the limit rises, whatever it uses', '60', '100', 500, undefined],
    ['the limit goes', '60', undefined, 500, undefined],
    ['nobody knows what it uses', '100', '60', undefined, /: missing container "a" memory usage$/],
  ])('are given them where %s', async (_, before, after, used, error) => {
    const { runtime, limits } = measuredRuntime(used === undefined ? {} : { 'a-1': used })
    const updates = new ResourceUpdates()
    updates.expect(['a'], podWith([withMemory('a', before)]).spec)
    await updates.carryOut(runtime, round(podWith([withMemory('a', after)]), [running('a')]))
    if (error === undefined) expect(updates.error).toBeUndefined()
    else expect(updates.error).toMatch(error)
    expect(limits()).toHaveLength(error === undefined ? 1 : 0)
    expect(updates.isDone).toBe(error === undefined)
  })

  it('are given nothing, none of them, while one uses more than it is to have', async () => {
    const used: Record<string, number> = { 'a-1': 10, 'b-1': 90, 'c-1': 80 }
    const { runtime, limits } = measuredRuntime(used)
    const updates = new ResourceUpdates()
    const all = (memory: string) => podWith(['a', 'b', 'c'].map((name) => withMemory(name, memory)))
    updates.expect(['a', 'b', 'c'], all('100').spec)
    const runs = ['a', 'b', 'c'].map((name) => running(name))
    await updates.carryOut(runtime, round(all('50'), runs))
    expect(limits()).toEqual([])
    expect(updates.error).toBe(
      'cannot decrease memory limits: [attempting to set container "b" memory limit (50) below current usage (90), ' +
        'attempting to set container "c" memory limit (50) below current usage (80)]',
    )
    used['b-1'] = used['c-1'] = 10
    await updates.carryOut(runtime, round(all('50'), runs, 9_999))
    expect(limits()).toEqual([])
    await updates.carryOut(runtime, round(all('50'), runs, 10_000))
    expect(limits()).toEqual(['a-1 50', 'b-1 50', 'c-1 50'])
    expect(updates).toMatchObject({ isDone: true, error: undefined })
  })

  it('have what they had before when it is asked for again, without waiting', async () => {
    const { runtime, limits } = measuredRuntime({ 'a-1': 90 })
    const updates = new ResourceUpdates()
    const small = podWith([withMemory('a', '50')])
    updates.expect(['a'], podWith([withMemory('a', '100')]).spec)
    await updates.carryOut(runtime, round(small, [running('a')]))
    updates.expect(['a'], small.spec)
    expect(updates.actual.get('a')).toEqual({ limits: { memory: '100' } })
    await updates.carryOut(runtime, round(podWith([withMemory('a', '100')]), [running('a')], 1))
    expect(limits()).toEqual(['a-1 100'])
    expect(updates.isDone).toBe(true)
  })

  it('have the limit of their pod where they have none of their own', async () => {
    const { runtime, limits } = measuredRuntime({ 'a-1': 90 })
    const updates = new ResourceUpdates()
    const shared = (memory: string) => podWith([withMemory('a', undefined)], { limits: { memory } })
    updates.expect(['a'], shared('100').spec)
    await updates.carryOut(runtime, round(shared('50'), [running('a')]))
    expect(updates.error).toContain('memory limit (50) below current usage (90)')
    await updates.carryOut(runtime, round(shared('95'), [running('a')], 10_000))
    expect(limits()).toEqual(['a-1 95'])
  })

  it('need nothing once they have ended or started anew', async () => {
    const { runtime, limits } = measuredRuntime({ 'a-1': 90, 'b-1': 90 })
    const updates = new ResourceUpdates()
    const both = (memory: string) => podWith([withMemory('a', memory), withMemory('b', memory)])
    updates.expect(['a', 'b'], both('100').spec)
    await updates.carryOut(runtime, round(both('50'), [running('a'), running('b')]))
    expect(updates.isDone).toBe(false)
    await updates.carryOut(runtime, round(both('50'), [running('a', 'a-2')], 10_000))
    expect(limits()).toEqual([])
    expect(updates).toMatchObject({ isDone: true, error: undefined })
  })

  it('are given the rest when the runtime has refused some of it', async () => {
    const { runtime, limits, refusals } = measuredRuntime({}, { 'b-1': new Error('busy') })
    const updates = new ResourceUpdates()
    const both = (memory: string) => podWith([withMemory('a', memory), withMemory('b', memory)])
    updates.expect(['a', 'b'], both('50').spec)
    const runs = [running('a'), running('b')]
    await updates.carryOut(runtime, round(both('100'), runs))
    expect(limits()).toEqual(['a-1 100'])
    expect(updates).toMatchObject({ isDone: false, error: 'busy', retryAtMs: 10_000 })
    expect([...updates.actual.keys()]).toEqual(['b'])
    delete refusals['b-1']
    await updates.carryOut(runtime, round(both('100'), runs, 10_000))
    expect(limits()).toEqual(['a-1 100', 'b-1 100'])
  })

  it('wait for a runtime that is away, which the node tells of', async () => {
    const { runtime } = measuredRuntime({}, { 'a-1': new RuntimeUnavailableError('away') })
    const updates = new ResourceUpdates()
    updates.expect(['a'], podWith([withMemory('a', '50')]).spec)
    await updates.carryOut(runtime, round(podWith([withMemory('a', '100')]), [running('a')]))
    expect(updates).toMatchObject({ isDone: false, error: undefined, retryAtMs: 10_000 })
  })
})

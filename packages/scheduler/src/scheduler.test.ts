import { ApiError, events, type Node, nodes, type Pod, pods } from '@coracle/api'
import type { ObjectKey } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { makeNode, makePod } from './testing/objects.ts'

describe('the scheduler', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let scheduler: Scheduler
  /** Pods that were bound, and what the server says instead. */
  let bindings: string[]
  let refusal: ApiError | undefined

  beforeEach(async () => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    bindings = []
    refusal = undefined
    client.createSubresource = async <U>(_: unknown, key: ObjectKey): Promise<U> => {
      if (refusal !== undefined) throw refusal
      bindings.push(`${key.namespace}/${key.name}`)
      return {} as U
    }
    scheduler = createScheduler({ client, environment })
    await scheduler.start()
  })

  afterEach(() => scheduler.stop())

  const addNode = async (name: string, cpu = '4') => {
    const { status, ...node } = makeNode({ name, allocatable: { cpu } })
    await client.create<Node>(nodes, { ...node, status } as Node)
    await environment.clock.settle()
  }
  const addPod = async (name: string, spec: Parameters<typeof makePod>[0] = {}) => {
    const { metadata, ...rest } = makePod(spec, name)
    await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name } })
    await environment.clock.settle()
  }
  const attempts = (name: string) =>
    client
      .stored(events)
      .filter(({ reason, involvedObject }) => reason === 'FailedScheduling' && involvedObject.name === name)
      .reduce((sum, { count = 0 }) => sum + count, 0)
  it('tries a pod again only when a node changes so that it fits there', async () => {
    await addNode('small', '1')
    await addPod('big', { requests: { cpu: '3' } })
    await addPod('there', { nodeName: 'small' })
    expect(attempts('big')).toBe(1)
    await environment.clock.advance('20s')
    await client.delete(pods, { namespace: 'default', name: 'there' })
    await addNode('other', '2')
    await environment.clock.advance('20s')
    expect(attempts('big')).toBe(1)
    expect(bindings).toEqual([])
    await addNode('large', '4')
    expect(bindings).toEqual(['default/big'])
  })

  it('goes on with other pods where one cannot be judged', async () => {
    await addNode('a')
    await addPod('odd', { containers: undefined as never })
    await addPod('plain')
    expect(bindings).toEqual(['default/plain'])
  })

  it('counts a pod as placed as soon as it is decided, before the API shows it', async () => {
    await addNode('a', '1')
    await addPod('first', { requests: { cpu: '1' } })
    await addPod('second', { requests: { cpu: '1' } })
    expect(bindings).toEqual(['default/first'])
    expect(attempts('second')).toBe(1)
  })

  it('counts pods that others have placed', async () => {
    await addNode('a', '1')
    await addPod('there', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('late', { requests: { cpu: '1' } })
    expect(bindings).toEqual([])
  })

  it('gives the room of a pod that has ended to another', async () => {
    await addNode('a', '1')
    await addPod('there', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('late', { requests: { cpu: '1' } })
    const ended = await client.get(pods, { namespace: 'default', name: 'there' })
    await client.update<Pod>(pods, { ...ended, status: { phase: 'Succeeded' } }, { subresource: 'status' })
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['default/late'])
  })

  it('takes back what it has counted when the binding fails', async () => {
    await addNode('a', '1')
    refusal = new ApiError(409, 'Conflict', 'somebody else was faster')
    await addPod('first', { requests: { cpu: '1' } })
    await client.delete(pods, { namespace: 'default', name: 'first' })
    refusal = undefined
    await addPod('second', { requests: { cpu: '1' } })
    expect(bindings).toEqual(['default/second'])
    expect(client.stored(events).filter(({ reason }) => reason === 'FailedScheduling')).toEqual([])
  })

  it('leaves pods alone that are not its own, are gated or are going', async () => {
    await addPod('other', { schedulerName: 'another' })
    await addPod('gated', { schedulingGates: [{ name: 'wait' }] })
    await addNode('a')
    expect(bindings).toEqual([])
    const gated = await client.get(pods, { namespace: 'default', name: 'gated' })
    await client.update<Pod>(pods, { ...gated, spec: { ...gated.spec, schedulingGates: [] } })
    await environment.clock.settle()
    expect(bindings).toEqual(['default/gated'])
  })

  it('does not look at a node again for its heartbeats', async () => {
    await addNode('a', '1')
    await addPod('big', { requests: { cpu: '2' } })
    const node = await client.get(nodes, { name: 'a' })
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:01:00Z' }] as const
    await client.update<Node>(nodes, { ...node, status: { ...node.status, conditions } }, { subresource: 'status' })
    await environment.clock.advance('60s')
    expect(attempts('big')).toBe(1)
  })

  it('tells of a binding that the server refuses, and tries again', async () => {
    refusal = new ApiError(403, 'Forbidden', 'no bindings today')
    await addNode('a')
    await addPod('p')
    expect(client.stored(events)).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedScheduling',
        message: 'running Bind plugin "DefaultBinder": no bindings today',
      },
    ])
    expect(client.calls).toContainEqual({ verb: 'patch', plural: 'pods', key: 'default/p', subresource: 'status' })
    refusal = undefined
    await environment.clock.advance('1s')
    expect(bindings).toEqual(['default/p'])
  })
})

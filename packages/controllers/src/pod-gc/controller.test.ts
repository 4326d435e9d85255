import { type Node, nodes, type Pod, pods } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { countReads } from '../testing/count-reads.ts'
import { pod } from '../testing/objects.ts'
import { atWorkByClock } from '../testing/put-back.ts'
import { createPodGarbageCollector } from './controller.ts'
import { endedPodsMax } from './plan.ts'

describe('the pod garbage collector', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager
  let looks: () => number

  beforeEach(async () => {
    ;({ environment, client, manager, looks } = await atWork(() => [createPodGarbageCollector()]))
  })

  const createNode = () => client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
  const createPod = (name: string, node: string) => {
    const { metadata, ...rest } = pod(name, { node })
    return client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name } })
  }
  const names = () => client.stored(pods).map(({ metadata }) => metadata.name)

  it('deletes the pods of a node 40 seconds after it is gone', async () => {
    await createNode()
    await createPod('there', 'node-1')
    await createPod('unassigned', '')
    await environment.clock.advance('10m')
    await client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('39s')
    expect(names()).toEqual(['there', 'unassigned'])
    await environment.clock.advance('1s')
    expect(names()).toEqual(['unassigned'])
  })

  it.each([-3_600_000, 3_600_000])('waits no shorter and no longer where the clock is set by %i ms', async (byMs) => {
    await createNode()
    await createPod('there', 'node-1')
    await client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('1s')
    const now = environment.clock.now.bind(environment.clock)
    environment.clock.now = () => now() + byMs
    await createPod('another', 'node-1')
    await environment.clock.advance('38s')
    expect(names()).toEqual(['there', 'another'])
    await environment.clock.advance('1s')
    expect(names()).toEqual([])
  })

  it('deletes pods bound to a node that never was', async () => {
    await createPod('lost', 'nowhere')
    await environment.clock.advance('40s')
    expect(names()).toEqual([])
  })

  it('spares the pods of a node that comes back in time', async () => {
    await createNode()
    await createPod('there', 'node-1')
    await client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('30s')
    await createNode()
    await environment.clock.advance('1h')
    expect(names()).toEqual(['there'])
  })

  it('deletes pods that are to go from a node that is out of service, once it is not ready', async () => {
    await createNode()
    const createHeld = async (name: string) => {
      const { metadata, ...rest } = pod(name, { node: 'node-1' })
      const finalizers = ['example.com/wait']
      await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name, finalizers } })
    }
    const remove = (name: string) => client.delete(pods, { namespace: 'default', name })
    const failed = async () => {
      await environment.clock.settle()
      const gone = client.stored(pods).filter(({ status }) => status?.phase === 'Failed')
      return gone.map(({ metadata }) => metadata.name)
    }
    const patchNode = (body: unknown) => client.patch(nodes, { name: 'node-1' }, { type: 'merge', body })
    const setReady = async (status: string) => {
      const object = await client.get(nodes, { name: 'node-1' })
      const conditions = [{ type: 'Ready', status }]
      await client.update<Node>(nodes, { ...object, status: { conditions } }, { subresource: 'status' })
    }
    for (const name of ['stays', 'early', 'late']) await createHeld(name)
    await remove('early')
    await setReady('True')
    await patchNode({ spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } })
    expect(await failed()).toEqual([])
    await setReady('Unknown')
    expect(await failed()).toEqual(['early'])
    await remove('late')
    expect(await failed()).toEqual(['early', 'late'])
  })

  it('ends pods that are to go and have no node, each 20 seconds after it was deleted', async () => {
    const createHeld = (name: string) => {
      const { metadata, ...rest } = pod(name, { phase: 'Pending' })
      const finalizers = ['example.com/wait']
      return client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name, finalizers } })
    }
    const phases = async () => client.stored(pods).map(({ status }) => status?.phase)
    for (const name of ['early', 'late', 'stays']) await createHeld(name)
    await client.delete(pods, { namespace: 'default', name: 'early' })
    await environment.clock.advance('10s')
    await client.delete(pods, { namespace: 'default', name: 'late' })
    await environment.clock.advance('9s')
    expect(await phases()).toEqual(['Pending', 'Pending', 'Pending'])
    await environment.clock.advance('1s')
    expect(await phases()).toEqual(['Failed', 'Pending', 'Pending'])
    await environment.clock.advance('9s')
    expect(await phases()).toEqual(['Failed', 'Pending', 'Pending'])
    await environment.clock.advance('1s')
    expect(await phases()).toEqual(['Failed', 'Failed', 'Pending'])
    await environment.clock.advance('1h')
    expect(client.calls.filter(({ verb }) => verb === 'delete')).toHaveLength(4)
  })

  it('deletes the pods that ended first once too many have, and looks at none before', async () => {
    const before = looks()
    const reads = countReads(manager.informer(pods))
    const end = async (name: string) => {
      const { metadata, ...rest } = pod(name, { phase: 'Succeeded' })
      await client.create<Pod>(pods, { ...rest, metadata: { ...metadata, uid: undefined, resourceVersion: undefined } })
    }
    for (let index = 0; index < endedPodsMax; index++) await end(`p${index}`)
    await environment.clock.advance('1m')
    expect([looks() - before, reads.taken()]).toEqual([0, 0])
    for (const name of ['new', 'newer']) await end(name)
    await environment.clock.advance('1m')
    expect(names()).toHaveLength(endedPodsMax)
    expect(names()).not.toContain('p0')
    expect(names()).not.toContain('p1')
  })

  it('waits no longer where the clock is put back meanwhile', async () => {
    const { clock, client, putBack } = await atWorkByClock(createPodGarbageCollector())
    const { metadata, ...rest } = pod('lost', { node: 'nowhere' })
    await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name: metadata.name } })
    await clock.advance('20s')
    putBack()
    await clock.advance('20s')
    expect(client.stored(pods)).toEqual([])
  })

  it('waits anew for pods that come to a node long after it is gone', async () => {
    const { metadata, ...ended } = pod('ended', { node: 'nowhere', phase: 'Succeeded' })
    await client.create<Pod>(pods, { ...ended, metadata: { namespace: 'default', name: metadata.name } })
    await environment.clock.advance('10m')
    expect(names()).toEqual([])
    await createPod('late', 'nowhere')
    await environment.clock.advance('39s')
    expect(names()).toEqual(['late'])
    await environment.clock.advance('1s')
    expect(names()).toEqual([])
  })

  it('waits anew when a node goes a second time', async () => {
    await createNode()
    await createPod('there', 'node-1')
    await client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('30s')
    await createNode()
    await environment.clock.advance('5s')
    await client.delete(nodes, { name: 'node-1' })
    await environment.clock.advance('30s')
    expect(names()).toEqual(['there'])
  })
})

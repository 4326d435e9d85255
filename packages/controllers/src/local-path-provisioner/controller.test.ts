import {
  type Node,
  nodes,
  type PersistentVolume,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  volumeAnnotations,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { claim, claimedBy, inPhase, volume } from '../testing/volumes.ts'
import { createLocalPathProvisioner } from './controller.ts'
import { localPathClass, localPathProvisioner, provisionerFinalizer } from './provisioner.ts'

let environment: VirtualEnvironment
let client: FakeClient
/** The nodes there are, and what was asked of them. */
let present: Set<string>
let asked: string[]
/** What comes of being asked, where it is not done. */
let failure: Error | undefined

beforeEach(async () => {
  present = new Set()
  asked = []
  failure = undefined
  const volumes = {
    isOwn: (name: string) => present.has(name),
    nodesChange: true,
    create: async (node: string, name: string) => {
      asked.push(`create ${name} on ${node}`)
      return `/data/${name}`
    },
    remove: async (node: string, name: string, path: string) => {
      asked.push(`remove ${name} on ${node} at ${path}`)
      if (failure !== undefined) throw failure
    },
  }
  ;({ environment, client } = await atWork(() => createLocalPathProvisioner(volumes)))
  await client.create(storageClasses, localPathClass)
})

const node = (ready: 'True' | 'Unknown'): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'far' },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }) as Node

const status = { subresource: 'status' } as const

const onFar = {
  [volumeAnnotations.provisioner]: localPathProvisioner,
  [volumeAnnotations.selectedNode]: 'far',
}

const released = (): PersistentVolume => {
  const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: ['far'] }] }]
  const spec = {
    ...claimedBy('data'),
    persistentVolumeReclaimPolicy: 'Delete' as const,
    local: { path: '/data/a' },
    nodeAffinity: { required: { nodeSelectorTerms: terms } },
  }
  const annotations = { [volumeAnnotations.provisionedBy]: localPathProvisioner }
  return inPhase('Released', volume('a', spec, { annotations, finalizers: [provisionerFinalizer] }))
}

describe('where nodes come and go', () => {
  it('a claim gets its volume when its node is there', async () => {
    await client.create(persistentVolumeClaims, claim({ storageClassName: 'local-path' }, onFar))
    await environment.clock.settle()
    expect(asked).toEqual([])
    present.add('far')
    await client.create(nodes, node('True'))
    await environment.clock.settle()
    expect(asked).toEqual([expect.stringMatching(/^create pvc-\S+ on far$/)])
    expect(client.stored(persistentVolumes).map(({ spec }) => spec?.local?.path)).toEqual([
      expect.stringMatching(/^\/data\/pvc-/),
    ])
  })

  it('a claim may get its volume elsewhere once its node is gone for good', async () => {
    await client.create(nodes, node('Unknown'))
    await client.create(persistentVolumeClaims, claim({ storageClassName: 'local-path' }, onFar))
    const selected = () =>
      client.stored(persistentVolumeClaims)[0]?.metadata.annotations?.[volumeAnnotations.selectedNode]
    await environment.clock.advance('1h')
    expect(selected()).toBe('far')
    await client.delete(nodes, { name: 'far' })
    await environment.clock.advance('30s')
    await client.create(nodes, node('Unknown'))
    await environment.clock.advance('1m')
    expect(selected()).toBe('far')
    await client.delete(nodes, { name: 'far' })
    await environment.clock.advance('39s')
    expect(selected()).toBe('far')
    await environment.clock.advance('1s')
    expect(selected()).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('a claim that has its volume keeps it, whatever becomes of the node', async () => {
    await client.create(persistentVolumeClaims, claim({ storageClassName: 'local-path', volumeName: 'a' }, onFar))
    await environment.clock.advance('1h')
    expect(client.stored(persistentVolumeClaims)[0]?.metadata.annotations).toEqual(onFar)
  })

  it('a volume goes with what is in it when its node is there again', async () => {
    await client.create(nodes, node('Unknown'))
    await client.create(persistentVolumes, released())
    await environment.clock.settle()
    expect(asked).toEqual([])
    present.add('far')
    await client.update(nodes, node('Unknown'), status)
    await environment.clock.settle()
    expect(asked).toEqual([])
    await client.update(nodes, node('True'), status)
    await environment.clock.settle()
    expect(new Set(asked)).toEqual(new Set(['remove a on far at /data/a']))
    expect(client.stored(persistentVolumes)).toEqual([])
  })

  it('a volume that nobody uses goes, and leaves what is in it, once its node has been gone for long', async () => {
    await client.create(nodes, node('True'))
    await client.create(persistentVolumes, released())
    await client.delete(nodes, { name: 'far' })
    await environment.clock.advance('59m')
    await client.create(nodes, node('Unknown'))
    await environment.clock.advance('59m')
    await client.delete(nodes, { name: 'far' })
    await environment.clock.advance('59m')
    expect(client.stored(persistentVolumes)).toHaveLength(1)
    await environment.clock.advance('1m')
    expect(client.stored(persistentVolumes)).toEqual([])
    expect(asked).toEqual([])
  })

  it('a volume that is in use stays, however long its node is gone', async () => {
    await client.create(persistentVolumes, inPhase('Bound', released()))
    await environment.clock.advance('24h')
    expect(client.stored(persistentVolumes)).toHaveLength(1)
  })

  it('what has failed is tried again at once when a node is there again', async () => {
    present.add('far')
    failure = new Error('connection refused')
    await client.create(nodes, node('True'))
    await client.create(persistentVolumes, released())
    await environment.clock.advance('5m')
    const before = asked.length
    failure = undefined
    await client.update(nodes, node('Unknown'), status)
    await environment.clock.settle()
    expect(asked).toHaveLength(before)
    await client.update(nodes, node('True'), status)
    await environment.clock.settle()
    expect(client.stored(persistentVolumes)).toEqual([])
  })
})

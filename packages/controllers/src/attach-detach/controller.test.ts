import {
  attachmentName,
  type CsiDriver,
  csiDrivers,
  events,
  type Node,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from '@coracle/api'
import { expect, it } from 'vitest'
import { type AtWork, atWork } from '../testing/at-work.ts'
import { claim, claimedBy, volume } from '../testing/volumes.ts'
import { createAttachDetachController } from './controller.ts'
import { unmountMaxMs } from './plan.ts'

const driver = 'disks.example.com'
const reported = `kubernetes.io/csi/${driver}^handle`
const managed = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }

const node = (name: string, annotations: Record<string, string> = managed): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, annotations },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

const pod = (name: string, nodeName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  },
})

/** A claim `data` that has a volume of the driver, and two nodes that have the driver. */
async function start(spec: Partial<CsiDriver['spec']> = {}) {
  const work = await atWork(() => [createAttachDetachController()])
  const { client, environment } = work
  await client.create<CsiDriver>(csiDrivers, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: driver },
    spec,
  })
  const { metadata } = await client.create<PersistentVolumeClaim>(persistentVolumeClaims, claim({ volumeName: 'pv' }))
  const csi = { driver, volumeHandle: 'handle' }
  await client.create<PersistentVolume>(persistentVolumes, volume('pv', { csi, ...claimedBy(metadata.uid) }))
  for (const name of ['a', 'b']) await client.create(nodes, node(name))
  await environment.clock.settle()
  return work
}

const attachedTo = ({ client }: AtWork) =>
  client.stored(volumeAttachments).map(({ metadata, spec }) => `${spec.nodeName} ${metadata.name}`)
const reportedBy = async ({ client }: AtWork, name: string) =>
  (await client.get(nodes, { name })).status?.volumesAttached?.map((each) => each.name)
const told = ({ client }: AtWork) =>
  client.stored(events).map(({ involvedObject, reason }) => `${involvedObject.name} ${reason}`)
const name = attachmentName(driver, 'handle', 'a')

/** What whoever attaches volumes does. */
async function attach({ client, environment }: AtWork, key = { name }) {
  const body = { status: { attached: true } }
  await client.patch(volumeAttachments, key, { type: 'merge', body }, { subresource: 'status' })
  await environment.clock.settle()
}

async function useOn(work: AtWork, nodeName: string, volumesInUse: readonly string[]) {
  const patch = { type: 'merge', body: { status: { volumesInUse } } } as const
  await work.client.patch(nodes, { name: nodeName }, patch, { subresource: 'status' })
  await work.environment.clock.settle()
}

it('has a volume attached where its pod is, reported, and detached when pod and node have done with it', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(pods, pod('web', 'a'))
  await environment.clock.settle()
  expect(attachedTo(work)).toEqual([`a ${name}`])
  await attach(work)
  expect(await reportedBy(work, 'a')).toEqual([reported])
  expect(told(work)).toEqual(['web SuccessfulAttachVolume'])
  await useOn(work, 'a', [reported])
  await client.delete(pods, { namespace: 'default', name: 'web' })
  await environment.clock.settle()
  expect([attachedTo(work), await reportedBy(work, 'a')]).toEqual([[`a ${name}`], [reported]])
  await useOn(work, 'a', [])
  expect([attachedTo(work), await reportedBy(work, 'a')]).toEqual([[], []])
})

it('lets go of a volume whose pod has ended, though it is still there', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(pods, pod('web', 'a'))
  await environment.clock.settle()
  const body = { status: { phase: 'Succeeded' } }
  await client.patch(pods, { namespace: 'default', name: 'web' }, { type: 'merge', body }, { subresource: 'status' })
  await environment.clock.settle()
  expect(attachedTo(work)).toEqual([])
})

it('moves a volume for one node when the one before has let it go', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(pods, pod('first', 'a'))
  await environment.clock.settle()
  await attach(work)
  await useOn(work, 'a', [reported])
  await client.create(pods, pod('second', 'b'))
  await client.delete(pods, { namespace: 'default', name: 'first' })
  await environment.clock.settle()
  expect(told(work)).toContain('second FailedAttachVolume')
  expect(attachedTo(work)).toEqual([`a ${name}`])
  await useOn(work, 'a', [])
  expect(attachedTo(work)).toEqual([`b ${attachmentName(driver, 'handle', 'b')}`])
})

it('detaches from a node that is gone after six minutes', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(pods, pod('web', 'a'))
  await environment.clock.settle()
  await client.delete(nodes, { name: 'a' })
  await client.delete(pods, { namespace: 'default', name: 'web' })
  await environment.clock.advance(unmountMaxMs - 1_000)
  expect(attachedTo(work)).toEqual([`a ${name}`])
  await environment.clock.advance(2_000)
  expect(attachedTo(work)).toEqual([])
})

it.each<[string, Partial<CsiDriver['spec']>, Record<string, string>]>([
  ['whose driver attaches nothing', { attachRequired: false }, managed],
  ['on a node without drivers, as simulated ones are', {}, {}],
])('leaves volumes alone %s', async (_, spec, annotations) => {
  const work = await start(spec)
  const { client, environment } = work
  await client.create(nodes, node('c', annotations))
  await client.create(pods, pod('web', 'c'))
  await environment.clock.advance('1h')
  expect(attachedTo(work)).toEqual([])
})

it('leaves what is attached to nodes without drivers to whoever attached it', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(nodes, node('c', {}))
  const named = attachmentName(driver, 'handle', 'c')
  await client.create(volumeAttachments, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: named },
    spec: { attacher: driver, nodeName: 'c', source: { persistentVolumeName: 'pv' } },
  })
  await environment.clock.advance('1h')
  expect(attachedTo(work)).toEqual([`c ${named}`])
})

it('does what was left to do when it starts anew', async () => {
  const work = await start()
  const { client, environment } = work
  await client.create(volumeAttachments, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name },
    spec: { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv' } },
  })
  await client.create(volumeAttachments, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'somebody-elses' },
    spec: { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv' } },
  })
  await environment.clock.settle()
  expect(attachedTo(work)).toEqual(['a somebody-elses'])
})

import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { claimedVolumes, mountClaims, VolumesNotReadyError } from './claimed-volumes.ts'
import { containerMounts } from './container-mounts.ts'

let client: FakeClient
let directory: string

beforeEach(() => {
  client = createFakeClient(virtualEnvironment())
  directory = temporaryDirectory()
})

const pod = (readOnly?: boolean): Pod =>
  testPod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'shop', readOnly } }] })

const bound = { 'pv.kubernetes.io/bind-completed': 'yes' }

type Source = NonNullable<PersistentVolume['spec']>

/** A claim `shop` that is bound to a volume which is this. */
async function bind(source: Partial<Source>, metadata: object = {}): Promise<void> {
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace: 'default',
      name: 'shop',
      annotations: bound,
      ...metadata,
    },
    spec: { volumeName: 'shelf' },
    status: { phase: 'Bound' },
  }
  const { metadata: made } = await client.create(persistentVolumeClaims, claim)
  const claimRef = { namespace: 'default', name: 'shop', uid: made.uid }
  await client.create<PersistentVolume>(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'shelf' },
    spec: { claimRef, ...source },
  })
}

describe('the volumes of a pod', () => {
  it.each([undefined, true])('are where its claims are bound to (read-only: %s)', async (readOnly) => {
    await bind({ local: { path: directory } })
    expect([...(await mountClaims(pod(readOnly), client, true))]).toEqual([
      ['data', { path: directory, readOnly: readOnly === true }],
    ])
  })

  it('are told with the names of their claims', async () => {
    await bind({ local: { path: directory } })
    const volumes = [{ name: 'scratch', emptyDir: {} }, ...(pod().spec.volumes ?? [])]
    const given = testPod({ volumes })
    const mounted = await mountClaims(given, client, true)
    expect(claimedVolumes(given, mounted)).toEqual([{ namespace: 'default', claimName: 'shop', path: directory }])
    expect(claimedVolumes(given, new Map())).toEqual([])
  })

  it('are made where they say so', async () => {
    const path = join(directory, 'new')
    await bind({ hostPath: { path, type: 'DirectoryOrCreate' } })
    await mountClaims(pod(), client, true)
    expect(existsSync(path)).toBe(true)
  })

  it('need not be there where containers are not real', async () => {
    await bind({ nfs: { server: 's', path: '/' } })
    expect(await mountClaims(pod(), client, false)).toEqual(new Map())
  })

  const beingDeleted = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes.io/pvc-protection'] }

  it('stay those of a pod that had them when its claim was deleted, under an agent that has started anew', async () => {
    await bind({ local: { path: directory } }, beingDeleted)
    const had: Pod = { ...pod(), status: { conditions: [{ type: 'PodReadyToStartContainers', status: 'True' }] } }
    expect([...(await mountClaims(had, client, true)).keys()]).toEqual(['data'])
  })

  it.each<readonly [string, () => Promise<void>, string]>([
    [
      'the claim is being deleted before the pod has begun',
      () => bind({ local: { path: directory } }, beingDeleted),
      "can't start pod because PVC is being deleted",
    ],
    [
      'there is no claim',
      async () => {},
      'failed to fetch PVC from API server: persistentvolumeclaims "shop" not found',
    ],
    ['it is not bound', () => bind({}, { annotations: {} }), 'error processing PVC default/shop: PVC is not bound'],
    [
      'it is another’s',
      () => bind({ claimRef: { namespace: 'default', name: 'other' } }),
      'PV "shelf" is not bound to the claim',
    ],
    [
      'its directory is gone',
      () => bind({ local: { path: '/nowhere' } }),
      'volume "shelf" : path "/nowhere" does not exist',
    ],
    ['it is a file', () => bind({ hostPath: { path: '/etc/hosts' } }), '"/etc/hosts" is not a directory'],
    [
      'it is not of this node',
      () => bind({ nfs: { server: 's', path: '/' } }),
      'only directories of the node (local, hostPath) can be used',
    ],
  ])('are waited for while %s', async (_, prepare, message) => {
    await prepare()
    await expect(mountClaims(pod(), client, true)).rejects.toThrow(VolumesNotReadyError)
    await expect(mountClaims(pod(), client, true)).rejects.toThrow(message)
  })
})

describe('the mounts of a container', () => {
  const mountsOf = (mount: object, readOnly = false) =>
    containerMounts(
      testContainer({ volumeMounts: [{ name: 'data', mountPath: 'data', ...mount }] }),
      new Map([['data', { path: directory, readOnly }]]),
      new Map([['NAME', 'a']]),
    )

  it.each<readonly [string, object, boolean, object]>([
    ['a volume', {}, false, {}],
    ['a volume that it only reads', { readOnly: true }, false, { readOnly: true }],
    ['a volume that the pod only reads', {}, true, { readOnly: true }],
  ])('are %s', async (_, mount, readOnly, more) => {
    const expected = { name: 'data', containerPath: 'data', hostPath: directory, ...more }
    expect(await mountsOf(mount, readOnly)).toEqual([expected])
  })

  it.each([
    [{ subPath: 'x/y' }, 'x/y'],
    [{ subPathExpr: 'of-$(NAME)' }, 'of-a'],
  ])('are a part of a volume, which is made: %o', async (mount, part) => {
    expect(await mountsOf(mount)).toMatchObject([{ hostPath: join(directory, part) }])
    expect(existsSync(join(directory, part))).toBe(true)
  })

  it('are asked about where they are to be read-only with what is mounted below them', async () => {
    const asked: unknown[] = []
    const mounts = ['volume', 'image', 'plain', 'missing'].map((name) => ({
      ...{ name, mountPath: `/${name}`, readOnly: true },
      ...(name === 'plain' ? {} : { recursiveReadOnly: 'IfPossible' as const }),
    }))
    const found = await containerMounts(
      testContainer({ volumeMounts: mounts }),
      new Map(['volume', 'plain'].map((name) => [name, { path: directory, readOnly: false }])),
      new Map(),
      new Map([['image', { image: 'sha256:1', askedImage: 'data:1' }]]),
      async ({ name }) => asked.push(name) > 0,
    )
    expect(asked.toSorted()).toEqual(['image', 'volume'])
    expect(found.map(({ recursiveReadOnly }) => recursiveReadOnly)).toEqual([true, true, undefined, undefined])
  })

  it('are a part of a volume that is made with the mode of the volume: groups of pods write to it', async () => {
    chmodSync(directory, 0o3777)
    await mountsOf({ subPath: 'x/y' })
    const modes = ['x', 'x/y'].map((way) => statSync(join(directory, way)).mode & 0o7777)
    expect(modes).toEqual([0o3777, 0o3777])
  })

  it('are no part that variables lead out of the volume to', async () => {
    await expect(mountsOf({ subPathExpr: '../$(NAME)' })).rejects.toThrow('does not name a path in the volume')
  })
})

import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FakeDriver, temporaryDirectory } from '../packages/csi/src/testing/fake-driver.ts'
import { Api, patch, post, remove } from './support/api.ts'
import { paths, pod } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'

// A CSI driver beside the running program, over real sockets: what it brings is a directory of the test's.

const driver = 'disks.example.com'
const attachments = '/apis/storage.k8s.io/v1/volumeattachments'

const objects: readonly (readonly [string, object])[] = [
  [
    '/apis/storage.k8s.io/v1/csidrivers',
    { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: driver }, spec: {} },
  ],
  [
    '/api/v1/persistentvolumes',
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver, volumeHandle: 'handle' },
        claimRef: { namespace: 'default', name: 'data' },
      },
    },
  ],
  [
    '/api/v1/namespaces/default/persistentvolumeclaims',
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: {
        storageClassName: '',
        volumeName: 'disk',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
  ],
]

const using = (name: string, script: string) =>
  pod(name, ['sh', '-c', script], {
    container: { volumeMounts: [{ name: 'v', mountPath: 'data' }] },
    spec: { terminationGracePeriodSeconds: 0, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  })

const phaseOf = async (api: Api, name: string) => (await api.object(`${paths.pods}/${name}`)).status.phase
const isRunning = (api: Api, name: string) =>
  eventually(`${name} runs`, async () => (await phaseOf(api, name)) === 'Running')

/** What an attacher does: the first attachment that is not attached is. */
const attachNext = (api: Api) =>
  eventually('a volume is to be attached', async () => {
    const { items } = await api.object(attachments)
    const next = items.find(({ status }: { status?: { attached?: boolean } }) => status?.attached !== true)
    if (next === undefined) return undefined
    await api.object(`${attachments}/${next.metadata.name}/status`, patch('merge', { status: { attached: true } }))
    return next.spec
  })

it('pods get what a driver brings, also when the program was killed meanwhile, and give it back', async () => {
  const home = temporaryDirectory()
  const disk = temporaryDirectory()
  const root = join(home, 'kubelet', 'node-0')
  const fake = await FakeDriver.start(root, {
    publishVolume({ targetPath }) {
      rmSync(targetPath, { force: true })
      symlinkSync(disk, targetPath)
      return {}
    },
    unpublishVolume({ targetPath }) {
      rmSync(targetPath, { force: true })
      return {}
    },
  })
  const first = await Program.start({ dataDir: home })
  let api = await Api.of(first)
  for (const [path, object] of objects) await api.object(path, post(object))
  await api.object(paths.pods, post(using('writer', 'echo kept >data/file; exec sleep 1000')))
  expect(await attachNext(api)).toEqual({
    attacher: driver,
    nodeName: 'node-0',
    source: { persistentVolumeName: 'disk' },
  })
  await isRunning(api, 'writer')
  await eventually('the file is written', async () => readFileSync(join(disk, 'file'), 'utf8') === 'kept\n')
  expect((await api.object('/apis/storage.k8s.io/v1/csinodes/node-0')).spec.drivers).toMatchObject([{ name: driver }])
  expect(fake.volumeCalls).toEqual(['stageVolume', 'publishVolume'])

  await first.end('SIGKILL')
  await withProgram(Program.start({ dataDir: home }), async (second) => {
    api = await Api.of(second)
    await isRunning(api, 'writer')
    await api.object(`${paths.pods}/writer`, remove())
    await eventually('nothing is attached', async () => (await api.object(attachments)).items.length === 0)
    expect(fake.volumeCalls.slice(-2)).toEqual(['unpublishVolume', 'unstageVolume'])
    expect((await api.object('/api/v1/nodes/node-0')).status).not.toHaveProperty('volumesAttached')
    expect(readdirSync(disk)).toEqual(['file'])

    await api.object(paths.pods, post(using('reader', 'test "$(cat data/file)" = kept && exec sleep 1000')))
    await attachNext(api)
    await isRunning(api, 'reader')
  })
  // Its containers end with it, and what they had is taken away.
  expect(fake.volumeCalls.slice(-2)).toEqual(['unpublishVolume', 'unstageVolume'])
})

async function withProgram(started: Promise<Program>, work: (program: Program) => Promise<void>): Promise<void> {
  const program = await started
  try {
    await work(program)
  } finally {
    await program.end('SIGINT')
  }
}

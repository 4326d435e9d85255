import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigMap, configMaps, type Volume } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiSources } from '../env/api-sources.ts'
import { testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { VolumesNotReadyError } from './claimed-volumes.ts'
import { mountVolumes, removeOtherVolumes, unmountVolumes } from './mount-volumes.ts'

let client: FakeClient
let directory: string

beforeEach(async () => {
  client = createFakeClient(virtualEnvironment())
  directory = temporaryDirectory()
  const metadata = { namespace: 'default', name: 'there' }
  await client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } })
})

const pod = (volume: Omit<Volume, 'name'>) => testPod({ volumes: [{ name: 'v', ...volume }] })
const uid = testPod().metadata.uid ?? ''
const mount = (volume: Omit<Volume, 'name'>, isReal = true) =>
  mountVolumes(pod(volume), { client, objects: apiSources(client), allocatable: {}, isReal, directory })

describe('the volumes of a pod on a node with processes', () => {
  it('hold files, which containers only read', async () => {
    const mounted = await mount({ configMap: { name: 'there' } })
    expect(mounted.get('v')).toEqual({ path: join(directory, uid, 'v'), readOnly: true })
    expect(readFileSync(join(directory, uid, 'v', 'a'), 'utf8')).toBe('1')
  })

  it('are empty, and stay as they are when they are mounted again', async () => {
    const mounted = await mount({ emptyDir: {} })
    const { path = '' } = mounted.get('v') ?? {}
    expect(statSync(path).mode & 0o777).toBe(0o777)
    writeFileSync(join(path, 'kept'), '')
    await mount({ emptyDir: {} })
    expect(readdirSync(path)).toEqual(['kept'])
  })

  it.each([
    ['files', { configMap: { name: 'there' } }],
    ['nothing', { emptyDir: {} }],
  ])('are closed to others of the host, with %s in them', async (_, volume) => {
    await mount(volume)
    expect(statSync(join(directory, uid)).mode & 0o777).toBe(0o700)
  })

  it('are left to the containers once they are there, where files beside them are brought up to date', async () => {
    const both = testPod({
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'files', configMap: { name: 'there' } },
      ],
    })
    const parts = { client, objects: apiSources(client), allocatable: {}, isReal: true, directory }
    const mounted = await mountVolumes(both, parts)
    chmodSync(mounted.get('v')?.path ?? '', 0o700)
    const there = await client.get(configMaps, { namespace: 'default', name: 'there' })
    await client.update(configMaps, { ...there, data: { a: '2' } })
    expect(await mountVolumes(both, parts, mounted)).toEqual(mounted)
    expect(statSync(mounted.get('v')?.path ?? '').mode & 0o777).toBe(0o700)
    expect(readFileSync(join(mounted.get('files')?.path ?? '', 'a'), 'utf8')).toBe('2')
  })

  it('are told of where the system refuses them', async () => {
    writeFileSync(join(directory, uid), '')
    const refused = mount({ configMap: { name: 'there' } })
    await expect(refused).rejects.toThrow(VolumesNotReadyError)
    await expect(refused).rejects.toThrow(/^MountVolume.SetUp failed for volume "v" : EEXIST/)
  })

  it('are paths of the node', async () => {
    const path = join(directory, 'here')
    expect((await mount({ hostPath: { path, type: 'DirectoryOrCreate' } })).get('v')).toEqual({ path, readOnly: false })
    expect((await mount({ hostPath: { path, type: 'Directory' } })).get('v')?.path).toBe(path)
    const file = join(directory, 'file')
    await mount({ hostPath: { path: file, type: 'FileOrCreate' } })
    expect(statSync(file).isFile()).toBe(true)
  })

  it.each([
    ['Directory', 'nowhere', /hostPath type check failed: .* does not exist/],
    ['File', '.', /hostPath type check failed: .* is not of type File/],
    ['Socket', '.', /is not of type Socket/],
  ] as const)('are waited for where no %s is there', async (type, name, message) => {
    const mounted = mount({ hostPath: { path: join(directory, name), type } })
    await expect(mounted).rejects.toThrow(VolumesNotReadyError)
    await expect(mounted).rejects.toThrow(message)
  })

  it('go with their pod, also where it went while the agent was away', async () => {
    await mount({ emptyDir: {} })
    await removeOtherVolumes(directory, (known) => known === uid)
    expect(existsSync(join(directory, uid))).toBe(true)
    await removeOtherVolumes(directory, () => false)
    expect(existsSync(join(directory, uid))).toBe(false)
    await mount({ emptyDir: {} })
    await unmountVolumes(uid, { directory })
    expect(existsSync(join(directory, uid))).toBe(false)
  })
})

describe('the volumes of a pod where containers are not real', () => {
  it('are not made', async () => {
    expect((await mount({ emptyDir: {} }, false)).size).toBe(0)
    expect((await mount({ configMap: { name: 'there' } }, false)).size).toBe(0)
    expect(readdirSync(directory)).toEqual([])
  })

  it('are waited for all the same', async () => {
    const message = 'MountVolume.SetUp failed for volume "v" : configmap "gone" not found'
    const mounted = mount({ configMap: { name: 'gone' } }, false)
    await expect(mounted).rejects.toThrow(VolumesNotReadyError)
    await expect(mounted).rejects.toThrow(message)
  })
})

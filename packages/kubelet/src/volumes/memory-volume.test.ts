import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container, PodSpec, Volume } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { isMountPoint, mountsBelow, unmount } from '@coracle/environment/mounts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiSources } from '../env/api-sources.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { canMount, memorySize } from './memory-volume.ts'
import { freeMemory, mountVolumes, removeOtherVolumes, unmountVolumes } from './mount-volumes.ts'

const limited = (memory: string | undefined): Container =>
  testContainer(memory === undefined ? {} : { resources: { limits: { memory } } })

describe('the size of a volume in memory', () => {
  it.each<[string, string | undefined, Partial<PodSpec>, number]>([
    ['is what the node has', undefined, {}, 1000],
    ['is what it says', '300', {}, 300],
    ['is no more than the node has', '3000', {}, 1000],
    ['is what its containers may use together', '900', { containers: [limited('200'), limited('400')] }, 600],
    ['is what it says where that is less', '500', { containers: [limited('200'), limited('400')] }, 500],
    ['is the limit of the pod', undefined, { resources: { limits: { memory: '700' } } }, 700],
    [
      'is bounded by no container where one has no limit',
      undefined,
      { containers: [limited('200'), limited(undefined)] },
      1000,
    ],
    [
      'is bounded by init containers, too',
      undefined,
      { initContainers: [limited('800')], containers: [limited('200')] },
      800,
    ],
    ['is not nothing where that is what it says', '0', {}, 1000],
  ])('%s', (_, sizeLimit, spec, bytes) => {
    expect(memorySize(testPod(spec), sizeLimit, '1000')).toBe(bytes)
  })
})

const mayMount = await canMount()
const uid = testPod().metadata.uid ?? ''

describe.skipIf(!mayMount)('an emptyDir in memory', { meta: { needs: 'root on Linux' } }, () => {
  const volumes: readonly Volume[] = [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '64Ki' } }]

  const start = () => {
    // What leads there may be a link, and have blanks in its name.
    const home = temporaryDirectory()
    mkdirSync(join(home, 'the node'))
    symlinkSync(join(home, 'the node'), join(home, 'link'))
    const directory = join(home, 'link')
    onTestFinished(() => freeMemory(directory, uid))
    const client = createFakeClient(virtualEnvironment())
    const parts = {
      client,
      objects: apiSources(client),
      allocatable: { memory: '1Gi' },
      isReal: true,
      hasOwners: true,
      directory,
    }
    const mount = (more: Partial<PodSpec> = {}) => mountVolumes(testPod({ volumes: [...volumes], ...more }), parts)
    return { directory, path: join(directory, uid, 'v'), mount }
  }

  it('holds so much and no more, and is open to all', async () => {
    const { path, mount } = start()
    await mount()
    expect(await isMountPoint(path)).toBe(true)
    expect(statSync(path).mode & 0o7777).toBe(0o1777)
    const { blocks, bsize } = statfsSync(path)
    expect(blocks * bsize).toBe(64 * 1024)
    writeFileSync(join(path, 'fits'), Buffer.alloc(32 * 1024))
    expect(() => writeFileSync(join(path, 'more'), Buffer.alloc(64 * 1024))).toThrow(/ENOSPC/)
  })

  it('belongs to the group of its pod', async () => {
    const { path, mount } = start()
    await mount({ securityContext: { fsGroup: 1234 } })
    expect(statSync(path)).toMatchObject({ gid: 1234 })
    expect(statSync(path).mode & 0o7777).toBe(0o3777)
  })

  it('is as it was for an agent that is started again', async () => {
    const { path, mount } = start()
    await mount()
    writeFileSync(join(path, 'kept'), '')
    await mount()
    expect(readdirSync(path)).toEqual(['kept'])
    expect(await mountsBelow(path)).toHaveLength(1)
  })

  it('goes with its pod', async () => {
    const { directory, mount } = start()
    await mount()
    await unmountVolumes(uid, { directory })
    expect(await mountsBelow(directory)).toEqual([])
    expect(existsSync(join(directory, uid))).toBe(false)
  })

  it('goes where its pod went while the agent was away, killed or not', async () => {
    const { directory, path, mount } = start()
    await mount()
    await removeOtherVolumes(directory, (known) => known === uid)
    expect(await isMountPoint(path)).toBe(true)
    await removeOtherVolumes(directory, () => false)
    expect(await mountsBelow(directory)).toEqual([])
    expect(readdirSync(directory)).toEqual([])
  })

  it('gives its memory back before its pod goes', async () => {
    const { directory, path, mount } = start()
    await mount()
    writeFileSync(join(path, 'lost'), '')
    await freeMemory(directory, uid)
    expect(await mountsBelow(directory)).toEqual([])
    expect(readdirSync(path)).toEqual([])
  })

  it('takes nothing with it of what a container has mounted in it and shared', async () => {
    const { directory, path, mount } = start()
    const { execFileSync } = await import('node:child_process')
    const elsewhere = temporaryDirectory()
    writeFileSync(join(elsewhere, 'mine'), '')
    await mount()
    mkdirSync(join(path, 'shared'))
    execFileSync('mount', ['--bind', elsewhere, join(path, 'shared')])
    onTestFinished(() => unmount(join(path, 'shared')).catch(() => {}))
    await unmountVolumes(uid, { directory })
    expect(existsSync(join(directory, uid))).toBe(false)
    expect(readdirSync(elsewhere)).toEqual(['mine'])
  })
})

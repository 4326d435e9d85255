import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { LocalVolumeDirectories } from './local-volume-directories.ts'

let data: string
let directories: LocalVolumeDirectories

beforeEach(() => {
  data = temporaryDirectory()
  directories = new LocalVolumeDirectories(data)
})

const rootOf = (node: string) => join(data, 'kubelet', node, 'volumes')

describe('the directory of a volume', () => {
  it('is made below the data directory, for whoever a container runs as, where nobody else gets, and once', async () => {
    const path = await directories.create('n1', 'pvc-1')
    expect(path).toBe(join(rootOf('n1'), 'pvc-1'))
    expect(statSync(path).mode & 0o777).toBe(0o777)
    expect(statSync(rootOf('n1')).mode & 0o777).toBe(0o700)
    expect(readdirSync(rootOf('n1'))).toEqual(['pvc-1'])
    chmodSync(path, 0o700)
    writeFileSync(join(path, 'kept'), 'x')
    expect(await directories.create('n1', 'pvc-1')).toBe(path)
    expect(readFileSync(join(path, 'kept'), 'utf8')).toBe('x')
    expect(statSync(path).mode & 0o777).toBe(0o700)
  })

  it('goes with all that is in it, and what links in it point to stays', async () => {
    const path = await directories.create('n1', 'pvc-1')
    const other = await directories.create('n1', 'pvc-2')
    writeFileSync(join(other, 'precious'), 'x')
    mkdirSync(join(path, 'deep', 'er'), { recursive: true })
    symlinkSync(other, join(path, 'deep', 'link'))
    await directories.remove('n1', 'pvc-1', path)
    expect(existsSync(path)).toBe(false)
    expect(existsSync(join(other, 'precious'))).toBe(true)
    await directories.remove('n1', 'pvc-1', path)
  })

  it.each(['/etc', '/', '../pvc-2', ''])('is not what a volume says that says %j', async (path) => {
    const own = await directories.create('n1', 'pvc-1')
    await expect(directories.remove('n1', 'pvc-1', path)).rejects.toThrow(/pvc-1 is not deleted: it says it is/)
    expect(existsSync(own)).toBe(true)
  })

  it('is not a link that a container has put in its place', async () => {
    const path = await directories.create('n1', 'pvc-1')
    const other = await directories.create('n1', 'pvc-2')
    renameSync(path, `${path}.old`)
    symlinkSync(other, path)
    await expect(directories.remove('n1', 'pvc-1', path)).rejects.toThrow('is not a directory')
    await expect(directories.create('n1', 'pvc-1')).rejects.toThrow()
    expect(existsSync(other)).toBe(true)
  })

  it('is not below a link that a container has put in place of what holds them all', async () => {
    const path = await directories.create('n1', 'pvc-1')
    const elsewhere = temporaryDirectory()
    mkdirSync(join(elsewhere, 'pvc-1'))
    renameSync(rootOf('n1'), `${rootOf('n1')}.old`)
    symlinkSync(elsewhere, rootOf('n1'))
    await expect(directories.remove('n1', 'pvc-1', path)).rejects.toThrow('is not a directory')
    expect(existsSync(join(elsewhere, 'pvc-1'))).toBe(true)
  })

  it.each(['..', '.', 'a/b', '', 'A'])('is not made for a volume called %j', async (name) => {
    await expect(directories.create('n1', name)).rejects.toThrow('cannot be the name of a directory')
  })

  it('says what is the matter where it cannot be made', async () => {
    writeFileSync(join(data, 'kubelet'), 'a file')
    await expect(directories.create('n1', 'pvc-1')).rejects.toThrow(/ENOTDIR|EEXIST/)
  })
})

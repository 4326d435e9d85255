import { join } from 'node:path'
import { seededRandom } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFlags } from '../test/open-flags.ts'
import { PowerLostError, SimulatedDisk } from '../test/simulated-disk.ts'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { hostFiles } from './durable-files.ts'
import { StoreDamagedError } from './errors.ts'
import { checkIdentity, keepIdentity } from './store-identity-file.ts'

const path = '/data/store-id'
const identity = Buffer.alloc(16, 7)
const other = Buffer.alloc(16, 8)
const emptyDisk = (seed = 1) => new SimulatedDisk(seededRandom(seed), 512)

describe('the file that remembers a store', () => {
  it('knows that store again', async () => {
    const disk = emptyDisk()
    await keepIdentity(disk, path, identity)
    await checkIdentity(disk, '/data/store', path, identity)
  })

  it('refuses another store, and none', async () => {
    const disk = emptyDisk()
    await keepIdentity(disk, path, identity)
    await expect(checkIdentity(disk, '/data/store', path, other)).rejects.toThrow(
      new StoreDamagedError(
        '/data/store',
        `it is another store than ${path} says (remove that file to go on with what is there)`,
      ),
    )
    await expect(checkIdentity(disk, '/data/store', path, undefined)).rejects.toThrow(
      new StoreDamagedError(
        '/data/store',
        `it is missing or empty, and ${path} says that there was one (remove that file to go on with what is there)`,
      ),
    )
  })

  it('takes whatever is there when it is missing itself', async () => {
    const disk = emptyDisk()
    await checkIdentity(disk, '/data/store', path, identity)
    await checkIdentity(disk, '/data/store', path, undefined)
  })

  it('is left alone once it is there', async () => {
    const disk = emptyDisk()
    await keepIdentity(disk, path, identity)
    await keepIdentity(disk, path, other)
    await checkIdentity(disk, '/data/store', path, identity)
  })

  it('is there after a loss of power once it has been made', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const disk = emptyDisk(seed)
      await keepIdentity(disk, path, identity)
      await expect(checkIdentity(disk.restart(), '/data/store', path, undefined)).rejects.toThrow(StoreDamagedError)
    }
  })

  it('is whole or missing, wherever the power went while it was made', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const disk = emptyDisk(seed)
      disk.loseAfter(seed % 7)
      await keepIdentity(disk, path, identity).catch((error: unknown) => {
        if (!(error instanceof PowerLostError)) throw error
      })
      await checkIdentity(disk.restart(), '/data/store', path, identity)
    }
  })

  it.runIf(process.platform === 'linux')('is not kept open', async () => {
    const directory = temporaryDirectory()
    onTestFinished(() => directory.remove())
    const file = join(directory.path, 'store-id')
    await keepIdentity(hostFiles, file, identity)
    await checkIdentity(hostFiles, directory.path, file, identity)
    expect(openFlags(directory.path).size).toBe(0)
  })

  it('that cannot be read is no missing one', async () => {
    const unreadable = Object.assign(new Error('EACCES'), { code: 'EACCES' })
    const files = Object.assign(emptyDisk(), { open: () => Promise.reject(unreadable) })
    await expect(checkIdentity(files, '/data/store', path, identity)).rejects.toBe(unreadable)
    await expect(keepIdentity(files, path, identity)).rejects.toBe(unreadable)
  })
})

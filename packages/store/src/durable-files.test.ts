import { constants, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openFlags } from '../test/open-flags.ts'
import { replaceFs } from '../test/replaced-fs.ts'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { hostFiles } from './durable-files.ts'

let directory: ReturnType<typeof temporaryDirectory>
let path: string
const created = { create: true, synced: false }

beforeEach(() => {
  directory = temporaryDirectory()
  path = join(directory.path, 'file')
})
afterEach(() => {
  vi.restoreAllMocks()
  directory.remove()
})

/** What all handles of files have in common. */
async function handles(): Promise<FileHandle> {
  const handle = await open(directory.path, 'r')
  await handle.close()
  return Object.getPrototypeOf(handle)
}

const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text))

describe('a file of the host', () => {
  it('is made where that is asked for, for its owner alone', async () => {
    await expect(hostFiles.open(path, { create: false, synced: false })).rejects.toMatchObject({ code: 'ENOENT' })
    await (await hostFiles.open(path, created)).close()
    expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([0, 0o600])
  })

  it.each([false, true])('is written where it is told, and read as a whole; synced: %s', async (synced) => {
    const file = await hostFiles.open(path, { create: true, synced })
    await file.write(parts('abc', '', 'defg'), 0)
    await file.write(parts('X', 'Y'), 2)
    file.writeUnsynced(Buffer.from('Z'), 6)
    await file.sync()
    expect((await file.read()).toString()).toBe('abXYefZ')
    await file.close()
    const again = await hostFiles.open(path, { create: false, synced })
    expect((await again.read()).toString()).toBe('abXYefZ')
    await again.close()
  })

  it('keeps what it holds when it is opened', async () => {
    writeFileSync(path, 'before')
    const file = await hostFiles.open(path, created)
    expect((await file.read()).toString()).toBe('before')
    await file.close()
  })

  it('is written to the end where the system takes a part at a time', async () => {
    const file = await hostFiles.open(path, created)
    const prototype = await handles()
    const { write } = prototype
    vi.spyOn(prototype, 'writev').mockImplementationOnce(async function (this: FileHandle, buffers, position) {
      const { bytesWritten } = await Reflect.apply(write, this, [Buffer.from('abc'), 0, 3, position])
      return { bytesWritten, buffers }
    })
    vi.spyOn(prototype, 'write').mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      const [buffer, offset, length, position] = args as [Buffer, number, number, number]
      expect(offset + length).toBe(buffer.length)
      return Reflect.apply(write, this, [buffer, offset, 1, position])
    } as typeof write)
    await file.write(parts('ab', 'cd', 'efg'), 2)
    await file.close()
    expect(readFileSync(path, 'latin1')).toBe('\0\0abcdefg')
  })

  it('is read to the end where the system gives a part at a time, or less than there was', async () => {
    writeFileSync(path, 'abcdefg')
    const file = await hostFiles.open(path, created)
    const prototype = await handles()
    const { read } = prototype
    const reading = vi.spyOn(prototype, 'read').mockImplementation(async function (
      this: FileHandle,
      ...args: unknown[]
    ) {
      const [buffer, offset, length, position] = args as [Buffer, number, number, number]
      expect(offset + length).toBe(buffer.length)
      return Reflect.apply(read, this, [buffer, offset, 1, position])
    } as typeof read)
    expect((await file.read()).toString()).toBe('abcdefg')
    reading.mockImplementationOnce(async function (this: FileHandle, ...args: unknown[]) {
      truncateSync(path, 3)
      const [buffer, offset, , position] = args as [Buffer, number, number, number]
      return Reflect.apply(read, this, [buffer, offset, 1, position])
    } as typeof read)
    expect((await file.read()).toString()).toBe('abc')
    await file.close()
  })

  it.runIf(process.platform === 'linux')('asks the disk once for each write that is to be durable', async () => {
    const datasync = vi.spyOn(await handles(), 'datasync')
    for (const synced of [true, false]) {
      const file = await hostFiles.open(path, { create: true, synced })
      await file.write(parts('abc'), 0)
      expect(((openFlags(directory.path).get('file') ?? 0) & constants.O_DSYNC) !== 0).toBe(synced)
      await file.close()
    }
    expect(datasync).not.toHaveBeenCalled()
  })

  it('is written by one call for all parts where the system takes them, and synced when that is asked for', async () => {
    const file = await hostFiles.open(path, created)
    const prototype = await handles()
    const [write, sync] = [vi.spyOn(prototype, 'write'), vi.spyOn(prototype, 'sync')]
    await file.write(parts('ab', 'cd'), 0)
    expect([write.mock.calls.length, sync.mock.calls.length]).toEqual([0, 0])
    await file.sync()
    expect(sync).toHaveBeenCalledTimes(1)
    await file.close()
  })

  it('is written to the end without waiting where the system takes a part at a time', async () => {
    const file = await hostFiles.open(path, created)
    const original = writeSync
    const writeOne = (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      expect(offset + length).toBe(bytes.length)
      return original(fd, bytes, offset, 1, position)
    }
    onTestFinished(replaceFs({ writeSync: writeOne as typeof writeSync }))
    file.writeUnsynced(Buffer.from('abc'), 2)
    await file.close()
    expect(readFileSync(path, 'latin1')).toBe('\0\0abc')
  })

  it('takes the name of another', async () => {
    writeFileSync(path, 'new')
    writeFileSync(`${path}-old`, 'old')
    await hostFiles.rename(path, `${path}-old`)
    await hostFiles.syncDirectory(directory.path)
    expect(readFileSync(`${path}-old`, 'utf8')).toBe('new')
  })
})

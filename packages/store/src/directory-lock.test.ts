import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { type DirectoryLock, directoryOwner, lockDirectory } from './directory-lock.ts'
import { DirectoryInUseError } from './errors.ts'
import { processStart } from './process-start.ts'

let directory: ReturnType<typeof temporaryDirectory>
let path: string
const locks: DirectoryLock[] = []

beforeEach(() => {
  directory = temporaryDirectory()
  path = directory.path
})
afterEach(() => {
  for (const lock of locks.splice(0)) lock.release()
  directory.remove()
})

const lockHere = (): DirectoryLock => {
  const lock = lockDirectory(path)
  locks.push(lock)
  return lock
}

describe('a locked directory', () => {
  it('says who has it', () => {
    lockHere()
    const owner = JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'))
    expect(owner).toEqual({ pid: process.pid, host: hostname(), started: processStart() })
  })

  it.each([
    ['the process', { pid: 42 }, 'process 42'],
    ['the process on this host', { pid: 42, host: hostname() }, 'process 42'],
    ['the process and its host, where that is another', { pid: 42, host: 'web-1' }, 'process 42 of host web-1'],
    ['the process alone, where its host is no name', { pid: 42, host: 7 }, 'process 42'],
    ['no more than there is, where that is no process', { pid: '42', host: 'web-1' }, 'another process'],
    ['no more than there is, where that cannot be read', undefined, 'another process'],
  ])('is refused by the name of %s', (_, owner, name) => {
    lockHere()
    writeFileSync(join(path, 'owner.json'), owner === undefined ? '{' : JSON.stringify(owner))
    const message = `${path} is in use by ${name}; stop that process or choose another directory`
    expect(() => lockDirectory(path)).toThrow(expect.objectContaining({ name: 'DirectoryInUseError', owner: name }))
    expect(() => lockDirectory(path)).toThrow(message)
  })

  it('is free when it is released, and released once', () => {
    const lock = lockHere()
    lock.release()
    expect(readdirSync(path)).toEqual(['coracle.lock'])
    const next = lockHere()
    expect(next.takenOver).toBe(false)
    lock.release()
    expect(next.isInPlace()).toBe(true)
    expect(() => lockDirectory(path)).toThrow(DirectoryInUseError)
  })

  it('is free when it is released also where the name of its owner is gone', () => {
    const lock = lockHere()
    rmSync(join(path, 'owner.json'))
    lock.release()
    expect(lockHere().takenOver).toBe(false)
  })

  it('was taken over where its last owner did not let go', () => {
    writeFileSync(join(path, 'owner.json'), JSON.stringify({ pid: 42 }))
    expect(lockHere().takenOver).toBe(true)
    expect(JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8')).pid).toBe(process.pid)
  })

  it('is let go where its owner cannot be told', () => {
    mkdirSync(join(path, 'owner.json'))
    expect(() => lockDirectory(path)).toThrow(expect.objectContaining({ code: 'ERR_FS_EISDIR' }))
    rmSync(join(path, 'owner.json'), { recursive: true })
    lockHere()
  })

  it('knows when it has been removed or replaced', () => {
    path = join(directory.path, 'data')
    mkdirSync(path)
    const lock = lockHere()
    expect(lock.isInPlace()).toBe(true)
    renameSync(path, `${path}-aside`)
    expect(lock.isInPlace()).toBe(false)
    mkdirSync(path)
    const other = lockHere()
    expect([lock.isInPlace(), other.isInPlace()]).toEqual([false, true])
    // What the other has written stays.
    lock.release()
    expect(readdirSync(path).sort()).toEqual(['coracle.lock', 'owner.json'])
  })
})

describe('the owner of a directory', () => {
  it('is told by the lock, and gone when it is let go', () => {
    expect(directoryOwner(path)).toBeUndefined()
    const lock = lockHere()
    const owner = { pid: process.pid, host: undefined, started: processStart() }
    expect(directoryOwner(path)).toEqual(owner)
    // Asking has let nobody else in.
    expect(() => lockDirectory(path)).toThrow(DirectoryInUseError)
    lock.release()
    expect(directoryOwner(path)).toBeUndefined()
    expect(readdirSync(path)).toEqual(['coracle.lock'])
  })

  it('is not whoever a process that died has left the name of', () => {
    lockHere().release()
    writeFileSync(join(path, 'owner.json'), JSON.stringify({ pid: process.pid, host: hostname() }))
    expect(directoryOwner(path)).toBeUndefined()
  })

  it.each([
    ['its host, where that is another', JSON.stringify({ pid: 42, host: 'web-1', started: '7' }), 42, 'web-1', '7'],
    ['no start that is none', JSON.stringify({ pid: 42, started: 7 }), 42, undefined, undefined],
    ['nothing that cannot be read', '{', undefined, undefined, undefined],
  ])('tells %s', (_, text, pid, host, started) => {
    lockHere()
    writeFileSync(join(path, 'owner.json'), text)
    expect(directoryOwner(path)).toEqual({ pid, host, started })
  })

  it('is nobody where there is no directory', () => {
    expect(directoryOwner(join(path, 'missing'))).toBeUndefined()
  })
})

describe('a directory that cannot be locked', () => {
  it('is refused with what stands in the way', () => {
    mkdirSync(join(path, 'coracle.lock'))
    expect(() => lockDirectory(path)).toThrow(
      `${path} cannot be locked (coracle.lock: unable to open database file); choose a directory`,
    )
  })
  it('is refused with what stands in the lock file, which is left alone', () => {
    writeFileSync(join(path, 'coracle.lock'), 'something else, longer than a header of SQLite '.repeat(20))
    expect(() => lockDirectory(path)).toThrow(`${path} cannot be locked (coracle.lock: file is not a database)`)
    expect(statSync(join(path, 'coracle.lock')).size).toBe(940)
  })

  it('is refused with the error of the system where it is missing', () => {
    expect(() => lockDirectory(join(path, 'missing'))).toThrow(
      expect.objectContaining({ code: 'ENOENT', syscall: 'open' }),
    )
  })
})

import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFs } from '../test/replaced-fs.ts'
import { fileIdentity, makePrivateDirectory, syncDirectory } from './directories.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'directories-'))
})
afterEach(() => {
  rmSync(home, { recursive: true })
})

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

describe('makePrivateDirectory', () => {
  it('makes what is missing for its owner alone', () => {
    makePrivateDirectory(join(home, 'deep', 'data'))
    expect([modeOf(join(home, 'deep')), modeOf(join(home, 'deep', 'data'))]).toEqual(['700', '700'])
  })

  it('leaves the mode of a directory that exists', () => {
    const shared = join(home, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    makePrivateDirectory(shared)
    makePrivateDirectory(join(shared, 'data'))
    expect(modeOf(shared)).toBe('1777')
  })

  it('says what stands in the way', () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    const failure = (code: string) => expect.objectContaining({ code })
    expect(() => makePrivateDirectory(file)).toThrow(failure('EEXIST'))
    expect(() => makePrivateDirectory(join(file, 'data'))).toThrow(failure('ENOTDIR'))
    if (process.platform === 'linux') expect(() => makePrivateDirectory('/proc/a/b')).toThrow(failure('ENOENT'))
  })
})

describe('makePrivateDirectory, by what it asks of the system,', () => {
  const original = { mkdirSync, openSync, fsyncSync, closeSync, statSync }
  let restore = () => {}
  afterEach(() => restore())

  /** What was done, in order; paths are those below `home`. */
  function record(changes: Partial<typeof original> = {}): string[] {
    const done: string[] = []
    const names = new Map<number, string>()
    const nameOf = (path: unknown) => String(path).slice(home.length) || '.'
    restore = replaceFs({
      mkdirSync: ((path: string, options: { readonly mode?: number }) => {
        original.mkdirSync(path, options)
        done.push(`make ${nameOf(path)} for ${options.mode?.toString(8)}`)
      }) as typeof mkdirSync,
      openSync: ((path: string, flags: string) => {
        const handle = original.openSync(path, flags)
        names.set(handle, nameOf(path))
        return handle
      }) as typeof openSync,
      fsyncSync: (handle) => {
        original.fsyncSync(handle)
        done.push(`sync ${names.get(handle)}`)
      },
      closeSync: (handle) => {
        original.closeSync(handle)
        done.push(`close ${names.get(handle)}`)
      },
      ...changes,
    })
    return done
  }

  const failWith = (code: string) => (): never => {
    throw Object.assign(new Error(code), { code })
  }

  it('lets nobody else in even for a moment, and makes each name durable', () => {
    const done = record()
    makePrivateDirectory(join(home, 'deep', 'data'))
    makePrivateDirectory(join(home, 'deep', 'data'))
    expect(done).toEqual([
      'make /deep for 700',
      'sync .',
      'close .',
      'make /deep/data for 700',
      'sync /deep',
      'close /deep',
    ])
  })

  it('takes one that somebody else has made meanwhile', () => {
    record({
      mkdirSync: ((path: string) => {
        original.mkdirSync(path, { mode: 0o755 })
        failWith('EEXIST')()
      }) as typeof mkdirSync,
    })
    makePrivateDirectory(join(home, 'data'))
    expect(modeOf(join(home, 'data'))).toBe('755')
  })

  it('does without syncing a directory that it may not read', () => {
    record({ openSync: failWith('EACCES') as typeof openSync })
    makePrivateDirectory(join(home, 'data'))
    expect(modeOf(join(home, 'data'))).toBe('700')
  })

  it('fails where syncing fails, and leaves nothing open', () => {
    const done = record({ fsyncSync: failWith('EIO') })
    expect(() => makePrivateDirectory(join(home, 'data'))).toThrow('EIO')
    expect(done.at(-1)).toBe('close .')
  })

  it('fails below a root that is not there, as that of a drive', () => {
    record({
      mkdirSync: failWith('ENOENT') as typeof mkdirSync,
      statSync: (() => undefined) as unknown as typeof statSync,
    })
    expect(() => makePrivateDirectory('/')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  it('syncs nothing on Windows, where no directory can be opened for that', () => {
    const done = record()
    const platform = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
    try {
      syncDirectory(home)
    } finally {
      Object.defineProperty(process, 'platform', platform)
    }
    expect(done).toEqual([])
  })
})

describe('fileIdentity', () => {
  it('is that of a file, whatever its name, and of no other', () => {
    const [file, moved, other] = [join(home, 'file'), join(home, 'moved'), join(home, 'other')]
    writeFileSync(file, '')
    const identity = fileIdentity(file)
    renameSync(file, moved)
    writeFileSync(other, '')
    expect(identity).toBeDefined()
    expect([fileIdentity(moved), fileIdentity(file)]).toEqual([identity, undefined])
    expect(fileIdentity(other)).not.toBe(identity)
  })
})

import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileIdentity, makePrivateDirectory } from './directories.ts'

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

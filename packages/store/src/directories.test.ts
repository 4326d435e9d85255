import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePrivateDirectory } from './directories.ts'

let home: string
const umask = process.umask()
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'directories-'))
})
afterEach(() => {
  process.umask(umask)
  rmSync(home, { recursive: true })
})

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

describe('makePrivateDirectory', () => {
  it.each([0, 0o077, 0o277])('makes what is missing for its owner alone, under umask %o', (mask) => {
    process.umask(mask)
    makePrivateDirectory(join(home, 'deep', 'data'))
    expect([modeOf(join(home, 'deep')), modeOf(join(home, 'deep', 'data'))]).toEqual(['700', '700'])
  })

  it('leaves the mode of a directory that exists', () => {
    const shared = join(home, 'shared')
    process.umask(0)
    mkdirSync(shared, { mode: 0o1777 })
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

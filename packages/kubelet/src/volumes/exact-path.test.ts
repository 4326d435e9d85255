import { closeSync, existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { makeWithin, openExactly } from './exact-path.ts'

const needsLinux = { meta: { needs: 'Linux' } }

function directories() {
  const [volume, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  mkdirSync(join(elsewhere, 'in'))
  symlinkSync(elsewhere, join(volume, 'link'))
  return { volume, elsewhere }
}

describe.skipIf(process.platform !== 'linux')('a path without links', needsLinux, () => {
  it('is opened, whatever is there', () => {
    const { volume } = directories()
    writeFileSync(join(volume, 'file'), '', { mode: 0o000 })
    for (const path of [volume, join(volume, 'file')]) {
      const handle = openExactly(path)
      expect(readlinkSync(`/proc/self/fd/${handle}`)).toBe(path)
      closeSync(handle)
    }
  })

  it.each(['link', 'link/in'])('is not, once it is %s', (way) => {
    expect(() => openExactly(join(directories().volume, way))).toThrow('link is a link')
  })

  it.each<['directory' | 'file']>([['directory'], ['file']])('is made: a %s, and once', (kind) => {
    const { volume } = directories()
    for (const _ of [1, 2]) makeWithin(volume, 'a/b/c', kind)
    expect(lstatSync(join(volume, 'a/b/c')).isDirectory()).toBe(kind === 'directory')
  })

  it('is made with directories of a mode, whatever the umask, and leaves that of what is there', () => {
    const { volume } = directories()
    mkdirSync(join(volume, 'a'), { mode: 0o700 })
    makeWithin(volume, 'a/b/c', 'directory', 0o2777)
    const modes = ['a', 'a/b', 'a/b/c'].map((way) => lstatSync(join(volume, way)).mode & 0o7777)
    expect(modes).toEqual([0o700, 0o2777, 0o2777])
  })

  it('is made nowhere else', () => {
    const { volume, elsewhere } = directories()
    expect(() => makeWithin(volume, 'link/new', 'directory')).toThrow('link is a link')
    expect(existsSync(join(elsewhere, 'new'))).toBe(false)
  })
})

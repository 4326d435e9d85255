import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { ContainerUser } from '../runtime.ts'
import { closedDirectory, openPassage } from './passage.ts'

const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

function privateDirectories(...names: readonly string[]): readonly string[] {
  let path = temporaryDirectory()
  return names.map((name) => {
    path = join(path, name)
    mkdirSync(path, { mode: 0o700 })
    chmodSync(path, 0o700)
    return path
  })
}

it('lets others pass the directories down to one, and changes nothing else of them', () => {
  const [outside = '', top = '', middle = '', last = '', below = ''] = privateDirectories('o', 't', 'm', 'l', 'b')
  chmodSync(middle, 0o2750)
  openPassage(top, last)
  expect([outside, top, middle, last, below].map(modeOf)).toEqual(['700', '711', '2751', '711', '700'])
})

it('opens the directory itself', () => {
  const [top = '', below = ''] = privateDirectories('t', 'b')
  openPassage(top, top)
  expect([top, below].map(modeOf)).toEqual(['711', '700'])
})

it('changes nothing elsewhere', () => {
  const [first = '', second = ''] = privateDirectories('a', 'b')
  openPassage(second, first)
  expect([first, second].map(modeOf)).toEqual(['700', '700'])
})

it('lets only its group pass a gate', () => {
  const [top = '', gate = '', below = ''] = privateDirectories('t', 'g', 'b')
  openPassage(top, below, { directory: gate, group: own.gid })
  expect([top, gate, below].map(modeOf)).toEqual(['711', '710', '711'])
  expect(statSync(gate).gid).toBe(own.gid)
})

it('leaves a gate open that is so already', () => {
  const [top = '', gate = ''] = privateDirectories('t', 'g')
  chmodSync(gate, 0o755)
  openPassage(top, gate, { directory: gate, group: own.gid })
  expect(modeOf(gate)).toBe('755')
})

it('follows no link', () => {
  const [top = ''] = privateDirectories('t')
  const [elsewhere = '', secret = ''] = privateDirectories('e', 's')
  symlinkSync(elsewhere, join(top, 'link'))
  openPassage(top, join(top, 'link', 's'))
  openPassage(top, join(top, 'link'))
  expect([top, elsewhere, secret].map(modeOf)).toEqual(['711', '700', '700'])
})

const stranger: ContainerUser = { uid: own.uid + 1, gid: own.gid + 1, supplementalGroups: [] }

it.each<[string, number, ContainerUser, boolean]>([
  ['a stranger', 0o700, stranger, false],
  ['a stranger', 0o770, stranger, false],
  ['a stranger', 0o701, stranger, true],
  ['one of its group', 0o710, { ...stranger, gid: own.gid }, true],
  ['one of its group', 0o701, { ...stranger, gid: own.gid }, false],
  ['one with its group among others', 0o710, { ...stranger, supplementalGroups: [own.gid] }, true],
  ['root', 0o000, { ...stranger, uid: 0 }, true],
])('%s may pass a directory with mode %o: %o', (_, mode, user, may) => {
  const [outer = '', closed = '', inner = ''] = privateDirectories('o', 'c', 'i')
  chmodSync(join(outer, '..'), 0o711)
  chmodSync(outer, 0o711)
  chmodSync(closed, mode)
  chmodSync(inner, 0o711)
  expect(closedDirectory(inner, user)).toBe(may ? undefined : closed)
  chmodSync(closed, 0o700)
})

it.skipIf(own.uid !== 0)('an owner may pass where it has the right', { meta: { needs: 'root' } }, () => {
  const [outer = '', closed = ''] = privateDirectories('o', 'c')
  for (const path of [join(outer, '..'), outer]) chmodSync(path, 0o711)
  chownSync(closed, stranger.uid, own.gid)
  expect(closedDirectory(closed, stranger)).toBeUndefined()
  chmodSync(closed, 0o077)
  expect(closedDirectory(closed, stranger)).toBe(closed)
})

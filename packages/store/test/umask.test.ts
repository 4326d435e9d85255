import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makePrivateDirectory } from '../src/directories.ts'
import { lockDirectory } from '../src/index.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const umask = process.umask()
let directory: ReturnType<typeof temporaryDirectory>

beforeEach(() => {
  directory = temporaryDirectory()
})
afterEach(() => {
  process.umask(umask)
  directory.remove()
})

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

it.each([0, 0o077, 0o277])('directories are made for their owner alone under umask %o', (mask) => {
  const deep = join(directory.path, 'deep')
  process.umask(mask)
  makePrivateDirectory(join(deep, 'data'))
  expect([modeOf(deep), modeOf(join(deep, 'data'))]).toEqual(['700', '700'])
})

it('the files of a lock are for their owner alone', () => {
  process.umask(0)
  const lock = lockDirectory(directory.path)
  const modes = readdirSync(directory.path).map((name) => [name, modeOf(join(directory.path, name))])
  lock.release()
  expect(modes.sort()).toEqual([
    ['coracle.lock', '600'],
    ['owner.json', '600'],
  ])
})

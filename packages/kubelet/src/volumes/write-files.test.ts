import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { writeFiles } from './write-files.ts'

let directory: string
beforeEach(() => {
  directory = join(temporaryDirectory(), 'volume')
})

const file = (path: string, text: string, mode = 0o644) => ({ path, data: Buffer.from(text), mode })
const read = (path: string) => readFileSync(join(directory, path), 'utf8')
const shown = () => readdirSync(directory).filter((name) => !name.startsWith('..'))

describe('the files that a directory shows', () => {
  it('are those that were given, with their modes', async () => {
    await writeFiles(directory, [file('a', '1', 0o600), file('b/c', '2')])
    expect([shown(), read('a'), read('b/c')]).toEqual([['a', 'b'], '1', '2'])
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o600)
  })

  it('change all at once, by one link', async () => {
    await writeFiles(directory, [file('a', '1'), file('gone', '')])
    const before = readlinkSync(join(directory, '..data'))
    await writeFiles(directory, [file('a', '2'), file('new', '3')])
    expect(readlinkSync(join(directory, 'a'))).toBe('..data/a')
    expect(readlinkSync(join(directory, '..data'))).not.toBe(before)
    expect([shown(), read('a'), read('new')]).toEqual([['a', 'new'], '2', '3'])
    expect(readdirSync(directory)).not.toContain(before)
  })

  it.each([
    ['nothing has changed', [file('a', '1')], true],
    ['a text has', [file('a', '2')], false],
    ['a mode has', [file('a', '1', 0o600)], false],
    ['a file is new', [file('a', '1'), file('b', '1')], false],
    ['all are gone', [], false],
  ] as const)('stay where they are if %s', async (_, files, stay) => {
    await writeFiles(directory, [file('a', '1')])
    const before = readlinkSync(join(directory, '..data'))
    await writeFiles(directory, files)
    expect(readlinkSync(join(directory, '..data')) === before).toBe(stay)
    expect(shown()).toEqual(files.map(({ path }) => path))
  })

  it('are whole after a writing that was broken off', async () => {
    mkdirSync(join(directory, '..begun'), { recursive: true })
    await writeFiles(directory, [file('a', '1')])
    expect(read('a')).toBe('1')
    expect(readdirSync(directory)).not.toContain('..begun')
  })
})

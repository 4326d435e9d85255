import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbStore } from '@coracle/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

describe('doctor', () => {
  let home: string
  let store: string

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'doctor-'))
    store = join(home, '.coracle', 'store')
    await write('a')
  })

  afterEach(() => rmSync(home, { recursive: true }))

  async function write(key: string): Promise<void> {
    const opened = await openLmdbStore({ directory: store })
    await opened.commit({ conditions: [], operations: [{ type: 'put', key, value: Buffer.from(`value of ${key}`) }] })
    await opened.close()
  }

  const doctor = (...args: string[]) => runCommand(['doctor', ...args], { workingDirectory: home })

  it('says that a store is whole', async () => {
    expect(await doctor()).toEqual({
      code: 0,
      stdout: `the store in ${store} is whole, up to revision 1\n`,
      stderr: '',
    })
  })

  it('says what is damaged and what to do, and goes on without it when told to', async () => {
    const file = join(store, 'data.mdb')
    const bytes = readFileSync(file)
    // Once in the table, once in the history.
    for (let at = bytes.indexOf('value of a'); at >= 0; at = bytes.indexOf('value of a')) bytes[at] = 63
    writeFileSync(file, bytes)
    const found =
      `the store in ${store} is damaged:\n` +
      '  the value of "a" is not as it was written\n' +
      '  a part of the history, which watches may ask for, is not as it was written\n' +
      'everything else up to revision 1 is whole\n'
    expect(await doctor('--data-dir', '.coracle')).toEqual({
      code: 1,
      stdout: found,
      stderr: `error: restore ${store} from a backup, or go on without what is damaged: coracle doctor --repair\n`,
    })
    expect(await doctor('--repair')).toEqual({
      code: 0,
      stdout: `${found}Repaired: the cluster goes on without what is damaged.\n`,
      stderr: '',
    })
    expect((await doctor()).stdout).toBe(`the store in ${store} is whole, up to revision 1000001\n`)
  })

  it('says how far a store is whole whose journal ends too soon', async () => {
    rmSync(join(store, 'journal-mark'))
    expect((await doctor()).stdout).toMatch(
      /journal-mark is missing\n.* revision 1 is whole; what came after is lost, 1 is the last revision there is a trace of\n/,
    )
  })

  it('names a directory that holds no store', async () => {
    rmSync(store, { recursive: true })
    expect((await doctor()).stderr).toMatch(/the store in .* is damaged: it is missing/)
  })
})

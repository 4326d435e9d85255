import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDirectory, openLmdbStore } from '@coracle/store'
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

  it('says where no cluster was ever started, and makes nothing there', async () => {
    expect(await doctor('--name', 'never')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: no cluster was ever started in .coracle/clusters/never: begin with `coracle up --name never`\n',
    })
    expect(existsSync(join(home, '.coracle', 'clusters'))).toBe(false)
    rmSync(store, { recursive: true })
    expect((await doctor()).stderr).toMatch(/^error: no cluster was ever started in .coracle: /)
    mkdirSync(join(home, '.coracle', 'clusters', 'staging'), { recursive: true })
    expect((await doctor()).stderr).toMatch(/^error: no cluster was ever started in .coracle: /)
    expect(existsSync(join(home, '.coracle', 'coracle.lock'))).toBe(false)
  })

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
    writeFileSync(join(home, '.coracle', 'kubeconfig'), '')
    expect((await doctor()).stderr).toMatch(/the store in .* is damaged: it is missing/)
  })

  it('says that the cluster runs', async () => {
    const lock = lockDirectory(join(home, '.coracle'))
    const text = `a cluster runs in .coracle (process ${process.pid}): stop it with \`coracle down\``
    expect(await doctor()).toEqual({ code: 0, stdout: `${text} to have its store examined\n`, stderr: '' })
    expect(await doctor('--repair')).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${text} before anything is repaired\n`,
    })
    lock.release()
  })

  describe('of a directory that a server was on', () => {
    const record = {
      version: '0.0.1',
      pid: 1,
      url: 'https://127.0.0.1:1',
      startedAt: '2026-11-22T07:00:00Z',
      stoppedAt: '2026-11-22T08:00:00Z',
      store: 'disk',
      runtime: 'process',
      isDetached: true,
    }
    const findings = async (changes: object) => {
      writeFileSync(join(home, '.coracle', 'server.json'), JSON.stringify({ ...record, ...changes }))
      const { stdout } = await doctor()
      return stdout.replace(/the store in .* is whole.*\n/, '')
    }

    it.each([
      ['nothing where it was stopped in order', {}, ''],
      [
        'that it was killed',
        { stoppedAt: undefined },
        'the server that was started at 2026-11-22T07:00:00Z has ended without having been stopped: ' +
          'its pods may run on, and the next start takes them up\n',
      ],
      [
        'that a newer version was there',
        { version: '99.0.0' },
        'it was last used by version 99.0.0, which is newer than this one, 0.1.0: use that one\n',
      ],
      [
        'where the objects are instead',
        { store: 'etcd' },
        'objects were kept in an etcd the last time: start it with the same --store\n',
      ],
    ])('says %s', async (_, changes, text) => {
      expect(await findings(changes)).toBe(text)
    })

    it('says who has its port now', async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      expect(await findings({ url: `https://127.0.0.1:${port}` })).toContain(
        `port ${port}, which it served on, is in use by process ${process.pid} (`,
      )
      server.close()
    })
  })
})

import { chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let path: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
  path = join(directory, 'config')
})

afterEach(() => rm(directory, { recursive: true }))

const config = (...args: readonly string[]) =>
  runCommand(['config', '--kubeconfig', path, ...args], { workingDirectory: directory })

describe('a kubeconfig that is changed', () => {
  it('takes base64 in lines, as the command of that name writes it', async () => {
    const set = (value: string) => config('set', 'clusters.a.certificate-authority-data', value)
    expect(await set('Y2VydGlm\naWNhdGU=\n')).toMatchObject({ code: 0 })
    expect(await readFile(path, 'utf8')).toContain('certificate-authority-data: Y2VydGlmaWNhdGU=\n')
    expect(await set('Y2Vy_GlmaWNhdGU=')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('illegal base64 data at input byte 4'),
    })
  })

  it('has no fields but its own', async () => {
    expect(await config('set', 'constructor.a', 'b')).toMatchObject({
      code: 1,
      stderr: 'error: unable to parse constructor.a after [] at api.Config\n',
    })
    expect(await config('set', 'users.me.exec.toString', 'b')).toMatchObject({
      code: 1,
      stderr: 'error: unable to parse one or more field values of users.me.exec.toString\n',
    })
    await config('set', 'users.constructor.token', 'b')
    expect(await readFile(path, 'utf8')).toContain('- name: constructor\n  user:\n    token: b\n')
  })

  it('can be read by its owner alone, and nothing is left beside it', async () => {
    await config('set-credentials', 'me', '--token=secret')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(directory)).toEqual(['config'])
  })

  it('keeps who may read it, and whose it is', async () => {
    await writeFile(path, '', { mode: 0o640 })
    // Only root may give it to somebody else.
    const owner = process.getuid?.() === 0 ? 4711 : process.getuid?.()
    if (owner === 4711) await chown(path, owner, owner)
    await config('set-context', 'a')
    const { mode, uid } = await stat(path)
    expect([mode & 0o777, uid]).toEqual([0o640, owner])
    expect(await readFile(path, 'utf8')).toContain('name: a')
  })

  it('is not touched while somebody else changes it', async () => {
    await writeFile(`${path}.lock`, '')
    expect(await config('set-context', 'a')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`remove ${path}.lock if that has died`),
    })
    expect(await readdir(directory)).toEqual(['config.lock'])
  })

  it('stays where a link points to', async () => {
    await symlink(join(directory, 'real'), path)
    await writeFile(join(directory, 'real'), '')
    await config('set-context', 'a')
    expect(await readFile(join(directory, 'real'), 'utf8')).toContain('name: a')
    expect(await readFile(path, 'utf8')).toContain('name: a')
  })

  it('keeps what is not known here', async () => {
    await writeFile(
      path,
      'extensions: [{name: e, extension: {a: 1}}]\nclusters: [{name: c, cluster: {server: s, future: 1}}]',
    )
    await config('set-cluster', 'c', '--server=t')
    expect(await readFile(path, 'utf8')).toBe(`apiVersion: v1
clusters:
- cluster:
    future: 1
    server: t
  name: c
contexts: null
current-context: ""
extensions:
- extension:
    a: 1
  name: e
kind: Config
users: null
`)
  })

  it('is not written where nothing is different', async () => {
    await writeFile(path, '# mine\nclusters: [{name: c, cluster: {server: s}}]')
    await config('set-cluster', 'c', '--server=s')
    expect(await readFile(path, 'utf8')).toMatch(/^# mine/)
  })
})

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { configMaps } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Host } from '../host.ts'
import { runProgram } from '../run-program.ts'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'edit-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
})
afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: '1', b: '2' } }

/** Applies the object anew, so that each test begins with the same. */
async function begin(): Promise<void> {
  await cluster.client.delete(configMaps, { namespace: 'default', name: 'settings' }).catch(() => undefined)
  await coracle('apply -f -', { stdin: JSON.stringify(settings) })
}

function coracle(line: string, { stdin = '', program = runProgram as Host['runProgram'] } = {}) {
  return runCommand(line.split(' '), { workingDirectory: directory, stdin, runProgram: program })
}

/** An editor that changes the file it is given, once for each of these. */
function editor(...edits: readonly ((text: string) => string)[]): Host['runProgram'] {
  const left = [...edits]
  return async (_command, args) => {
    const path = args.at(-1) ?? ''
    const text = await readFile(path, 'utf8')
    await writeFile(path, (left.shift() ?? ((same: string) => same))(text))
    return { code: 0, stdout: '', stderr: '' }
  }
}

const stored = () => cluster.client.get(configMaps, { namespace: 'default', name: 'settings' })

describe('apply edit-last-applied', () => {
  const noted = async () => (await coracle('apply view-last-applied cm/settings')).stdout

  it('changes what counts as applied, and nothing else', async () => {
    await begin()
    const program = editor((text) => text.replace('a: "1"', 'a: "7"'))
    expect(await coracle('apply edit-last-applied cm/settings', { program })).toMatchObject({
      code: 0,
      stdout: 'configmap/settings edited\n',
    })
    expect(await noted()).toContain('"7"')
    const { data } = await cluster.client.get(configMaps, { namespace: 'default', name: 'settings' })
    expect(data).toEqual({ a: '1', b: '2' })
  })

  it('opens again, with why, where another object is saved, and leaves what was refused in a file', async () => {
    await begin()
    const program = editor((text) => text.replace('name: settings', 'name: other'))
    const { code, stderr } = await coracle('apply edit-last-applied cm/settings', { program })
    expect([code, stderr]).toEqual([1, expect.stringContaining('no valid changes were saved')])
    await rm(dirname(/changes are in (.*)\n/.exec(stderr)?.[1] ?? ''), { recursive: true })
    expect(await noted()).not.toContain('other')
  })

  it('says where nothing was applied', async () => {
    await coracle('create configmap own --from-literal=a=1')
    const { code, stderr } = await coracle('apply edit-last-applied cm/own', { program: editor() })
    expect([code, stderr]).toEqual([1, expect.stringContaining('no last-applied-configuration annotation found')])
  })
})

describe('edit', () => {
  it('saves what was changed in the editor', async () => {
    await begin()
    const outcome = await coracle('edit cm settings', { program: editor((text) => text.replace('a: "1"', 'a: "one"')) })
    expect(outcome).toEqual({ code: 0, stdout: 'configmap/settings edited\n', stderr: '' })
    expect((await stored()).data).toEqual({ a: 'one', b: '2' })
  })

  it('changes nothing where the file is left as it was, or emptied', async () => {
    await begin()
    const { resourceVersion } = (await stored()).metadata
    for (const [leave, reason] of [
      [(text: string) => text, 'no changes made'],
      [() => '', 'saved file was empty'],
    ] as const) {
      const { code, stderr } = await coracle('edit cm settings', { program: editor(leave) })
      expect([code, stderr]).toEqual([0, `Edit cancelled, ${reason}.\n`])
    }
    expect((await stored()).metadata.resourceVersion).toBe(resourceVersion)
  })

  it('opens the file again, with the reason, where the server refuses it', async () => {
    await begin()
    let seen = ''
    const program = editor(
      (text) => text.replace('a: "1"', '"a key": "1"'),
      (text) => {
        seen = text
        return text.replace('"a key": "1"', 'a_key: "1"')
      },
    )
    const { code, stdout } = await coracle('edit cm settings', { program })
    expect([code, stdout]).toEqual([0, 'configmap/settings edited\n'])
    expect(seen).toMatch(/^# configmaps "settings" was not valid:\n# \* The ConfigMap "settings" is invalid/m)
    expect((await stored()).data).toEqual({ a_key: '1', b: '2' })
  })

  it('keeps changes that stay refused in a file, which it names', async () => {
    await begin()
    const { code, stderr } = await coracle('edit cm settings', {
      program: editor((text) => text.replace('a: "1"', '"a key": "1"')),
    })
    const [, path = ''] =
      /^error: Edit cancelled, no valid changes were saved: your changes are in (.+)\n$/.exec(stderr) ?? []
    expect(code).toBe(1)
    expect(await readFile(path, 'utf8')).toContain('"a key": "1"')
    await rm(dirname(path), { recursive: true })
  })

  it('refuses to make another object of it', async () => {
    await begin()
    const { stderr } = await coracle('edit cm settings', {
      program: editor((text) => text.replace('name: settings', 'name: other')),
    })
    const [, path = ''] = /no valid changes were saved: your changes are in (.+)\n$/.exec(stderr) ?? []
    expect(await readFile(path, 'utf8')).toContain('# * error: At least one of apiVersion, kind and name was changed')
    await rm(dirname(path), { recursive: true })
    expect((await stored()).data).toEqual(settings.data)
  })
})

describe('diff', () => {
  it('shows what apply would change, and changes nothing', async () => {
    await begin()
    const { resourceVersion } = (await stored()).metadata
    const changed = JSON.stringify({ ...settings, data: { a: '1', c: '3' } })
    const { code, stdout, stderr } = await coracle('diff -f -', { stdin: changed })
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/^[-+]{3} .*v1\.ConfigMap\.default\.settings/m)
    expect(stdout.split('\n').filter((line) => /^[-+] {2}\w:/.test(line))).toEqual(['-  b: "2"', '+  c: "3"'])
    expect((await stored()).metadata.resourceVersion).toBe(resourceVersion)
  })

  it('says nothing where nothing would change', async () => {
    await begin()
    expect(await coracle('diff -f -', { stdin: JSON.stringify(settings) })).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('tells a failure from a difference', async () => {
    expect(await coracle('diff -f -', { stdin: 'kind: Nothing\napiVersion: v1\nmetadata: { name: a }' })).toMatchObject(
      {
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('Nothing'),
      },
    )
    expect(await coracle('diff')).toMatchObject({ code: 2, stderr: 'error: must specify one of -f and -k\n' })
  })

  it('shows an object that is not there as all new', async () => {
    const made = JSON.stringify({ ...settings, metadata: { name: 'made' } })
    const { code, stdout } = await coracle('diff -f - --server-side', { stdin: made })
    expect([code, stdout]).toEqual([1, expect.stringContaining('+kind: ConfigMap')])
  })

  it('does not show what Secrets hold', async () => {
    const secret = (value: string) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { key: value } })
    await coracle('apply -f - --server-side', { stdin: secret('one') })
    const { stdout } = await coracle('diff -f - --server-side', { stdin: secret('two') })
    expect(stdout).toContain("-  key: '*** (before)'\n+  key: '*** (after)'\n")
    expect(stdout).not.toMatch(/b25l|dHdv/)
  })
})

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** The message about a file in which changes are kept, and what follows it. */
const keptFile = /^A copy of your changes has been stored to "([^"]*)"\n(.*)$/s

/** What such a file has; it is taken away. */
async function taken(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  await rm(path)
  return text
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

  it('leaves in a file what would be noted in an object that is not there', async () => {
    await begin()
    const program = editor((text) => text.replace('name: settings', 'name: other'))
    const { code, stderr } = await coracle('apply edit-last-applied cm/settings', { program })
    const [, path = '', told] = keptFile.exec(stderr) ?? []
    expect([code, told]).toEqual([1, 'Error from server (NotFound): configmaps "other" not found\n'])
    expect(await taken(path)).toContain('name: other')
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
      [(text: string) => text.replace('a: "1"', "a: '1'"), 'no changes made'],
      [() => '', 'saved file was empty'],
    ] as const) {
      const { code, stderr } = await coracle('edit cm settings --validate=ignore', { program: editor(leave) })
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
    expect(await coracle('edit cm settings', { program })).toEqual({
      code: 0,
      stdout: 'configmap/settings edited\n',
      stderr: 'error: configmaps "settings" is invalid\n',
    })
    expect(seen).toMatch(/^# configmaps "settings" was not valid:\n# \* data\[a key\]: Invalid value/m)
    expect((await stored()).data).toEqual({ a_key: '1', b: '2' })
  })

  it('keeps changes that stay refused in a file, which it names', async () => {
    await begin()
    const { code, stderr } = await coracle('edit cm settings', {
      program: editor((text) => text.replace('a: "1"', '"a key": "1"')),
    })
    const [, path = '', told] = keptFile.exec(stderr.replace('error: configmaps "settings" is invalid\n', '')) ?? []
    expect([code, told]).toEqual([1, 'error: Edit cancelled, no valid changes were saved.\n'])
    expect(await taken(path)).toContain('"a key": "1"')
  })

  it.each([
    ['another name', 'name: settings', 'name: other', 'error: At least one of apiVersion, kind and name was changed\n'],
    ['another identity', /uid: .*/, 'uid: x', 'error: no original object found for ConfigMap "settings"\n'],
    [
      'another namespace',
      'namespace: default',
      'namespace: other',
      `error: the namespace from the provided object "other" does not match the namespace "default". You must pass '--namespace=other' to perform this operation.\n`,
    ],
  ])('does not give an object %s', async (_, from, to, message) => {
    await begin()
    const { code, stderr } = await coracle('edit cm settings', { program: editor((text) => text.replace(from, to)) })
    const [, path = '', told] = keptFile.exec(stderr) ?? []
    expect([code, told]).toEqual([1, message])
    expect(await taken(path)).toContain(to)
    expect((await stored()).data).toEqual(settings.data)
  })

  it('says how to go on where the object has been changed or deleted meanwhile', async () => {
    const changedBy = (change: () => Promise<unknown>): Host['runProgram'] => {
      const edit = editor((text) =>
        text.replace('a: "1"', 'a: "2"').replace(/resourceVersion: .*/, 'resourceVersion: "1"'),
      )
      return async (...given) => {
        await change()
        return edit(...given)
      }
    }
    await begin()
    const changed = await coracle('edit cm settings', { program: changedBy(async () => {}) })
    const [, command = '', kept = ''] =
      /You can run `(coracle replace -f (\S+))` to try this update again\.\n$/.exec(changed.stderr) ?? []
    expect([changed.code, command]).toEqual([1, `coracle replace -f ${kept}`])
    expect(changed.stderr).toMatch(/^error: configmaps "settings" could not be patched: Operation cannot be fulfilled/)
    expect(await taken(kept)).toContain('a: "2"')

    const deleted = await coracle('edit cm settings', {
      program: changedBy(() => cluster.client.delete(configMaps, { namespace: 'default', name: 'settings' })),
    })
    const [, path = ''] =
      /^error: configmaps "settings" could not be found on the server\nThe edits you made on deleted resources have been saved to "(.*)"\n$/.exec(
        deleted.stderr,
      ) ?? []
    expect(deleted.code).toBe(1)
    expect(await taken(path)).toContain('a: "2"')
  })

  it('opens again, with why, what is no object any more', async () => {
    await begin()
    let seen = ''
    const program = editor(
      (text) => text.replace('kind: ConfigMap', ''),
      (text) => {
        seen = text
        return `${text}kind: ConfigMap\n`
      },
    )
    const { code, stderr } = await coracle('edit cm settings', { program })
    expect([code, stderr]).toEqual([0, 'error: configmaps "settings" is invalid\nEdit cancelled, no changes made.\n'])
    expect(seen).toMatch(/^# configmaps "settings" was not valid:\n# \* The edited file failed validation: .*kind/m)
  })

  it('tells of an editor that is not there, or fails', async () => {
    await begin()
    for (const [command, problem] of [
      ['coracle-no-such-editor', 'unable to launch the editor "coracle-no-such-editor"'],
      ['false --wait', 'there was a problem with the editor "false --wait"'],
      [`false '--wait'`, `there was a problem with the editor "/bin/sh -c false '--wait'"`],
    ] as const) {
      const variables = { KUBE_EDITOR: command, SHELL: '/bin/sh', PATH: process.env.PATH ?? '' }
      const { code, stderr } = await runCommand(['edit', 'cm', 'settings'], {
        ...{ workingDirectory: directory, runProgram, variables },
      })
      expect([code, stderr]).toEqual([1, `error: ${problem}\n`])
    }
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

  it('takes an empty KUBECTL_EXTERNAL_DIFF for none', async () => {
    await begin()
    const options = { workingDirectory: directory, variables: { KUBECTL_EXTERNAL_DIFF: '' }, runProgram }
    const stdin = JSON.stringify({ ...settings, data: { a: '2' } })
    expect(await runCommand(['diff', '-f', '-'], { ...options, stdin })).toMatchObject({ code: 1, stderr: '' })
  })

  it('passes on the arguments of KUBECTL_EXTERNAL_DIFF that are no more than words and dashes, after the directories', async () => {
    await begin()
    const ran: (readonly string[])[] = []
    const program: Host['runProgram'] = async (command, args) => {
      ran.push([command, ...args.map((each) => each.replace(/^\S*\/(LIVE|MERGED)-\w+$/, '$1'))])
      return { code: 0, stdout: '', stderr: '' }
    }
    const variables = { KUBECTL_EXTERNAL_DIFF: 'mine  -u --color=always ; $(id) --to=/etc' }
    const stdin = JSON.stringify({ ...settings, data: { a: '2' } })
    await runCommand(['diff', '-f', '-'], { workingDirectory: directory, variables, runProgram: program, stdin })
    expect(ran).toEqual([['mine', 'LIVE', 'MERGED', '-u', '--color=always']])
  })

  it.each([
    ['ls', 'exit status 2', expect.stringMatching(/^ls: .*--colour.*error: failed to run "ls": exit status 2\n$/s)],
    [
      'no-such-diff',
      'that it is not there',
      'error: failed to run "no-such-diff": executable file not found in $PATH\n',
    ],
  ])('tells of a program for differences that fails: %s, %s', async (program, _, stderr) => {
    await begin()
    const options = {
      workingDirectory: directory,
      variables: { KUBECTL_EXTERNAL_DIFF: `${program} --colour` },
      runProgram,
    }
    const stdin = JSON.stringify({ ...settings, data: { a: '2' } })
    expect(await runCommand(['diff', '-f', '-'], { ...options, stdin })).toMatchObject({ code: 2, stderr })
  })

  it('gives the terminal to the program that shows the differences', async () => {
    await begin()
    const captured: boolean[] = []
    const program: Host['runProgram'] = async (_command, _args, isCaptured) => {
      captured.push(isCaptured)
      return { code: 1, stdout: '', stderr: '' }
    }
    for (const isTerminal of [true, false]) {
      const stdin = JSON.stringify({ ...settings, data: { a: '2' } })
      await runCommand(['diff', '-f', '-'], { workingDirectory: directory, runProgram: program, stdin, isTerminal })
    }
    expect(captured).toEqual([false, true])
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
    const odd = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key' },
      data: { constructor: '' },
    })
    expect((await coracle('diff -f - --server-side', { stdin: odd })).stdout).toContain("+  constructor: '***'\n")
    const shown = await coracle('diff -f - --server-side --show-secrets', { stdin: secret('two') })
    expect(shown.stdout).toContain('-  key: b25l\n+  key: dHdv\n')
  })

  it('shows a Secret that is not there as null, unless all of it is shown, and adds no data to one without', async () => {
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new' } })
    const removed = async (line: string) =>
      (await coracle(line, { stdin })).stdout.split('\n').filter((each) => /^[-+](?!--|\+\+)/.test(each))
    const masked = await removed('diff -f -')
    expect(masked.slice(0, 2)).toEqual(['-null', '+apiVersion: v1'])
    expect(masked).not.toContainEqual(expect.stringMatching(/^.data/))
    expect((await removed('diff -f - --show-secrets'))[0]).toBe('+apiVersion: v1')
  })
})

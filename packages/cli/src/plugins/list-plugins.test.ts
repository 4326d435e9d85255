import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugins-'))
  for (const each of ['good', 'bad', 'bad/kubectl-directory']) await mkdir(join(directory, each))
  const programs = ['good/kubectl-foo', 'good/coracle-own', 'good/other', 'bad/kubectl-foo', 'bad/kubectl-config-view']
  for (const name of programs) await writeFile(join(directory, name), '#!/bin/sh\n', { mode: 0o755 })
  await writeFile(join(directory, 'bad/kubectl-plain'), '')
})
afterAll(() => rm(directory, { recursive: true }))

async function listed(path: readonly string[], ...flags: readonly string[]) {
  const variables = { PATH: path.map((each) => join(directory, each)).join(':') }
  const { code, stdout, stderr } = await runCommand(['plugin', 'list', ...flags], { variables })
  return { code, stdout: stdout.replaceAll(`${directory}/`, ''), stderr: stderr.replaceAll(`${directory}/`, '') }
}

const heading = 'The following compatible plugins are available:\n\n'

describe('the list of plugins', () => {
  it('has the files on PATH that are named as plugins', async () => {
    const stdout = `${heading}good/coracle-own\ngood/kubectl-foo\n`
    expect(await listed(['good', 'good'])).toEqual({ code: 0, stdout, stderr: '' })
  })

  it('has their names alone where that is asked for', async () => {
    expect(await listed(['good'], '--name-only')).toMatchObject({ stdout: `${heading}coracle-own\nkubectl-foo\n` })
  })

  it('tells what keeps them from being run', async () => {
    expect(await listed(['good', 'bad', 'none'])).toEqual({
      code: 1,
      stdout: `${heading}good/coracle-own\ngood/kubectl-foo\nbad/kubectl-config-view\nbad/kubectl-foo\nbad/kubectl-plain\n`,
      stderr: [
        '  - warning: kubectl-config-view overwrites existing command: "kubectl config view"',
        '  - warning: bad/kubectl-foo is overshadowed by a similarly named plugin: good/kubectl-foo',
        '  - warning: bad/kubectl-plain identified as a kubectl plugin, but it is not executable',
        'Unable to read directory "none" from your PATH: open none: no such file or directory. Skipping...',
        'error: 3 plugin warnings were found\n',
      ].join('\n'),
    })
    await rm(join(directory, 'good/kubectl-foo'))
    await rm(join(directory, 'bad/kubectl-config-view'))
    expect(await listed(['bad'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/one plugin warning was found\n$/),
    })
  })

  it('is an error where there is none', async () => {
    expect(await listed([])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: unable to find any kubectl plugins in your PATH\n',
    })
  })
})

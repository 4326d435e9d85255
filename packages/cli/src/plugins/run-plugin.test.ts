import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Host } from '../host.ts'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugins-'))
  for (const name of [
    'kubectl-foo',
    'kubectl-foo-bar_baz',
    'coracle-own',
    'kubectl-get',
    'kubectl-create-foo',
    'kubectl-create',
  ]) {
    await writeFile(join(directory, name), '#!/bin/sh\n', { mode: 0o755 })
  }
  await writeFile(join(directory, 'kubectl-plain'), '')
})
afterAll(() => rm(directory, { recursive: true }))

async function ran(args: readonly string[], code = 0) {
  const calls: unknown[] = []
  const result = await runCommand(args, {
    variables: { PATH: `/nowhere:${directory}` },
    runProgram: async (command, given) => {
      calls.push([command.replace(`${directory}/`, ''), given])
      return { code, stdout: '', stderr: '' }
    },
  })
  return { calls, ...result }
}

it.each([
  [['foo'], ['kubectl-foo', []]],
  [
    ['foo', 'x', '--flag', 'y'],
    ['kubectl-foo', ['x', '--flag', 'y']],
  ],
  [
    ['foo', 'bar-baz', '-n', 'z'],
    ['kubectl-foo-bar_baz', ['-n', 'z']],
  ],
  [['own'], ['coracle-own', []]],
  [
    ['create', 'foo', 'x', '-n', 'y'],
    ['kubectl-create-foo', ['x', '-n', 'y']],
  ],
])('%j runs a program on PATH', async (args, call) => {
  expect(await ran(args)).toEqual({ calls: [call], code: 0, stdout: '', stderr: '' })
})

it.each([
  [{}, (home: string) => join(home, '.kube', 'config')],
  [{ KUBECONFIG: '/own' }, () => undefined],
])('is told of the kubeconfig that this program would use: %j', async (variables, expected) => {
  const homeDirectory = await mkdtemp(join(directory, 'home-'))
  let given: unknown
  const runProgram: Host['runProgram'] = async (_command, _args, _captured, more) => {
    given = more?.KUBECONFIG
    return { code: 0, stdout: '', stderr: '' }
  }
  await runCommand(['foo'], { variables: { PATH: directory, ...variables }, homeDirectory, runProgram })
  expect(given).toBe(expected(homeDirectory))
})

it('is told of the cluster of this directory', async () => {
  const workingDirectory = await mkdtemp(join(directory, 'work-'))
  await mkdir(join(workingDirectory, '.coracle'))
  await writeFile(join(workingDirectory, '.coracle', 'kubeconfig'), '')
  let given: unknown
  await runCommand(['foo'], {
    variables: { PATH: directory },
    workingDirectory,
    runProgram: async (_command, _args, _captured, variables) => {
      given = variables
      return { code: 0, stdout: '', stderr: '' }
    },
  })
  expect(given).toEqual({ KUBECONFIG: join(workingDirectory, '.coracle', 'kubeconfig') })
})

it('ends with the exit code of the program', async () => {
  expect(await ran(['foo'], 3)).toMatchObject({ code: 3, stderr: '' })
})

it('runs none in the place of a command, none that cannot be run, and none behind a flag', async () => {
  expect((await ran(['get', '--nosuch'])).calls).toEqual([])
  expect(await ran(['plain'])).toMatchObject({ calls: [], code: 1, stderr: expect.stringContaining('unknown command') })
  expect((await ran(['--nosuch', 'foo'])).calls).toEqual([])
  expect((await ran(['create', 'configmap'])).calls).toEqual([])
  expect((await ran(['create', 'plain'])).calls).toEqual([])
  expect((await ran(['-n', 'x', 'create', 'foo'])).calls).toEqual([])
  expect(await ran(['-n', 'x', 'foo'])).toMatchObject({
    calls: [],
    code: 1,
    stderr: 'Error: flags cannot be placed before plugin name: -n\n',
  })
})

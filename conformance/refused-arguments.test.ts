import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../packages/cli/src/testing/recording-host.ts'
import { kubectlCommands } from './support/kubectl-help.ts'
import type { Outcome } from './support/program.ts'
import { tools } from './support/tools.ts'

// What the command line refuses before it does anything, side by side with kubectl: exit codes and messages are equal.

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'refused-'))
})
afterAll(() => rm(home, { recursive: true }))

/** How many of kubectl run at the same time. */
const concurrency = 4

async function theirs(args: readonly string[]): Promise<Outcome> {
  const { kubectl } = await tools()
  return new Promise((resolve) => {
    execFile(kubectl, [...args], { env: { HOME: home, GOGC: 'off' } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

async function refusals(args: readonly string[]) {
  const environment = { homeDirectory: home, workingDirectory: home }
  const [expected, actual] = await Promise.all([theirs(args), runCommand(args, environment)])
  const told = ({ code, stderr }: Outcome) => [code, stderr.trimEnd().replaceAll('kubectl', 'coracle')]
  return { line: args.join(' '), expected: told(expected), actual: told(actual) }
}

/** Both refuse each of these lines in the same way. */
async function expectSame(lines: readonly (readonly string[])[]): Promise<void> {
  const queue = [...lines]
  const outcomes: Awaited<ReturnType<typeof refusals>>[] = []
  const worker = async () => {
    for (let line = queue.shift(); line !== undefined; line = queue.shift()) outcomes.push(await refusals(line))
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const show = (which: 'expected' | 'actual') =>
    Object.fromEntries(outcomes.map((each) => [each.line, each[which]] as const))
  expect(show('actual')).toEqual(show('expected'))
  expect(outcomes.filter(({ expected: [code] }) => code === 0)).toEqual([])
}

const flagsOfNobody = new Set(['--disable-compression', '--log-flush-frequency', '--match-server-version', '--vmodule'])

it('values that a flag cannot have, once for each flag', async () => {
  const commands = await kubectlCommands(new Set(['alpha', 'certificate', 'kustomize', 'plugin']))
  const lines = new Map<string, readonly string[]>()
  for (const { words, flags } of commands) {
    // Few of run's flags are those of a deletion, as kubectl's are.
    if (['alpha', 'certificate', 'kustomize', 'plugin', 'run'].includes(words[0] ?? '')) continue
    for (const { long, defaultText } of flags) {
      const isBoolean = defaultText === 'true' || defaultText === 'false'
      const isNumber = /^-?\d+$/.test(defaultText)
      const isKnown = !flagsOfNobody.has(long) && long !== '--help'
      const key = `${long} ${isBoolean}`
      if (isKnown && (isBoolean || isNumber) && !lines.has(key)) lines.set(key, [...words, `${long}=abc x`])
    }
  }
  expect(lines.size).toBeGreaterThan(50)
  await expectSame([...lines.values()])
})

it('flags that are not there, or lack their value', async () => {
  await expectSame([
    ['--nosuch'],
    ['--as'],
    ['get', '--nosuch=1'],
    ['get', '-Z'],
    ['get', 'pods', '-ZA'],
    ['get', 'pods', '-o'],
    ['get', 'pods', '--output'],
    ['get', 'pods', '-n'],
    ['create', 'deployment', '--image'],
    ['rollout', 'status', '--nosuch'],
    ['config', 'view', '--nosuch'],
    ['diff', '--nosuch'],
    ['diff', '-f'],
    ['diff', '--server-side=x'],
    ['logs', 'web', '--since=5'],
    ['logs', 'web', '--since=5x'],
    ['logs', 'web', '--tail=99999999999999999999'],
    ['exec', 'web', '--pod-running-timeout=soon', '--', 'true'],
    ['delete', 'pod', 'web', '--timeout=1h5'],
  ])
})

it('flags before a command that knows them not, or takes them for more than they are', async () => {
  await expectSame([
    ['-w', 'get'],
    ['-f'],
    ['-f', 'apply'],
    ['-o', 'wide', 'get'],
    ['--nosuch=1', 'get', 'pods'],
    ['-it', 'exec', 'web'],
    ['rollout', '-w', 'status', 'deployment', 'web'],
    ['config', '--minify', 'view'],
  ])
})

it('help, and no refusal, where nothing is named', async () => {
  for (const args of [
    ['--namespace=shop'],
    ['-n', 'shop', '--as', 'jane'],
    ['config', 'delete-context'],
    ['config', 'delete-context', 'a', 'b'],
    ['config', 'delete-cluster'],
  ]) {
    const [expected, actual] = await Promise.all([
      theirs(args),
      runCommand(args, { homeDirectory: home, workingDirectory: home }),
    ])
    expect([args, expected.code, expected.stdout]).toEqual([args, 0, expect.stringContaining('Usage:')])
    expect([args, actual.code, actual.stdout]).toEqual([args, 0, expect.stringContaining('Usage:')])
  }
})

it('commands that are not there', async () => {
  await expectSame([
    ['nosuchcommand'],
    ['rollout', 'nosuchcommand', 'web'],
    ['create', 'secret', 'nosuchcommand'],
    ['config', 'nosuchcommand'],
  ])
})

it('arguments that are too many, or too few', async () => {
  const many = ['a1', 'a2', 'a3', 'a4', 'a5']
  await expectSame([
    ['api-resources', ...many],
    ['api-versions', ...many],
    ['apply', ...many],
    ['apply', 'set-last-applied'],
    ['attach'],
    ['auth', 'can-i', 'get'],
    ['auth', 'reconcile', ...many],
    ['completion'],
    ['completion', ...many],
    ['config', 'delete-user', ...many],
    ['config', 'rename-context', 'one'],
    ['config', 'set', 'users.me.token'],
    ['config', 'set-cluster'],
    ['config', 'set-context', ...many],
    ['config', 'set-credentials', ...many],
    ['config', 'unset'],
    ['config', 'use-context', ...many],
    ['config', 'view', ...many],
    ['cordon'],
    ['cp', 'a'],
    ['cp', ...many],
    ['create', ...many],
    ['create', 'clusterrolebinding'],
    ['create', 'configmap'],
    ['create', 'cronjob', 'a'],
    ['create', 'deployment', 'a', 'b', '--image=x'],
    ['create', 'job', ...many],
    ['create', 'secret', 'tls', ...many],
    ['create', 'service', 'externalname', 'a'],
    ['create', 'token'],
    ['diff', ...many],
    ['drain'],
    ['drain', 'n1', '--selector=a=b'],
    ['exec', 'web', 'date'],
    ['logs'],
    ['logs', ...many],
    ['port-forward', 'web'],
    ['replace', ...many],
    ['run'],
    ['set', 'selector'],
    ['top', 'pod', ...many],
    ['uncordon'],
    ['version', ...many],
  ])
})

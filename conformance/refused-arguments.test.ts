import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../packages/cli/src/testing/recording-host.ts'
import { kubectlCommands } from './support/kubectl-help.ts'
import { withoutNewsOf136 } from './support/news-of-136.ts'
import type { Outcome } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

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
    execFile(kubectl, [...args], { cwd: home, env: { ...thriftyTools, HOME: home } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

async function refusals(args: readonly string[]) {
  const environment = { homeDirectory: home, workingDirectory: home }
  const [expected, actual] = await Promise.all([theirs(args), runCommand(args, environment)])
  const told = ({ code, stderr }: Outcome) => [
    code,
    withoutNewsOf136(stderr, args).trimEnd().replaceAll('kubectl', 'coracle'),
  ]
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

it('contexts and clusters that are not there, and no namespace named', async () => {
  await writeFile(join(home, 'cm.json'), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}')
  await writeFile(
    join(home, 'kubeconfig'),
    '{"apiVersion":"v1","kind":"Config","current-context":"here","contexts":[{"name":"here","context":{"cluster":"here","user":"me"}}],"clusters":[{"name":"here","cluster":{"server":"https://127.0.0.1:2"}}],"users":[{"name":"me","user":{}}]}',
  )
  const commands = [
    ...['get cm', 'get -f cm.json', 'get --raw=/healthz', 'describe cm', 'describe -f cm.json', 'explain pods'],
    ...['events', 'logs a', 'top pods', 'top nodes', 'wait cm/a --for=delete', 'version', 'version -o json'],
    ...['api-resources', 'api-versions', 'cluster-info', 'cluster-info dump', 'auth can-i get pods', 'auth whoami'],
    ...['create -f cm.json', 'create -f cm.json --edit', 'create --raw=/x -f cm.json', 'create token a'],
    ...['create cm a', 'create cm a --from-file=nosuch', 'create secret docker-registry a', 'create secret tls a'],
    ...['create job a', 'create job a --image=x', 'create pdb a', 'create quota a --hard=pods=x', 'create role a'],
    ...['create token a --bound-object-kind=x', 'create service nodeport a', 'create deployment a --image=x'],
    ...['apply -f cm.json', 'apply view-last-applied cm a', 'apply set-last-applied -f cm.json', 'diff -f cm.json'],
    ...['replace -f cm.json', 'replace --force -f cm.json', 'patch cm a -p {}', 'edit cm a', 'edit -f cm.json'],
    ...['delete cm a', 'delete -f cm.json', 'delete --raw=/x', 'label cm a x=y', 'label -f cm.json x=y'],
    ...['annotate cm a x=y', 'set env deploy a a=b', 'set image deploy a x=y', 'set serviceaccount deploy a b'],
    ...['run a --image=x', 'expose svc a --port=1', 'autoscale deploy a --max=1', 'scale deploy a --replicas=1'],
    ...['rollout status deploy a', 'rollout undo deploy a', 'rollout history deploy a', 'exec a -- ls', 'attach a'],
    ...['port-forward a 80', 'cp a:/x y', 'debug a --image=x', 'drain a', 'cordon a', 'certificate approve a'],
    ...['taint node x a=b:NoSchedule', 'proxy --port=0'],
  ]
  const lines = commands.flatMap((command) =>
    ['--context=nosuch', '--cluster=nosuch'].map((flag) => {
      const [head = '', ...rest] = command.split(' -- ')
      return [...head.split(' '), flag, '--kubeconfig=kubeconfig', ...rest.flatMap((words) => ['--', words])]
    }),
  )
  await expectSame(lines)
})

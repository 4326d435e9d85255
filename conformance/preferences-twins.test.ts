import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../packages/cli/src/testing/recording-host.ts'
import type { Outcome } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

// Preferences (kuberc) side by side with kubectl: what commands do by them, and what `kuberc` shows and writes. No command asks a server.

const beta = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n'

const preferences = `${beta}
defaults:
- command: create configmap
  options:
  - {name: dry-run, default: client}
  - {name: output, default: json}
- command: no such
  options: []
- command: create service clusterip
  options: [{name: tcp, default: '80:80,81:81'}, {name: dry-run, default: client}, {name: output, default: yaml}]
aliases:
- name: cm
  command: create configmap
  prependArgs: [settings]
  appendArgs: ['--from-literal=z=1', --, ignored]
  options:
  - {name: dry-run, default: client}
  - {name: output, default: name}
- name: jobx
  command: create job
  appendArgs: [--, sleep, '1']
  options: [{name: image, default: nginx}, {name: dry-run, default: client}, {name: output, default: yaml}]
- name: config
  command: version
- name: contexts
  command: config get-contexts more words
  options: [{name: no-headers, default: 'true'}]
- {name: nowhere, command: no such}
- {name: wrongvalue, command: apply, options: [{name: server-side, default: perhaps}]}
`

const alpha = `apiVersion: kubectl.config.k8s.io/v1alpha1
kind: Preference
overrides: [{command: create configmap, flags: [{name: dry-run, default: client}, {name: output, default: name}]}]
aliases: [{name: cm, command: create configmap, prependArgs: [a], flags: [{name: dry-run, default: client}]}]
`

interface Scenario {
  /** Files beside the home: `.kube/kuberc` among them where there is one. */
  readonly files?: Readonly<Record<string, string>>
  /** Variables of the environment. */
  readonly variables?: Readonly<Record<string, string>>
  /** Command lines, or one with what it reads. */
  readonly steps: readonly (string | readonly [line: string, input: string])[]
}

const wrong = (text: string): Scenario => ({ files: { '.kube/kuberc': beta + text }, steps: ['config get-contexts'] })

const scenarios: Readonly<Record<string, Scenario>> = {
  'defaults and aliases': {
    files: { '.kube/kuberc': preferences },
    steps: [
      'create configmap a',
      'create cm a',
      'create configmap a --output=name',
      'create configmap a -oname',
      'create configmap a -o name --dry-run=server --dry-run=client',
      'create -n there configmap a',
      'create service clusterip s',
      'create service clusterip s --tcp=5:5',
      'create service clusterip s -- --tcp',
      'cm',
      'cm more',
      'cm --output=json --from-literal=a=1',
      'jobx web',
      'jobx web --image=other',
      '-n there jobx web',
      '--namespace=there jobx web',
      'contexts',
      'config get-contexts',
      'nowhere',
      'wrongvalue',
      'unknownword',
    ],
  },
  'the older version': { files: { '.kube/kuberc': alpha }, steps: ['create configmap a', 'cm', 'cm -ojson'] },
  'another file': {
    files: { one: preferences, two: alpha, '.kube/kuberc': preferences },
    variables: { KUBERC: 'two' },
    steps: [
      'create configmap a',
      'create configmap a --kuberc=one',
      'create configmap a --kuberc one',
      'cm --kuberc=nowhere',
      'cm --kuberc',
      'cm --kuberc=',
      'create configmap r -- --kuberc=nowhere',
    ],
  },
  'none at all': {
    files: { '.kube/kuberc': preferences },
    variables: { KUBERC: 'off' },
    steps: ['jobx', 'jobx --kuberc=one', 'config get-contexts', 'kuberc view'],
  },
  'several documents': {
    files: { '.kube/kuberc': `---\n${beta.replace('v1beta1', 'v9')}\n---\n${alpha}unknown: 1\n---\n${preferences}` },
    steps: ['create configmap a'],
  },
  'fields that are unknown': {
    files: {
      '.kube/kuberc': `${beta}foo: 1\ndefaults: [{command: version, options: [{name: client, default: 'true', bar: 1}], baz: 2}]\n`,
    },
    steps: ['config get-contexts'],
  },
  'no preference': {
    files: { '.kube/kuberc': 'kind: Pod\n', empty: '' },
    steps: ['config get-contexts', 'config get-contexts --kuberc=empty', 'config get-contexts --kuberc=.kube/kuberc'],
  },
  'a flag that the command does not have': wrong(
    'defaults: [{command: config get-contexts, options: [{name: nope, default: x}]}]\n',
  ),
  'a value that the flag cannot have': wrong(
    'defaults: [{command: config get-contexts, options: [{name: no-headers, default: x}]}]\n',
  ),
  'a flag with dashes': wrong('defaults: [{command: version, options: [{name: --client, default: x}]}]\n'),
  'an alias of other letters': wrong('aliases: [{name: get-n, command: get}]\n'),
  'an alias twice': wrong('aliases: [{name: getn, command: get}, {name: getn, command: get}]\n'),
  'a value of another type': wrong('defaults: [{command: version, options: [{name: client, default: true}]}]\n'),
  'an unknown policy': wrong('credentialPluginPolicy: Perhaps\n'),
  'a list without its policy': wrong('credentialPluginAllowlist: [{name: a}]\n'),
  'a policy without its list': wrong('credentialPluginPolicy: Allowlist\n'),
  'an empty list': wrong('credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: []\n'),
  'an empty entry': wrong('credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: a}, {}]\n'),
  'a path with dots': wrong('credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: a/../b}]\n'),
  'what kuberc shows and writes': {
    steps: [
      'kuberc view',
      ['kuberc view', 'y\n'],
      'kuberc view',
      'kuberc view -o json',
      'kuberc view -o kyaml',
      'kuberc view -o name',
      'kuberc view -o jsonpath={.defaults[*].command}',
      'kuberc set --section=aliases --name=getn --command=get --prependarg nodes --prependarg=-L --option output=wide',
      'kuberc set --section=aliases --name=getn --command=get',
      'kuberc set --section=aliases --name=getn --command=get --overwrite --option --output=json --prependarg=pods --appendarg=x',
      'kuberc set --section=defaults --command=get',
      'kuberc set --section=defaults --command=get --option=output=wide',
      'kuberc set --section=defaults --command=get --option=output=wide --option=x=a=b --overwrite',
      'kuberc set --section=defaults --command=get --option=x --overwrite',
      'kuberc set --section=defaults --command=get --name=x',
      'kuberc set --section=defaults --command=get --prependarg=x',
      'kuberc set --section=aliases --command=get',
      'kuberc set --section=defaults --command=get --option=x=y --kuberc=new/file',
      'kuberc foo',
      'kuberc view',
    ],
  },
}

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'preferences-'))
})
afterEach(() => rm(home, { recursive: true }))

const places = ['theirs', 'ours'] as const

describe.each(Object.entries(scenarios))('%s', (_, { files = {}, variables = {}, steps }) => {
  it('is the same with kubectl and with coracle', async () => {
    const { kubectl } = await tools()
    for (const place of places) {
      await mkdir(join(home, place, '.kube'), { recursive: true })
      const cluster = '{name: c, cluster: {server: https://c}}'
      const kubeconfig = `contexts: [{name: one, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t}}]\nclusters: [${cluster}]\ncurrent-context: one\n`
      for (const [name, text] of Object.entries({ ...files, '.kube/config': kubeconfig })) {
        await writeFile(join(home, place, name), text)
      }
    }
    for (const step of steps) {
      const [line, input] = typeof step === 'string' ? [step, ''] : step
      const args = line.split(' ')
      // In 1.35 the command is not where 1.36 has it.
      const theirArgs = args[0] === 'kuberc' ? ['alpha', ...args] : args
      const theirs = await runKubectl(kubectl, theirArgs, input, join(home, 'theirs'), variables)
      const place = join(home, 'ours')
      const ours = await runCommand(args, { variables, workingDirectory: place, homeDirectory: place, stdin: input })
      expect(plain(ours), line).toEqual(plain(theirs))
      expect(await stored('ours'), `the file after ${line}`).toEqual(await stored('theirs'))
    }
  })
})

const stored = (place: string): Promise<string> =>
  readFile(join(home, place, '.kube', 'kuberc'), 'utf8').catch(() => 'none')

const plain = ({ code, stdout, stderr }: Outcome): Outcome => ({
  code,
  stdout: plainText(stdout),
  stderr: plainText(stderr),
})

const plainText = (text: string): string =>
  text
    .replaceAll(new RegExp(`${home}/(${places.join('|')})`, 'g'), 'HOME')
    .replaceAll('kubectl', 'coracle')
    .replaceAll('coracle alpha', 'coracle')
    // In place of the name of an alias kubectl tells what it was called as itself.
    .replace(/(in alias )\S+/g, '$1NAME')
    .replace(/^See 'coracle .*' for (help and examples|usage\.)\n/gm, '')

function runKubectl(
  kubectl: string,
  args: readonly string[],
  input: string,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      kubectl,
      args,
      { cwd, env: { ...thriftyTools, ...variables, HOME: cwd } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../packages/cli/src/testing/recording-host.ts'
import type { Outcome } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

// `config` side by side with kubectl: what is printed, and every file afterwards.

const first = `
apiVersion: v1
kind: Config
current-context: one
preferences: {}
contexts:
- name: one
  context: {cluster: c1, user: u1, namespace: shop}
- name: dotted.name
  context: {cluster: c1, user: u1}
clusters:
- name: c1
  cluster: {server: https://one:6443, certificate-authority: ca.pem}
users:
- name: u1
  user: {token: secret}
`

const second = `
apiVersion: v1
kind: Config
current-context: two
contexts:
- name: two
  context: {cluster: c2, user: u2}
- name: one
  context: {cluster: hidden, user: hidden}
clusters:
- name: c2
  cluster: {server: https://two:6443, certificate-authority-data: Q0E=}
users:
- name: u2
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ, password: pw, username: me}
- name: plugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: Never}}
`

interface Scenario {
  /** Files beside `ca.pem`; KUBECONFIG names them all, in order of their names, unless told otherwise. */
  readonly files?: Readonly<Record<string, string>>
  readonly kubeconfig?: readonly string[]
  readonly steps: readonly string[]
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'from nothing to a context that works': {
    kubeconfig: ['k'],
    steps: [
      'view',
      'view -o json',
      'current-context',
      'get-contexts',
      'get-clusters',
      'get-users',
      'set-cluster c --server=https://host:6443/ --certificate-authority=ca.pem',
      'set-cluster c --insecure-skip-tls-verify=true',
      'set-cluster c --certificate-authority=ca.pem --embed-certs',
      'set-cluster c --certificate-authority=ca.pem --insecure-skip-tls-verify=true',
      'set-cluster c --certificate-authority=nofile --embed-certs',
      'set-cluster c --tls-server-name=kubernetes --proxy-url=http://proxy',
      'set-credentials u --token=abc',
      'set-credentials u --username=a --password=b',
      'set-credentials u --token=abc --username=a',
      'set-credentials u --token=abc --username=',
      'set-credentials u --client-certificate=ca.pem --client-key=ca.pem',
      // New variables one by one: kubectl adds those of one command in no order.
      'set-credentials p --exec-command=login --exec-api-version=client.authentication.k8s.io/v1 --exec-arg=a --exec-arg=b --exec-env=A=1',
      'set-credentials p --exec-env=B=2',
      'set-credentials p --exec-env=B=4 --exec-env=A=5',
      'set-credentials p --exec-env=A- --exec-env=B=3 --exec-interactive-mode=Never',
      'set-context ctx --cluster=c --user=u --namespace=shop',
      'set-context ctx --namespace=other',
      'set-context --current --namespace=x',
      'use-context ctx',
      'set-context --current --namespace=x',
      'set-context --current ctx',
      'set-context --current --namespace=',
      'use-context nowhere',
      'current-context',
      'get-contexts',
      'get-contexts -o name',
      'view',
      'view -o json',
      'view --raw',
      'view --flatten',
    ],
  },
  'two files as one': {
    files: { a: first, b: second },
    steps: [
      'view',
      'view --raw -o json',
      'view --minify',
      'view --minify --context=two',
      'view --minify --context=nowhere',
      'view -o jsonpath={.users[*].name}',
      'view -o name',
      'view --merge=false',
      'get-contexts',
      'get-contexts two --no-headers',
      'get-contexts two nowhere',
      'get-clusters',
      'get-users',
      'use-context two',
      'set-context two --namespace=there',
      'set-context new --cluster=c2',
      'set-credentials u2 --token=t',
      'set-credentials plugin --exec-arg=x',
      'rename-context two deux',
      'rename-context two drei',
      'rename-context one new',
      'delete-context new',
      'delete-context new',
      'delete-cluster c2',
      'delete-user u2',
      'delete-user u2',
      'delete-context deux',
      'unset current-context',
      'current-context',
      'view',
    ],
  },
  'new entries go to the first file that is there': {
    files: { b: first },
    kubeconfig: ['a', 'b', 'c'],
    steps: ['set-cluster new --server=https://new', 'use-context one', 'set users.new.token x', 'get-clusters'],
  },
  'or else to the last': { kubeconfig: ['a', 'b'], steps: ['set-context new', 'get-contexts'] },
  'single fields': {
    files: { a: first },
    steps: [
      'set clusters.c1.server https://other',
      'set clusters.c1.insecure-skip-tls-verify true',
      'set clusters.c1.insecure-skip-tls-verify maybe',
      'set clusters.c1.certificate-authority-data Q0E=',
      'set clusters.c1.certificate-authority-data raw --set-raw-bytes=true',
      'set clusters.c1.certificate-authority-data Q0*=',
      'set clusters.c1.certificate-authority-data Q0E',
      'set preferences.colors true',
      'view --raw',
      'set preferences.colors maybe',
      'set preferences.colors false',
      'set contexts.dotted.name.namespace there',
      'set users.new.username me',
      'set current-context dotted.name',
      'unset clusters.c1.insecure-skip-tls-verify',
      'unset contexts.one.namespace',
      'unset users.new',
      'unset users.new',
      'unset current-context',
      'view --raw',
    ],
  },
}

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'config-'))
})
afterEach(() => rm(home, { recursive: true }))

const places = ['theirs', 'ours'] as const

describe.each(Object.entries(scenarios))('%s', (_, { files = {}, kubeconfig, steps }) => {
  it('is the same with kubectl and with coracle', async () => {
    const { kubectl } = await tools()
    for (const place of places) {
      const content = { 'ca.pem': 'CA', ...files }
      await mkdir(join(home, place))
      for (const [name, text] of Object.entries(content)) await writeFile(join(home, place, name), text)
    }
    const variables = (place: string) => ({
      HOME: join(home, place),
      KUBECONFIG: (kubeconfig ?? Object.keys(files)).map((name) => join(home, place, name)).join(':'),
    })
    for (const step of steps) {
      const args = ['config', ...step.split(' ')]
      const theirs = await runKubectl(kubectl, args, join(home, 'theirs'), variables('theirs'))
      const ours = await runCommand(args, { variables: variables('ours'), workingDirectory: join(home, 'ours') })
      // These lists are in no order there.
      const shown = /^get-(clusters|users)/.test(step) ? sortedLines : plain
      expect(shown(ours), step).toEqual(shown(theirs))
      expect(await filesIn('ours'), `files after ${step}`).toEqual(await filesIn('theirs'))
    }
  })
})

async function filesIn(place: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(join(home, place))
  const contents = await Promise.all(
    names
      .filter((name) => name.length === 1)
      .map(async (name) => [name, plainText(await readFile(join(home, place, name), 'utf8'))]),
  )
  return Object.fromEntries(contents)
}

const plain = ({ code, stdout, stderr }: Outcome): Outcome => ({
  code,
  stdout: plainText(stdout),
  stderr: plainText(stderr),
})

const sortedLines = (outcome: Outcome): Outcome => ({
  ...plain(outcome),
  stdout: outcome.stdout.split('\n').sort().join('\n'),
})

const plainText = (text: string): string =>
  text.replaceAll(new RegExp(`${home}/(${places.join('|')})`, 'g'), 'HOME').replaceAll('kubectl', 'coracle')

function runKubectl(
  kubectl: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(kubectl, args, { cwd, env: { ...thriftyTools, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

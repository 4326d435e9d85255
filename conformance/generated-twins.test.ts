import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deepEqual } from '@coracle/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandLines, files, formerDifferences, sampleOf } from './support/command-lines.ts'
import { configMap, manifest } from './support/kubectl.ts'
import { kubectlCommands } from './support/kubectl-help.ts'
import { type Outcome, Program } from './support/program.ts'
import { Twins } from './support/twins.ts'

// Command lines made of what kubectl's own help says there is, by kubectl and by coracle: what they print and how they exit are equal.
// CORACLE_TWIN_LINES and CORACLE_TWIN_SEED ask for more of them, or others.

const lineCount = Number(process.env.CORACLE_TWIN_LINES ?? 60)
const seed = Number(process.env.CORACLE_TWIN_SEED ?? 1)

/** How many lines of one test run in the same pair of namespaces, one after another. */
const linesPerPair = 50

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'web', image: 'example/web:1', ports: [{ containerPort: 80 }] }] },
})

const labelled = (name: string) => ({ name, labels: { app: 'web' } })

/** What is there before each line that may take something away. */
const objects = manifest(
  { ...configMap('settings', { a: '1' }), metadata: labelled('settings') },
  configMap('others', { b: '2' }),
  { apiVersion: 'v1', kind: 'Secret', metadata: labelled('keys'), stringData: { password: 'hunter2' } },
  { apiVersion: 'v1', kind: 'Service', metadata: labelled('web'), spec: { clusterIP: 'None', ports: [{ port: 80 }] } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: labelled('web'),
    spec: { replicas: 0, selector: { matchLabels: { app: 'web' } }, template: template('web') },
  },
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: labelled('old'),
    spec: { replicas: 0, selector: { app: 'old' }, template: template('old') },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: labelled('nightly'),
    spec: {
      schedule: '0 0 * * *',
      suspend: true,
      jobTemplate: { spec: { template: { spec: { ...template('job').spec, restartPolicy: 'Never' } } } },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: labelled('plain'),
    spec: { replicas: 0, selector: { matchLabels: { app: 'plain' } }, template: template('plain') },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: labelled('db'),
    spec: { replicas: 0, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: template('db') },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: labelled('each'),
    spec: {
      selector: { matchLabels: { app: 'each' } },
      template: { ...template('each'), spec: { ...template('each').spec, nodeSelector: { no: 'where' } } },
    },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: labelled('once'),
    spec: { suspend: true, template: { spec: { ...template('once').spec, restartPolicy: 'Never' } } },
  },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: labelled('reader'), rules: [] },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: labelled('bound'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
  },
)

let program: Program
let directory: string
const before = process.cwd()
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
  directory = await mkdtemp(join(tmpdir(), 'lines-'))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  process.chdir(directory)
})
afterAll(async () => {
  process.chdir(before)
  await rm(directory, { recursive: true })
  await program[Symbol.asyncDispose]()
})

/** Pages of help are written anew. */
const compared = ({ code, stdout, stderr }: Outcome): Outcome => ({
  code,
  stdout: /^Usage:|^The following options can be passed/m.test(stdout) ? 'help' : withoutChance(stdout),
  stderr: stderr
    .replace(/^(Unknown help topic [^\n]*\n).*/s, '$1help')
    // A command that kubectl has not is suggested by coracle alone.
    .replace(/^\tup\n/gm, '')
    .trimEnd(),
})

/** Names of events end in the time and generated ones by chance, tokens are signed, ports of nodes are free ones, nodes have addresses of their own, and controllers come to things in their time. */
const withoutChance = (text: string): string =>
  withoutTimeHashes(text)
    .replace(/\.[0-9a-f]{16}\b/g, '.TIME')
    .replace(/(\b80:|"nodePort": |\bnodePort: )3\d{4}\b/g, '$1PORT')
    .replace(/\b10\.(64|9[6-9]|10\d|11[01])\.\d+\.\d+\b/g, 'ADDRESS')
    .replace(/\b(x|made-\d+)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-NAME')
    .replace(/\beyJ[-\w]+\.[-\w]+\.[-\w]+/g, 'TOKEN')
    .replace(/(ReplicaSet \\?"web)-\w+(\\?" has successfully progressed)/g, '$1-HASH$2')

/** Hashes of templates that say when they were restarted, which two programs do in the same second or not. */
const withoutTimeHashes = (text: string): string =>
  text.includes('restartedAt')
    ? text.replace(/(\bpod-template-hash"?: "?|\bname"?: "?web-)[bcdfghjklmnpqrstvwxz2456789]{6,10}\b/g, '$1HASH')
    : text

/** kubectl breaks off by a fault of its own, by its logger or its limit of requests, or is ended since it waits for a minute. */
const breaksOff = ({ code, stderr }: Outcome): boolean =>
  code === 255 || code === null || /^panic: |^client rate limiter Wait/m.test(stderr)

/** The same of kubectl, which shows help for some mistakes before it says what is wrong: coracle says that alone. */
function comparedKubectl(outcome: Outcome): Outcome {
  const { code, stdout, stderr } = compared(outcome)
  return { code, stdout: code !== 0 && stdout === 'help' ? '' : stdout, stderr }
}

/** What lines about kubeconfigs read and change: each program has files of its own, as they were for each line. */
const kubeconfigs: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['kubeconfig', 'one'],
    ['second', 'two'],
  ].map(([file, name]) => [
    file,
    manifest({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server: `https://${name}.example` } }],
      users: [{ name, user: { token: 'secret' } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    }),
  ]),
)

async function writeKubeconfigs(namespace: string): Promise<void> {
  for (const [file, content] of Object.entries(kubeconfigs)) await writeFile(`${file}-${namespace}`, content)
}

async function readKubeconfigs(namespace: string): Promise<object> {
  const files = Object.keys(kubeconfigs).map(async (file) => {
    const content = await readFile(`${file}-${namespace}`, 'utf8').catch(() => 'not there')
    return [file, content.replaceAll(namespace, 'NAMESPACE')] as const
  })
  return Object.fromEntries(await Promise.all(files))
}

/** A line as it is run: what is in its placeholders, what it reads from standard input, and what stands in its environment. */
async function readLine(line: readonly string[], index: number) {
  const all = line.map((word) =>
    word
      .replaceAll('{n}', String(index))
      .replaceAll('{kubeconfigs}', 'kubeconfig-{namespace}:second-{namespace}')
      .replaceAll('{kubeconfig}', 'kubeconfig-{namespace}'),
  )
  const isVariable = (word: string) => word.startsWith('KUBECONFIG=')
  const variables = {
    ...Object.fromEntries(all.filter(isVariable).map((word) => ['KUBECONFIG', word.slice('KUBECONFIG='.length)])),
    // Else kubectl goes by what it has kept of the server, and does not ask it.
    ...(all.some((word) => word.startsWith('--tls-server-name=')) ? { KUBECACHEDIR: `cache-${index}` } : {}),
  }
  const at = all.indexOf('<')
  const input = await readFile(at < 0 ? 'cm.yaml' : (all[at + 1] ?? ''), 'utf8')
  const words = (at < 0 ? all : all.toSpliced(at, 2)).filter((word) => !isVariable(word))
  return { words, input, variables }
}

/** Lines whose output is compared without its order, or without the widths of its columns: kubectl goes through maps, controllers write in the same moment or one after another, and addresses are of one length or another. */
const inAnyOrder =
  /^(label|annotate) .*--list|^config get-\w+ KUBECONFIG=|^set env .*--from=|^(diff|rollout history) .*--show-managed-fields/
const inAnyWidth = /^get all/

/** An outcome with what is left to chance in the output of a line taken out. */
function ofLine(line: readonly string[], outcome: Outcome): Outcome {
  const text = line.join(' ')
  const { stdout, stderr } = outcome
  const inOrder = (lines: string): string => lines.split('\n').sort().join('\n')
  if (inAnyOrder.test(text)) return { ...outcome, stdout: inOrder(stdout), stderr: inOrder(stderr) }
  if (inAnyWidth.test(text)) return { ...outcome, stdout: stdout.replace(/ +/g, ' ') }
  // Replica sets of one second are in the order of their names, and others in that of their time.
  const sorted = (_: string, head: string, names: string) => `${head}${names.split(', ').sort().join(', ')}`
  return { ...outcome, stdout: stdout.replace(/^(OldReplicaSets: +)(.*)$/gm, sorted) }
}

/** Lines that are told apart, with the reason. */
const otherLines: readonly (readonly [RegExp, string])[] = [
  [/^(help )?(alpha|kustomize)/, 'there are none here'],
  [
    /^auth reconcile .*roles\.yaml/,
    'kubectl looks in no namespace for objects that name none, and breaks off or takes them for new',
  ],
  [/^(help options|options .*(--help|-h)$)/, 'kubectl shows nothing'],
  [/^completion (bash|zsh)$/, 'scripts of their own'],
  [/--v=99$/, 'kubectl logs what no other level does'],
  [/^version( extra .*--client(=true)?)?$/, 'the versions of the programs'],
  [/--match-server-version$|--match-server-version=true/, 'the versions of the programs'],
  [/^wait .*(-f |--filename=)-( |$)/, 'kubectl reads standard input twice for --for=create, and finds nothing there'],
  [
    /^apply .*--overwrite=false/,
    'kubectl refuses every change, since the annotation for what was last applied changes too, and shows all objects three times',
  ],
  [/^diff .*http:.*--prune/, 'kubectl looks for what to prune, and is warned, where it cannot read a file'],
  [/^explain .*--recursive=(?!true|false)/, 'kubectl has -R for it since 1.36'],
  [/^label .*--show-managed-fields/, 'kubectl shows an object as it was read, with the labels it has set'],
  [/^drain .*--pod-selector=( |$)/, 'pods of other lines come and go'],
  [/^wait .*--for\b.* --for\b/, 'kubectl 1.35 takes the last of several conditions, 1.36 takes all of them'],
  [/^create priorityclass .*--global-default(=true)?( |$)/, 'a cluster has one'],
]
const isCompared = (line: readonly string[]): boolean => !otherLines.some(([lines]) => lines.test(line.join(' ')))

const lines = commandLines(await kubectlCommands(new Set(['alpha', 'kustomize'])))
const sample = [...formerDifferences, ...sampleOf(lines, lineCount, seed).filter(isCompared)]

it.concurrent.each(
  Array.from(
    { length: Math.ceil(sample.length / linesPerPair) },
    (_, part) => [part, sample.slice(part * linesPerPair, (part + 1) * linesPerPair)] as const,
  ),
)(
  'part %i',
  async (part, lines) => {
    // What a context says is not taken as what a flag says.
    const placement = part % 2 === 0 ? 'flag' : 'context'
    const twins = await Twins.in(program, `lines-${part}`, placement)
    const ours: Record<string, object> = {}
    const theirs: Record<string, object> = {}
    for (const [index, line] of lines.entries()) {
      if (placement === 'context' && !isCompared(line)) continue
      if (index === 0 || lines[index - 1]?.[0] === 'delete') {
        await twins.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], objects)
      }
      const isConfig = line[0] === 'config'
      if (isConfig) for (const namespace of twins.namespaces) await writeKubeconfigs(namespace)
      const { words, input, variables } = await readLine(line, index)
      const outcome = await twins.run(words, input, variables)
      if (breaksOff(outcome.theirs)) continue
      const own: object[] = [compared(ofLine(line, outcome.ours))]
      const kubectls: object[] = [comparedKubectl(ofLine(line, outcome.theirs))]
      if (isConfig) {
        const [theirNamespace = '', ourNamespace = ''] = twins.namespaces
        own.push(await readKubeconfigs(ourNamespace))
        kubectls.push(await readKubeconfigs(theirNamespace))
      }
      // What is equal would only hide what is not.
      if (deepEqual(own, kubectls)) continue
      ours[line.join(' ')] = own
      theirs[line.join(' ')] = kubectls
    }
    expect(ours).toEqual(theirs)
  },
  300_000,
)

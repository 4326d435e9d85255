import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deepEqual } from '@coracle/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandLines, files, sampleOf } from './support/command-lines.ts'
import { configMap, manifest } from './support/kubectl.ts'
import { kubectlCommands } from './support/kubectl-help.ts'
import { type Outcome, Program } from './support/program.ts'
import { Twins } from './support/twins.ts'

// Command lines made of what kubectl's own help says there is, by kubectl and by coracle: what they print and how they exit are equal.
// CORACLE_TWIN_LINES and CORACLE_TWIN_SEED ask for more of them, or others.

const lineCount = Number(process.env.CORACLE_TWIN_LINES ?? 120)
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
  stdout: /^Usage:/m.test(stdout) ? 'help' : stdout,
  stderr: stderr.trimEnd(),
})

/** The same of kubectl, which shows help for some mistakes before it says what is wrong: coracle says that alone. */
function comparedKubectl(outcome: Outcome): Outcome {
  const { code, stdout, stderr } = compared(outcome)
  return { code, stdout: code !== 0 && stdout === 'help' ? '' : stdout, stderr }
}

/** What lines about kubeconfigs read and change: each program has a file of its own, as it was for each line. */
const kubeconfig = manifest({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'one', cluster: { server: 'https://one.example' } }],
  users: [{ name: 'one', user: { token: 'secret' } }],
  contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
  'current-context': 'one',
})

/** Lines that are told apart, with the reason. */
const otherLines: readonly (readonly [RegExp, string])[] = [
  [/^set selector .*--resource-version=x/, 'a version that is no number is compared here, and not sent'],
  [/^create (cluster\w+|priorityclass) nosuchkind /, 'both make the same object of the cluster'],
  [/^rollout history .*--output=$/, 'kubectl takes an empty format for one'],
  [/^port-forward .* 80 extra /, 'a further port is tried'],
  [/--external-name=1 --external-name=$/, 'an empty name is as none'],
  [/--sort-by=\{\.metadata\.name( |$)/, 'a path that is none is told even where there is nothing to sort'],
]
const isCompared = (line: readonly string[]): boolean => !otherLines.some(([lines]) => lines.test(line.join(' ')))

const lines = commandLines(await kubectlCommands(new Set(['alpha', 'kustomize', 'plugin'])))
const sample = sampleOf(lines, lineCount, seed).filter(isCompared)

it.concurrent.each(
  Array.from(
    { length: Math.ceil(sample.length / linesPerPair) },
    (_, part) => [part, sample.slice(part * linesPerPair, (part + 1) * linesPerPair)] as const,
  ),
)(
  'part %i',
  async (part, lines) => {
    const twins = await Twins.in(program, `lines-${part}`)
    const ours: Record<string, object> = {}
    const theirs: Record<string, object> = {}
    for (const [index, line] of lines.entries()) {
      if (index === 0 || lines[index - 1]?.[0] === 'delete') {
        await twins.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], objects)
      }
      const words = line.map((word) =>
        word.replaceAll('{n}', String(index)).replaceAll('{kubeconfig}', 'kubeconfig-{namespace}'),
      )
      if (line[0] === 'config') {
        for (const namespace of twins.namespaces) await writeFile(`kubeconfig-${namespace}`, kubeconfig)
      }
      const outcome = await twins.run(words)
      const [own, kubectls] = [compared(outcome.ours), comparedKubectl(outcome.theirs)]
      // What is equal would only hide what is not.
      if (deepEqual(own, kubectls)) continue
      ours[line.join(' ')] = own
      theirs[line.join(' ')] = kubectls
    }
    expect(ours).toEqual(theirs)
  },
  300_000,
)

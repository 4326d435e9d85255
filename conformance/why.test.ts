import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap } from './support/objects.ts'
import { coracleFile, eventually, Program } from './support/program.ts'

// `coracle why` against the running program. What it knows of is tested in packages/simulator/test/why.

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const create = (object: object) => program.kubectlOk(['create', '-f', '-'], { input: JSON.stringify(object) })

/** A process of an image that says nothing of what to run. */
const withoutCommand = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    },
  },
}

/** A command that goes on, and the lines it has printed so far. */
function start(args: readonly string[]): AsyncDisposable & { readonly lines: readonly string[] } {
  const env = { ...process.env, KUBECONFIG: program.kubeconfig }
  const child = spawn(process.execPath, [coracleFile, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const closed = once(child, 'close')
  return {
    lines,
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT')
      await closed
    },
  }
}

describe('coracle why', () => {
  it('names the cause in a pod, what would help, and who began it', async () => {
    await create(withoutCommand)
    const told = await eventually('the reason', async () => {
      const { stdout } = await program.coracle(['why', 'deployment/web'])
      return stdout.includes('no command') && stdout
    })
    expect(told).toMatch(/^deployment\/web ← pod\/web-\S+: container main: it cannot be made/)
    expect(told).toMatch(/^ {2}CreateContainerError: container "main" has no command: /m)
    expect(told).toMatch(
      /^ {2}→ say what to run: spec\.containers\[\]\.command, or with up --images what the image is$/m,
    )
    expect(told).toMatch(/^\d+ +\S+ +deployment\/web created +kubernetes-admin +asked for, with kubectl-create$/m)
  })

  it('is data for programs', async () => {
    const { stdout } = await program.coracle(['why', 'deployment', 'web', '-o', 'json'])
    const told = JSON.parse(stdout)
    expect(told).toMatchObject({
      apiVersion: 'coracle.dev/v1',
      kind: 'Explanation',
      object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
      verdict: 'stuck',
    })
    expect(told.findings[0]).toMatchObject({ reason: 'CommandMissing', state: 'stuck', object: { kind: 'Pod' } })
    expect(told.changes.at(-1)).toMatchObject({
      who: { type: 'user', name: 'kubernetes-admin', manager: 'kubectl-create' },
      request: { verb: 'create' },
      end: 'request',
    })
  })

  it('goes on with what is new, until it is interrupted', async () => {
    await create({
      ...configMap('held'),
      metadata: { ...configMap('held').metadata, finalizers: ['example.dev/keep'] },
    })
    await using watch = start(['why', 'configmap/held', '--watch'])
    const seen = (pattern: RegExp) =>
      eventually(`${pattern} in\n${watch.lines.join('\n')}`, async () => watch.lines.some((line) => pattern.test(line)))
    await seen(/^configmap\/held: nothing holds it up$/)
    await program.kubectlOk(['delete', 'configmap', 'held', '--wait=false'])
    await seen(/^\d+ .*configmap\/held asked to go +kubernetes-admin/)
    await seen(/^configmap\/held: it is being deleted and does not go$/)
    await program.kubectlOk([
      'patch',
      'configmap',
      'held',
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/metadata/finalizers"}]',
    ])
    await seen(/^configmap\/held: it is gone$/)
  })

  it('says of what never was that nothing is known of it', async () => {
    const { code, stdout, stderr } = await program.coracle(['why', 'configmap/nowhere'])
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'error: configmaps "nowhere" not found, and the record has nothing of it: a request that was refused leaves nothing behind\n',
    ])
  })
})

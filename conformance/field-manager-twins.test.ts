import type { KubernetesObject } from '@coracle/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../packages/cli/src/testing/recording-host.ts'
import { configMap, Kubectl, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { Twins } from './support/twins.ts'

// Who owns fields after commands of coracle is who owns them after the same of kubectl: objects are handled by both.

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
})

/** Owners as far as they do not depend on when they came; those of the status are the cluster's. */
function ownersOf(text: string): readonly object[] {
  const { metadata } = JSON.parse(text) as KubernetesObject
  return (metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource !== 'status')
    .map(({ time: _, ...owner }) => owner)
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

const labelled = manifest({ ...configMap('a', { x: '1' }), metadata: { name: 'a', labels: { app: 'a' } } })
const deployment = manifest({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'web', image: 'old' }] } },
  },
})
const binding = manifest({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'a' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
})

/** An object, and what is done with it: each command with what it reads. */
const commands: readonly (readonly [string, ...(readonly [string, string?])[]])[] = [
  ['cm/a', ['create -f -', labelled], ['label cm a l=1'], ['annotate cm a n=1']],
  ['cm/a', ['create -f -', labelled], ['patch cm a --type=merge -p {"data":{"y":"1"}}']],
  ['cm/a', ['create cm a --from-literal=x=old'], ['edit cm a'], ['replace -f -', labelled]],
  ['cm/a', ['apply -f -', labelled], ['apply set-last-applied -f -', manifest(configMap('a', { x: '2' }))]],
  ['deploy/a', ['apply -f -', deployment], ['scale deploy a --replicas=1'], ['set image deploy/a web=new']],
  ['deploy/a', ['create -f -', deployment], ['rollout restart deploy/a'], ['rollout pause deploy/a']],
  ['hpa/a', ['create -f -', deployment], ['autoscale deploy a --max=2']],
  ['service/b', ['create -f -', deployment], ['expose deploy a --port=80 --name=b']],
  ['rolebinding/a', ['create -f -', binding], ['set subject rolebinding a --user=ann']],
  ['pod/a', ['run a --image=x']],
  ['node/{node}', ['cordon {node}'], ['uncordon {node}'], ['taint node {node} a=b:PreferNoSchedule']],
]

describe('owners of fields', () => {
  it.each(commands.map((each, index) => [`${each.slice(1).map(([line]) => line)}`, index, each] as const))(
    'after %s',
    async (_, index, [object, ...steps]) => {
      const twins = await Twins.in(program, `owners-${index}`)
      for (const [line, input] of steps) {
        const { ours, theirs } = await twins.run(line.split(' '), input)
        expect(ours).toEqual({ ...theirs, code: 0 })
      }
      const { ours, theirs } = await twins.run(['get', object, '-o', 'json', '--show-managed-fields'])
      expect(ownersOf(ours.stdout)).toEqual(ownersOf(theirs.stdout))
    },
  )
})

type Tool = 'kubectl' | 'coracle'

const tools: readonly Tool[] = ['kubectl', 'coracle']

/** An object of a namespace of its own, applied by either tool. */
class Applied {
  readonly #kubectl: Kubectl

  private constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl
  }

  static async in(namespace: string): Promise<Applied> {
    return new Applied(await Kubectl.inNewNamespace(program, namespace))
  }

  async apply(tool: Tool, data: Record<string, string>, ...flags: readonly string[]): Promise<void> {
    const args = ['apply', ...flags, '-f', '-']
    const input = manifest(configMap('a', data))
    if (tool === 'kubectl') {
      await this.#kubectl.ok(args, { input })
      return
    }
    const { namespace } = this.#kubectl
    const variables = { KUBECONFIG: program.kubeconfig }
    expect(await runCommand(['-n', namespace, ...args], { variables, stdin: input })).toMatchObject({ code: 0 })
  }

  async data(): Promise<unknown> {
    return (await this.#kubectl.get('configmaps', 'a')).data
  }

  async owners(): Promise<readonly object[]> {
    return ownersOf(await this.#kubectl.ok(['get', 'cm', 'a', '-o', 'json', '--show-managed-fields']))
  }
}

const pairs = tools.flatMap((first) => tools.map((second) => [first, second] as const))

describe('an object goes from one tool to the other', () => {
  it.each(pairs)('applied by %s, then on the server by %s', async (first, second) => {
    const object = await Applied.in(`to-server-${first}-${second}`)
    await object.apply(first, { x: '1', y: '1' })
    await object.apply(second, { x: '2' }, '--server-side')
    expect(await object.data()).toEqual({ x: '2' })
    expect(await object.owners()).toMatchObject([
      { manager: 'kubectl', operation: 'Apply' },
      { manager: 'kubectl-last-applied', operation: 'Apply' },
    ])
  })

  it.each(pairs)('applied on the server by %s, then on the client by %s', async (first, second) => {
    const object = await Applied.in(`to-client-${first}-${second}`)
    await object.apply(first, { x: '1', y: '1' })
    await object.apply(first, { x: '2', y: '1' }, '--server-side')
    await object.apply(second, { x: '3' })
    expect(await object.data()).toEqual({ x: '3' })
  })

  it.each(pairs)('applied on the server by %s, then by %s', async (first, second) => {
    const object = await Applied.in(`on-server-${first}-${second}`)
    await object.apply(first, { x: '1', y: '1' }, '--server-side')
    await object.apply(second, { x: '2' }, '--server-side')
    expect(await object.data()).toEqual({ x: '2' })
  })
})

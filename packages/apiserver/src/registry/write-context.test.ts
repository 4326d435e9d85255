import {
  type ConfigMap,
  configMaps,
  type KubernetesObject,
  namespaces,
  nodes,
  type Pod,
  pods,
  replicationControllers,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { admin, configMap, createAccount, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'a' }

const controller = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'a', namespace: 'default' },
  spec: {
    replicas: 1,
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  },
} as const

const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } }

/** Tells in one line what admission was shown: `UPDATE scale Scale a: 1 → 2`. */
function recorder(): { readonly plugin: AdmissionPlugin; readonly seen: string[] } {
  const seen: string[] = []
  const line = (stage: string, attributes: AdmissionAttributes, object: KubernetesObject | undefined): string => {
    const { operation, subresource, kind, name, old, dryRun } = attributes
    const what = [operation, subresource, kind.kind, name].filter((word) => word !== '').join(' ')
    return `${stage} ${what}: ${old?.kind ?? '-'} → ${object?.kind ?? '-'}${dryRun ? ' (dry run)' : ''}`
  }
  const plugin: AdmissionPlugin = {
    name: 'recorder',
    mutate(attributes, object) {
      seen.push(line('mutate', attributes, object))
      return object
    },
    validate(attributes, object) {
      seen.push(line('validate', attributes, object))
    },
  }
  return { plugin, seen }
}

const toBoth = (line: string): readonly string[] => [`mutate ${line}`, `validate ${line}`]

describe('admission sees', () => {
  const cases: [string, (test: TestCore) => Promise<unknown>, (test: TestCore) => Promise<unknown>, string[]][] = [
    [
      'a create',
      async () => {},
      ({ client }) => client.create(configMaps, configMap('a')),
      ['CREATE ConfigMap a: - → ConfigMap'],
    ],
    [
      'a dry run as what it is',
      async () => {},
      ({ client }) => client.create(configMaps, configMap('a'), { dryRun: true }),
      ['CREATE ConfigMap a: - → ConfigMap (dry run)'],
    ],
    [
      'an update that changes nothing',
      ({ client }) => client.create(configMaps, configMap('a', { k: 'v' })),
      ({ client }) => client.update(configMaps, configMap('a', { k: 'v' })),
      ['UPDATE ConfigMap a: ConfigMap → ConfigMap'],
    ],
    [
      'a patch as an update',
      ({ client }) => client.create(configMaps, configMap('a')),
      ({ client }) => client.patch(configMaps, key, { type: 'merge', body: { data: { k: 'v' } } }),
      ['UPDATE ConfigMap a: ConfigMap → ConfigMap'],
    ],
    [
      'a status update',
      ({ client }) => client.create(pods, pod('a')),
      ({ client }) =>
        client.patch(pods, key, { type: 'merge', body: { status: { message: 'm' } } }, { subresource: 'status' }),
      ['UPDATE status Pod a: Pod → Pod'],
    ],
    [
      'an update of the scale as one of a Scale',
      ({ client }) => client.create(replicationControllers, controller),
      async ({ client }) =>
        client.patch(
          replicationControllers,
          key,
          { type: 'merge', body: { spec: { replicas: 3 } } },
          { subresource: 'scale' },
        ),
      ['UPDATE scale Scale a: Scale → Scale'],
    ],
    [
      'a binding as something created',
      ({ client }) => client.create(pods, pod('a')),
      ({ client }) => client.createSubresource(pods, key, 'binding', binding),
      ['CREATE binding Binding a: - → Binding'],
    ],
    [
      'the end of a namespace',
      async ({ client }) => {
        await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
        await client.delete(namespaces, { name: 'team' })
      },
      async ({ client }) => {
        const namespace = await client.get(namespaces, { name: 'team' })
        await client.update(namespaces, { ...namespace, spec: { finalizers: [] } }, { subresource: 'finalize' })
      },
      ['UPDATE finalize Namespace team: Namespace → Namespace'],
    ],
    [
      'a delete',
      ({ client }) => client.create(configMaps, configMap('a')),
      ({ client }) => client.delete(configMaps, key),
      ['DELETE ConfigMap a: ConfigMap → -'],
    ],
  ]

  it.each(cases)('%s', async (_what, prepare, act, lines) => {
    const { plugin, seen } = recorder()
    const test = await startTestCore({ admission: [plugin] })
    await prepare(test)
    seen.length = 0
    await act(test)
    expect(seen).toEqual(lines.flatMap(toBoth))
  })

  it('each object of a collection that is deleted', async () => {
    const { plugin, seen } = recorder()
    const { client } = await startTestCore({ admission: [plugin] })
    for (const name of ['a', 'b']) await client.create(configMaps, configMap(name))
    seen.length = 0
    await client.deleteCollection(configMaps, { namespace: 'default' })
    // As upstream, without their names: nobody asked for them.
    const lines = ['DELETE ConfigMap: ConfigMap → -', 'DELETE ConfigMap: ConfigMap → -']
    expect([...seen].sort()).toEqual(lines.flatMap(toBoth).sort())
  })

  it('a connection, with its options', async () => {
    const { plugin, seen } = recorder()
    const { registry } = await startTestCore({ admission: [plugin] })
    const options = { dryRun: false, fieldManager: '', fieldValidation: 'Ignore' } as const
    const kind = { group: '', version: 'v1', kind: 'PodExecOptions', schema: configMaps.schema }
    const object = { apiVersion: 'v1', kind: 'PodExecOptions', metadata: {} }
    const connection = { operation: 'CONNECT', subresource: 'exec', kind, object, options } as const
    seen.length = 0
    await registry(pods).admitPosted(admin, 'default', 'a', connection)
    expect(seen).toEqual(toBoth('CONNECT exec PodExecOptions a: - → PodExecOptions'))
  })
})

describe('what admission changes', () => {
  const changing = (change: (object: KubernetesObject) => unknown): AdmissionPlugin => ({
    name: 'changing',
    mutate: (_attributes, object) => (object === undefined ? object : (change(object) as KubernetesObject)),
  })

  it('is pruned and given defaults as if it had come so', async () => {
    const addContainer = (object: KubernetesObject) =>
      object.kind !== 'Pod'
        ? object
        : { ...object, spec: { ...(object as Pod).spec, containers: [{ name: 'added', image: 'nginx', nonsense: 1 }] } }
    const { client } = await startTestCore({ admission: [changing(addContainer)] })
    const { spec } = await client.create(pods, pod('a'))
    expect(spec.containers).toEqual([
      {
        name: 'added',
        image: 'nginx',
        imagePullPolicy: 'Always',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ])
  })

  it('of a scale is what the object is scaled to, and is checked', async () => {
    let replicas = 5
    const scaleTo = (object: KubernetesObject) => (object.kind === 'Scale' ? { ...object, spec: { replicas } } : object)
    const { client } = await startTestCore({ admission: [changing(scaleTo)] })
    await client.create(replicationControllers, controller)
    const scale = () =>
      client.patch(
        replicationControllers,
        key,
        { type: 'merge', body: { spec: { replicas: 2 } } },
        { subresource: 'scale' },
      )
    await scale()
    expect((await client.get(replicationControllers, key)).spec?.replicas).toBe(5)
    replicas = -1
    expect((await refusal(scale())).message).toContain('spec.replicas: Invalid value: -1')
  })

  it('of a binding is where the pod goes', async () => {
    const elsewhere = (object: KubernetesObject) =>
      object.kind === 'Binding' ? { ...object, target: { kind: 'Node', name: 'n2' } } : object
    const { client } = await startTestCore({ admission: [changing(elsewhere)] })
    await client.create(pods, pod('a'))
    await client.createSubresource(pods, key, 'binding', binding)
    expect((await client.get(pods, key)).spec.nodeName).toBe('n2')
  })

  it('concerns the plugins before it once more, where it asks for that', async () => {
    const calls: string[] = []
    const first: AdmissionPlugin = {
      name: 'first',
      mutate: (_attributes, object) => {
        calls.push(`first sees ${(object as ConfigMap | undefined)?.data?.k}`)
        return object
      },
    }
    const second: AdmissionPlugin = {
      name: 'second',
      mutate: (_attributes, object, reinvocation) => {
        calls.push(reinvocation.isSecondRound ? 'second again' : 'second')
        reinvocation.ask()
        return object && ({ ...object, data: { k: 'changed' } } as KubernetesObject)
      },
    }
    const { client } = await startTestCore({ admission: [first, second] })
    calls.length = 0
    await client.create(configMaps, configMap('a', { k: 'given' }))
    expect(calls).toEqual(['first sees given', 'second', 'first sees changed', 'second again'])
  })
})

describe('a refusal', () => {
  const refusing = (what: AdmissionAttributes['operation'], subresource: string): AdmissionPlugin => ({
    name: 'refusing',
    validate({ operation, subresource: given }) {
      if (operation === what && given === subresource) throw new Error('refused')
    },
  })

  it('stops an update that would change nothing', async () => {
    const { client } = await startTestCore({ admission: [refusing('UPDATE', '')] })
    await client.create(configMaps, configMap('a'))
    await expect(client.update(configMaps, configMap('a'))).rejects.toThrow('refused')
  })

  it('of a binding leaves the pod without a node', async () => {
    const { client } = await startTestCore({ admission: [refusing('CREATE', 'binding')] })
    await client.create(pods, pod('a'))
    await expect(client.createSubresource(pods, key, 'binding', binding)).rejects.toThrow('refused')
    expect((await client.get(pods, key)).spec.nodeName).toBeUndefined()
  })

  it('names what a name would be generated from', async () => {
    const { client } = await startTestCore()
    const missing = { generateName: 'web-', namespace: 'default', name: '' }
    const created = client.create(pods, pod('', missing, { priorityClassName: 'none' }))
    expect((await refusal(created)).message).toContain('pods "web-" is forbidden: no PriorityClass')
  })

  it('keeps everything out of a namespace that is ending, evictions and bindings too', async () => {
    const { client } = await startTestCore()
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    await createAccount(client, 'default', 'team')
    await client.create(pods, pod('a', { namespace: 'team' }))
    await client.delete(namespaces, { name: 'team' })
    const bound = client.createSubresource(pods, { namespace: 'team', name: 'a' }, 'binding', binding)
    expect((await refusal(bound)).message).toContain('namespace team because it is being terminated')
  })

  it('of a node agent covers what it may not do to a pod', async () => {
    const { core, client } = await startTestCore()
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    await client.create(pods, pod('a'))
    const agent = core.client({ name: 'system:node:n1', groups: ['system:nodes'] })
    const bound = agent.createSubresource(pods, key, 'binding', binding)
    expect((await refusal(bound)).message).toContain('unexpected pod subresource "binding"')
  })
})

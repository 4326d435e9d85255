import {
  internalError,
  type LogOptions,
  namespaces,
  nodes,
  type Pod,
  pods,
  type ReplicationController,
  replicationControllers,
  type Scale,
} from '@coracle/api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestServer } from '../http/testing/test-server.ts'
import { nodeGateway, pod, refusal, startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'a' }

describe('pods/binding', () => {
  const binding = (name: string, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'a', ...metadata },
    target: { kind: 'Node', name },
  })

  it('puts a pod on a node and says that it is scheduled', async () => {
    const { client } = await startTestCore()
    await client.create(pods, pod('a'))
    const answer = await client.createSubresource(pods, key, 'binding', binding('n1', { annotations: { by: 'test' } }))
    expect(answer).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 })
    const bound = await client.get(pods, key)
    expect(bound.spec.nodeName).toBe('n1')
    expect(bound.metadata).toMatchObject({ annotations: { by: 'test' }, generation: 1 })
    expect(bound.status?.conditions).toEqual([
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ])
    expect(bound.status?.phase).toBe('Pending')
  })

  it('leaves pods of one template that get to one node with one desired state', async () => {
    const { client } = await startTestCore()
    const specOf = async (name: string) => (await client.get(pods, { ...key, name })).spec
    for (const name of ['a', 'b', 'c'])
      await client.create(pods, { ...pod('a'), metadata: { ...pod('a').metadata, name } })
    expect(await specOf('b')).toBe(await specOf('a'))
    for (const [name, node] of [
      ['a', 'n1'],
      ['b', 'n1'],
      ['c', 'n2'],
    ] as const) {
      const body = { ...binding(node), metadata: { name } }
      await client.createSubresource(pods, { ...key, name }, 'binding', body)
    }
    expect(await specOf('b')).toBe(await specOf('a'))
    expect((await specOf('c')).nodeName).toBe('n2')
  })

  it('puts it there once', async () => {
    const { client } = await startTestCore()
    await client.create(pods, pod('a'))
    const both = ['n1', 'n2'].map((node) => refusal(client.createSubresource(pods, key, 'binding', binding(node))))
    const [first, second] = await Promise.allSettled(both)
    expect(first?.status).toBe('rejected')
    expect(second).toMatchObject({
      value: {
        code: 409,
        reason: 'Conflict',
        message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
      },
    })
  })

  it.each([
    [
      'another pod of that name',
      binding('n1', { uid: 'other' }),
      409,
      'Precondition failed: UID in precondition: other',
    ],
    ['another name', binding('n1', { name: 'b' }), 400, 'name in URL does not match name in Binding object'],
    ['no node', binding(''), 500, 'target.name: Required value'],
    ['no name and no target', {}, 400, 'name in URL does not match name in Binding object'],
    ['no target', { metadata: { name: 'a' } }, 500, 'target.name: Required value'],
    [
      'no such kind',
      { ...binding('n1'), target: { kind: 'Cat', name: 'n1' } },
      500,
      'target.kind: Unsupported value: "Cat"',
    ],
  ])('refuses %s', async (_what, body, code, message) => {
    const { client } = await startTestCore()
    await client.create(pods, pod('a'))
    const found = await refusal(client.createSubresource(pods, key, 'binding', body))
    expect(found.code).toBe(code)
    expect(found.message).toContain(message)
  })

  it('refuses a pod that is being deleted, or is held by a gate', async () => {
    const { client } = await startTestCore()
    await client.create(pods, pod('a', { finalizers: ['example.com/hold'] }))
    await client.delete(pods, key)
    const { message } = await refusal(client.createSubresource(pods, key, 'binding', binding('n1')))
    expect(message).toContain('pod a is being deleted, cannot be assigned to a host')
    await client.create(pods, pod('g', {}, { schedulingGates: [{ name: 'example.com/gate' }] }))
    const gated = client.createSubresource(pods, { ...key, name: 'g' }, 'binding', binding('n1', { name: 'g' }))
    expect((await refusal(gated)).message).toContain('pod g has non-empty .spec.schedulingGates')
  })
})

describe('scale', () => {
  async function withController() {
    const test = await startTestCore()
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const controller = {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: key,
      spec: { replicas: 2, template },
    } as ReplicationController
    const created = await test.client.create(replicationControllers, controller)
    const get = () => test.client.get(replicationControllers as never, key, { subresource: 'scale' }) as Promise<Scale>
    const update = (scale: unknown) =>
      test.client.update(replicationControllers as never, scale as never, { subresource: 'scale' }) as Promise<Scale>
    return { ...test, created, get, update }
  }

  it('shows how many there are and should be', async () => {
    const { created, get } = await withController()
    const { uid, resourceVersion, creationTimestamp } = created.metadata
    expect(await get()).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { ...key, uid, resourceVersion, creationTimestamp },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=web' },
    })
  })

  it('changes how many there should be, by update and by patch', async () => {
    const { client, get, update } = await withController()
    expect((await update({ ...(await get()), spec: { replicas: 5 } })).spec?.replicas).toBe(5)
    const body = { spec: { replicas: 7 } }
    await client.patch(replicationControllers, key, { type: 'merge', body }, { subresource: 'scale' })
    const changed = await client.get(replicationControllers, key)
    expect(changed.spec?.replicas).toBe(7)
    expect(changed.metadata.generation).toBe(3)
  })

  it('warns of the template that more or fewer pods are made from', async () => {
    const server = await TestServer.start()
    onTestFinished(() => server.close())
    const annotations = { 'scheduler.alpha.kubernetes.io/critical-pod': '' }
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const template = { metadata: { labels: { app: 'web' }, annotations }, spec }
    const path = '/api/v1/namespaces/default/replicationcontrollers'
    const warningOf = async (method: string, to: string, body: object, type = 'application/json') =>
      (await server.call(to, { method, body, headers: { 'content-type': type } })).headers.warning
    const warning = expect.stringContaining('spec.template.metadata.annotations[')
    const controller = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'a' }, spec: { template } }
    expect(await warningOf('POST', path, controller)).toEqual(warning)
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: key, spec: { replicas: 2 } }
    expect(await warningOf('PUT', `${path}/a/scale`, scale)).toEqual(warning)
    expect(await warningOf('PUT', `${path}/a/scale`, scale)).toBeUndefined()
    const patch = { spec: { replicas: 3 } }
    expect(await warningOf('PATCH', `${path}/a/scale`, patch, 'application/merge-patch+json')).toEqual(warning)
  })

  it('is applied to by its path: a name in the body may be left out, and no other be told', async () => {
    const { client, registry } = await withController()
    const apply = (metadata: object, replicas: number) => {
      const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas } }
      const options = { subresource: 'scale', fieldManager: 'm' }
      return client.patch(replicationControllers, key, { type: 'apply', body }, options)
    }
    const ofOther = 'the namespace of the provided object does not match the namespace sent on the request'
    const refusals: readonly [object, number, string | RegExp][] = [
      [{ name: 'b' }, 5, /^Apply failed with 1 conflict: /],
      [{ name: 'b' }, 2, 'the name of the object (b) does not match the name on the URL (a)'],
      [{ namespace: 'other' }, 2, ofOther],
    ]
    for (const [metadata, replicas, message] of refusals) {
      expect((await refusal(apply(metadata, replicas))).message).toMatch(message)
    }
    await apply({}, 2)
    const { owners } = await registry(replicationControllers).get('default', 'a')
    expect(owners.map(({ name, subresource }) => [name, subresource])).toContainEqual(['m', 'scale'])
  })

  it('refuses an old version and a count below zero', async () => {
    const { get, update } = await withController()
    const old = await get()
    await update({ ...old, spec: { replicas: 5 } })
    expect((await refusal(update({ ...old, spec: { replicas: 6 } }))).message).toContain(
      'Operation cannot be fulfilled on replicationcontrollers "a": the object has been modified',
    )
    const { resourceVersion: _resourceVersion, ...metadata } = old.metadata
    expect((await refusal(update({ ...old, metadata, spec: { replicas: -1 } }))).message).toBe(
      'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    )
  })
})

describe('namespaces/finalize', () => {
  it('changes spec.finalizers, which a plain update does not', async () => {
    const { client } = await startTestCore()
    const created = await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    const without = { ...created, spec: {} }
    expect(await client.update(namespaces, without)).toBe(created)
    const finalized = await client.update(namespaces, without, { subresource: 'finalize' })
    expect(finalized.spec?.finalizers ?? []).toEqual([])
    expect(finalized.status).toEqual({ phase: 'Active' })
  })
})

describe('pods/log', () => {
  async function withNode() {
    const asked: { pod: string; options: LogOptions }[] = []
    async function* pieces() {
      yield Buffer.from('hello\n')
    }
    const logs = async (of: unknown, options: LogOptions) => {
      asked.push({ pod: (of as Pod).metadata.name ?? '', options })
      return pieces()
    }
    const test = await startTestCore({ nodes: nodeGateway({ logs }) })
    const read = async (query: Readonly<Record<string, string>>, name = 'a') => {
      let text = ''
      for await (const piece of await test.client.stream(pods, { ...key, name }, 'log', query))
        text += Buffer.from(piece)
      return text
    }
    return { ...test, asked, read }
  }

  it('asks the node of the pod, for its only container', async () => {
    const { client, asked, read } = await withNode()
    await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
    expect(await read({ tailLines: '5', follow: 'true', sinceTime: '2026-01-01T00:00:01Z' })).toBe('hello\n')
    expect(asked).toEqual([
      {
        pod: 'a',
        options: {
          container: 'main',
          follow: true,
          previous: false,
          timestamps: false,
          tailLines: 5,
          sinceTimeMs: 1_767_225_601_000,
        },
      },
    ])
  })

  it('says that the node is not there where that is why nobody answers', async () => {
    const logs = () => Promise.reject(internalError('not connected'))
    const { client } = await startTestCore({ nodes: nodeGateway({ logs }) })
    await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
    const read = () => client.stream(pods, { ...key, name: 'a' }, 'log', {})
    expect(await refusal(read())).toMatchObject({ code: 404, reason: 'NotFound', message: 'nodes "n1" not found' })
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    expect(await refusal(read())).toMatchObject({ code: 500, message: 'Internal error occurred: not connected' })
  })

  it('is empty while no node has the pod', async () => {
    const { client, read } = await withNode()
    await client.create(pods, pod('a'))
    expect(await read({})).toBe('')
  })

  it('has to know which of several containers', async () => {
    const { client, read } = await withNode()
    const containers = ['one', 'two'].map((name) => ({ name, image: 'i' }))
    await client.create(pods, pod('a', {}, { containers: containers as never, nodeName: 'n1' }))
    expect((await refusal(read({}))).message).toBe(
      'a container name must be specified for pod a, choose one of: [one two]',
    )
    expect((await refusal(read({ container: 'three' }))).message).toBe('container three is not valid for pod a')
    expect(await read({ container: 'two' })).toBe('hello\n')
  })

  it.each([
    [{ tailLines: '-1' }, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    [{ sinceSeconds: '0' }, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [{ sinceSeconds: '1', sinceTime: '2026-01-01T00:00:00Z' }, 'at most one of `sinceTime` or `sinceSeconds`'],
  ])('refuses %j', async (query, message) => {
    const { client, read } = await withNode()
    await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
    const found = await refusal(read(query))
    expect(found.code).toBe(422)
    expect(found.message).toContain(message)
  })

  it('refuses to begin at what is no time', async () => {
    const { client, read } = await withNode()
    await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
    expect(await refusal(read({ sinceTime: 'x' }))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    })
  })
})

import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  VersionApi,
  Watch,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { controller, pod } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'

// The official JavaScript client, with nothing but the kubeconfig the program wrote.

const namespace = 'default'

let program: Program
let config: KubeConfig
let core: CoreV1Api
beforeAll(async () => {
  program = await Program.start({ args: ['--memory'] })
  config = new KubeConfig()
  config.loadFromFile(program.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
})
afterAll(() => program[Symbol.asyncDispose]())

const configMap = (name: string, data: Record<string, string> = { a: '1' }, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data,
})
const create = (body: V1ConfigMap) => core.createNamespacedConfigMap({ namespace, body })

/** The code and the Status of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<{ code: number; reason: string }> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ApiException)) throw error
    return { code: error.code, reason: JSON.parse(error.body).reason }
  }
  throw new Error('it did not fail')
}

describe('typed calls', () => {
  it('create, read, list, replace and delete', async () => {
    const created = await create(configMap('typed', { a: '1' }, { set: 'typed' }))
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date)
    expect(await core.readNamespacedConfigMap({ namespace, name: 'typed' })).toEqual(created)
    const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'set=typed' })
    // Of a list the list itself has the kind.
    expect(items).toEqual([{ ...created, apiVersion: undefined, kind: undefined }])

    const body = { ...created, data: { a: '2' } }
    const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'typed', body })
    expect(replaced.data).toEqual({ a: '2' })
    expect(await failure(core.replaceNamespacedConfigMap({ namespace, name: 'typed', body }))).toEqual({
      code: 409,
      reason: 'Conflict',
    })

    const deleted = await core.deleteNamespacedConfigMap({ namespace, name: 'typed' })
    expect(deleted.status).toBe('Success')
    expect(await failure(core.readNamespacedConfigMap({ namespace, name: 'typed' }))).toEqual({
      code: 404,
      reason: 'NotFound',
    })
  })

  it.each([
    [PatchStrategy.JsonPatch, [{ op: 'add', path: '/data/b', value: '2' }]],
    [PatchStrategy.MergePatch, { data: { b: '2' } }],
    [PatchStrategy.StrategicMergePatch, { data: { b: '2' } }],
  ])('patch by %s', async (strategy, body) => {
    const name = `patched-${strategy.length}`
    await create(configMap(name))
    const options = setHeaderOptions('Content-Type', strategy)
    const patched = await core.patchNamespacedConfigMap({ namespace, name, body }, options)
    expect(patched.data).toEqual({ a: '1', b: '2' })
  })

  it('read lists in pages', async () => {
    for (let index = 0; index < 5; index++) await create(configMap(`page-${index}`, {}, { set: 'pages' }))
    const names: (string | undefined)[] = []
    let _continue: string | undefined
    do {
      const page = await core.listNamespacedConfigMap({
        namespace,
        labelSelector: 'set=pages',
        limit: 2,
        ...(_continue === undefined ? {} : { _continue }),
      })
      expect(page.items.length).toBeLessThanOrEqual(2)
      names.push(...page.items.map(({ metadata }) => metadata?.name))
      _continue = page.metadata?._continue
    } while (_continue)
    expect(names).toEqual([0, 1, 2, 3, 4].map((index) => `page-${index}`))
  })

  it('understand bytes, quantities, times with microseconds, and the version', async () => {
    const data = { key: Buffer.from([0, 255, 10]).toString('base64') }
    const secret = await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'bytes' }, data } })
    expect([secret.type, secret.data]).toEqual(['Opaque', data])
    const { items: nodes } = await core.listNode()
    expect(Number(nodes[0]?.status?.capacity?.pods)).toBeGreaterThan(0)
    const lease = await config
      .makeApiClient(CoordinationV1Api)
      .readNamespacedLease({ namespace: 'kube-node-lease', name: nodes[0]?.metadata?.name ?? '' })
    expect(String(lease.spec?.renewTime)).toMatch(/:\d\d\.\d{6}Z$/)
    expect(await config.makeApiClient(VersionApi).getCode()).toMatchObject({ major: '1', minor: '36' })
  })

  it('scale a controller, whose pods come and go', async () => {
    const body = controller('scaled', 1, ['sleep', '600'])
    await core.createNamespacedReplicationController({ namespace, body })
    const ready = (count: number) =>
      eventually(`${count} pods`, async () => {
        const { status } = await core.readNamespacedReplicationController({ namespace, name: 'scaled' })
        return status?.readyReplicas === count
      })
    await ready(1)
    const scale = await core.readNamespacedReplicationControllerScale({ namespace, name: 'scaled' })
    expect(scale.spec?.replicas).toBe(1)
    const wanted = { ...scale, spec: { replicas: 3 } }
    await core.replaceNamespacedReplicationControllerScale({ namespace, name: 'scaled', body: wanted })
    await ready(3)
    const options = { namespace, name: 'scaled', propagationPolicy: 'Foreground', gracePeriodSeconds: 0 }
    await core.deleteNamespacedReplicationController(options)
    await eventually('none', async () => {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'app=scaled' })
      return items.every(({ metadata }) => metadata?.deletionTimestamp !== undefined)
    })
  })
})

describe('Watch', () => {
  it('tells what happens in order, from a version on', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    const events: string[] = []
    const ended = Promise.withResolvers<unknown>()
    const aborter = await new Watch(config).watch(
      path,
      { resourceVersion: metadata?.resourceVersion, labelSelector: 'set=watched' },
      (type, object: V1ConfigMap) => events.push(`${type} ${object.metadata?.name} ${object.data?.a}`),
      ended.resolve,
    )
    await create(configMap('unseen'))
    await create(configMap('watched', { a: '1' }, { set: 'watched' }))
    const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
    await core.patchNamespacedConfigMap({ namespace, name: 'watched', body: { data: { a: '2' } } }, options)
    await core.deleteNamespacedConfigMap({ namespace, name: 'watched' })
    await eventually('three events', async () => events.length >= 3)
    aborter.abort()
    await ended.promise
    expect(events).toEqual(['ADDED watched 1', 'MODIFIED watched 2', 'DELETED watched 2'])
  })
})

describe('makeInformer', () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const labelSelector = 'set=informed'
  const informed = (name: string, a: string) => configMap(name, { a }, { set: 'informed' })

  it('keeps up, through a connection that breaks and a history that is gone', async () => {
    const [port] = await ownPorts(1)
    const args = ['--runtime', 'simulated', '--port', String(port)]
    await using own = await Program.start({ alone: true, args })
    const ownConfig = new KubeConfig()
    ownConfig.loadFromFile(own.kubeconfig)
    const ownCore = ownConfig.makeApiClient(CoreV1Api)
    await ownCore.createNamespacedConfigMap({ namespace, body: informed('one', '1') })
    const list = () => ownCore.listNamespacedConfigMap({ namespace, labelSelector })
    const informer = makeInformer(ownConfig, path, list, labelSelector)
    const told: string[] = []
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, ({ metadata, data }) => told.push(`${verb} ${metadata?.name} ${data?.a}`))
    }
    const errors: unknown[] = []
    const broken = Promise.withResolvers<void>()
    informer.on('error', (error: unknown) => {
      errors.push(error)
      broken.resolve()
    })
    await informer.start()
    expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['one'])
    await ownCore.createNamespacedConfigMap({ namespace, body: informed('two', '1') })
    await eventually('the second', async () => informer.get('two', namespace))

    // The program dies, is changed while nobody watches, and comes back at the same address without that history.
    await own.end('SIGKILL')
    await broken.promise
    const dataDir = own.dataDir
    await using again = await Program.start({ dataDir, args })
    expect(again.address).toBe(own.address)
    await ownCore.deleteNamespacedConfigMap({ namespace, name: 'one' })
    await ownCore.replaceNamespacedConfigMap({ namespace, name: 'two', body: informed('two', '2') })
    await ownCore.createNamespacedConfigMap({ namespace, body: informed('three', '1') })
    await informer.start()
    await eventually('the present state', async () => told.length >= 5)
    await informer.stop()
    expect(told.slice(0, 2)).toEqual(['add one 1', 'add two 1'])
    expect(told.slice(2).sort()).toEqual(['add three 1', 'delete one 1', 'update two 2'])
    expect(informer.get('two', namespace)?.data).toEqual({ a: '2' })
  })
})

describe('Log', () => {
  it('prints what a container has written, and follows what it writes', async () => {
    const script = 'echo one; while [ ! -e more ]; do sleep 0.05; touch more; done; echo two'
    const body = pod('logged', ['sh', '-c', script], { spec: { restartPolicy: 'Never' } })
    await core.createNamespacedPod({ namespace, body })
    await eventually('it to have started', async () => {
      const { status } = await core.readNamespacedPod({ namespace, name: 'logged' })
      return status?.phase === 'Running' || status?.phase === 'Succeeded'
    })
    const stream = new PassThrough()
    await new Log(config).log(namespace, 'logged', 'main', stream, { follow: true })
    expect(await text(stream)).toBe('one\ntwo\n')
    expect(await core.readNamespacedPodLog({ namespace, name: 'logged', tailLines: 1 })).toBe('two\n')
  })

  it('is an error for a container that is not there', async () => {
    const stream = new PassThrough()
    const call = new Log(config).log(namespace, 'nobody', 'main', stream)
    await expect(call).rejects.toMatchObject({ code: 404 })
  })
})

describe('KubernetesObjectApi', () => {
  it('finds its way by discovery alone', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    const header = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'dynamic', namespace } }
    const created = await objects.create<V1ConfigMap>({ ...header, ...configMap('dynamic') } as V1ConfigMap)
    expect(created.metadata?.uid).toBeDefined()
    await objects.patch(
      { ...header, data: { b: '2' } } as V1ConfigMap,
      undefined,
      undefined,
      undefined,
      undefined,
      PatchStrategy.MergePatch,
    )
    const read = await objects.read<V1ConfigMap>(header)
    expect(read.data).toEqual({ a: '1', b: '2' })
    const { items } = await objects.list<V1ConfigMap>('v1', 'ConfigMap', namespace)
    expect(items.map(({ metadata }) => metadata?.name)).toContain('dynamic')

    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'dynamic', namespace } }
    await objects.create(lease)
    expect(await objects.read(lease)).toMatchObject({ kind: 'Lease', metadata: { name: 'dynamic' } })
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dynamic' } }
    await objects.create(space)
    for (const each of [header, lease, space]) await objects.delete(each)
    expect(await failure(objects.read(header))).toEqual({ code: 404, reason: 'NotFound' })
    await eventually('the namespace to go', async () => (await failure(objects.read(space))).code === 404)
  })
})

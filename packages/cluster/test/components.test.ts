import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  customResourceDefinitions,
  type Node,
  namespaces,
  nodes,
  type Pod,
  pods,
  type ReplicationController,
  replicationControllers,
  serviceAccounts,
} from '@coracle/api'
import { connectionOf, createHttpClient, parseKubeconfig } from '@coracle/client'
import { lostAnswers, withFaults } from '@coracle/client/faults'
import { widgets } from '@coracle/client/testing'
import { realEnvironment, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { type Store, StoreClosedError } from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Cluster, type ClusterOptions, startCluster } from '../src/index.ts'

const controller = (name: string, replicas: number): ReplicationController => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'example' }] } },
  } as never,
})

const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as never

const isReady = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')?.status

async function start(options: Omit<ClusterOptions, 'environment'> & { readonly seed?: number } = {}) {
  const environment = virtualEnvironment({ seed: options.seed ?? 1 })
  const cluster = await startCluster({ environment, nodes: 2, ...options })
  onTestFinished(() => cluster.stop())
  return { cluster, environment }
}

const listPods = async ({ client }: Cluster): Promise<readonly Pod[]> =>
  (await client.list(pods, { namespace: 'default' })).items

const phases = async (cluster: Cluster) => (await listPods(cluster)).map(({ status }) => status?.phase)

/** Lets time pass until the pods of the namespace are as wanted. */
async function eventually(cluster: Cluster, { clock }: VirtualEnvironment, wanted: readonly string[]): Promise<void> {
  for (let seconds = 0; seconds < 120; seconds++) {
    if (JSON.stringify(await phases(cluster)) === JSON.stringify(wanted)) return
    await clock.advance('1s')
  }
  expect(await phases(cluster)).toEqual(wanted)
}

const widgetDefinitionAndController = async ({ client }: Cluster): Promise<void> => {
  await client.create(customResourceDefinitions, widgetDefinition)
  await client.create(replicationControllers, controller('web', 1))
}

describe('a cluster without all of its components', () => {
  it('leaves undone what the controllers would do that are not wanted, and serves what it would', async () => {
    const { cluster, environment } = await start({ builtinControllers: ['*', '-replicationcontroller'] })
    await widgetDefinitionAndController(cluster)
    await environment.clock.advance('1m')
    expect(await phases(cluster)).toEqual([])
    expect((await cluster.client.list(serviceAccounts, { namespace: 'default' })).items).toHaveLength(1)
  })

  it('starts them when it is told to, and they stay when the others start again', async () => {
    const { cluster, environment } = await start({
      // Without it new nodes keep the taint that they are not ready.
      builtinControllers: ['node-lifecycle-controller'],
      disabledAdmission: ['ServiceAccount'],
    })
    await widgetDefinitionAndController(cluster)
    await environment.clock.advance('1m')
    expect((await cluster.client.list(serviceAccounts, { namespace: 'default' })).items).toEqual([])
    await cluster.controller('replication-controller').start()
    await eventually(cluster, environment, ['Running'])
    await cluster.components['kube-controller-manager'].stop()
    await cluster.components['kube-controller-manager'].start()
    await cluster.client.create(replicationControllers, controller('more', 1))
    await eventually(cluster, environment, ['Running', 'Running'])
    expect((await cluster.client.list(serviceAccounts, { namespace: 'default' })).items).toEqual([])
  })

  it('establishes custom resource definitions without any controller, as upstream, whose API server does', async () => {
    const { cluster, environment } = await start({ builtinControllers: [], scheduler: false, nodes: 0 })
    await widgetDefinitionAndController(cluster)
    await environment.clock.advance('1s')
    const { status } = await cluster.client.get(customResourceDefinitions, { name: 'widgets.example.com' })
    expect(status?.conditions?.find(({ type }) => type === 'Established')?.status).toBe('True')
  })

  it('refuses controllers that there are not, before anything is started', async () => {
    const store = () => expect.fail('the store is opened')
    const started = startCluster({ environment: virtualEnvironment(), store, builtinControllers: ['-stateful-set'] })
    await expect(started).rejects.toThrow('"stateful-set" is not in the list of known controllers')
  })

  it('places no pods without a scheduler, until it is started', async () => {
    const { cluster, environment } = await start({ scheduler: false })
    await cluster.client.create(replicationControllers, controller('web', 1))
    await environment.clock.advance('1m')
    const [pod] = await listPods(cluster)
    expect(pod?.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' })
    await cluster.components['kube-scheduler'].start()
    await eventually(cluster, environment, ['Running'])
  })
})

describe('a component that is stopped and started again', () => {
  it('leaves its work undone meanwhile, and takes it up: the scheduler', async () => {
    const { cluster, environment } = await start()
    await cluster.components['kube-scheduler'].stop()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await environment.clock.advance('1m')
    expect((await listPods(cluster)).map(({ spec }) => spec?.nodeName)).toEqual([undefined, undefined])
    await cluster.components['kube-scheduler'].start()
    await eventually(cluster, environment, ['Running', 'Running'])
  })

  it('leaves its work undone meanwhile, and takes it up: the controllers', async () => {
    const { cluster, environment } = await start()
    await cluster.components['kube-controller-manager'].stop()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await environment.clock.advance('1m')
    expect(await phases(cluster)).toEqual([])
    await cluster.components['kube-controller-manager'].start()
    await eventually(cluster, environment, ['Running', 'Running'])
  })

  it('leaves its work undone meanwhile, and takes it up: the nodes', async () => {
    const { cluster, environment } = await start()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await eventually(cluster, environment, ['Running', 'Running'])
    const before = (await listPods(cluster)).map(({ metadata }) => metadata?.uid)
    await cluster.components.nodes.stop()
    await cluster.client.patch(
      replicationControllers,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { replicas: 3 } } },
    )
    await environment.clock.advance('10s')
    expect([...(await phases(cluster))].sort()).toEqual(['Pending', 'Running', 'Running'])
    await cluster.components.nodes.start()
    await eventually(cluster, environment, ['Running', 'Running', 'Running'])
    expect((await listPods(cluster)).map(({ metadata }) => metadata?.uid)).toEqual(expect.arrayContaining(before))
  })

  it('may be told twice, and not after the end', async () => {
    const { cluster } = await start()
    const scheduler = cluster.components['kube-scheduler']
    await Promise.all([scheduler.stop(), scheduler.stop(), scheduler.start(), scheduler.start()])
    await cluster.stop()
    await expect(scheduler.start()).rejects.toThrow('the cluster is stopped')
  })
})

describe('a single controller', () => {
  it('may be stopped and started while the others go on', async () => {
    const { cluster, environment } = await start()
    await cluster.controller('replication-controller').stop()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await cluster.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    await environment.clock.advance('1m')
    expect(await phases(cluster)).toEqual([])
    const accounts = await cluster.client.list(serviceAccounts, { namespace: 'other' })
    expect(accounts.items).toHaveLength(1)
    await cluster.controller('replication-controller').start()
    await eventually(cluster, environment, ['Running', 'Running'])
  })

  it('stays stopped when the controller manager starts again', async () => {
    const { cluster, environment } = await start()
    await cluster.controller('replication-controller').stop()
    await cluster.components['kube-controller-manager'].stop()
    await cluster.components['kube-controller-manager'].start()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await environment.clock.advance('1m')
    expect(await phases(cluster)).toEqual([])
  })

  it('that runs by itself may be crashed and started too: the garbage collector', async () => {
    const { cluster, environment } = await start()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await eventually(cluster, environment, ['Running', 'Running'])
    await cluster.controller('generic-garbage-collector').crash()
    await cluster.client.delete(
      replicationControllers,
      { namespace: 'default', name: 'web' },
      { propagationPolicy: 'Background' },
    )
    await environment.clock.advance('1m')
    expect(await phases(cluster)).toHaveLength(2)
    await cluster.controller('generic-garbage-collector').start()
    await eventually(cluster, environment, [])
  })

  it('starts while a kind cannot be listed, and the garbage collector sees to the others', async () => {
    const { cluster, environment } = await start()
    const { client, components } = cluster
    await client.create(customResourceDefinitions, widgetDefinition)
    await environment.clock.advance('1s')
    const metadata = { name: 'one', namespace: 'default' }
    await client.create(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata })
    const schema = { openAPIV3Schema: { type: 'object' } }
    const spec = {
      versions: [
        { name: 'v1', served: true, storage: false, schema },
        { name: 'v2', served: true, storage: true, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { service: { name: 'absent', namespace: 'default' } },
          conversionReviewVersions: ['v1'],
        },
      },
    }
    await client.patch(customResourceDefinitions, { name: 'widgets.example.com' }, { type: 'merge', body: { spec } })
    await client.create(replicationControllers, controller('web', 1))
    await eventually(cluster, environment, ['Running'])
    await components['kube-controller-manager'].stop()
    await components['kube-controller-manager'].start()
    await client.delete(
      replicationControllers,
      { namespace: 'default', name: 'web' },
      { propagationPolicy: 'Background' },
    )
    await eventually(cluster, environment, [])
  })

  it('is named where there is none', async () => {
    const { cluster } = await start()
    expect(() => cluster.controller('deployer')).toThrow('there is no "deployer", only: replication-controller,')
  })
})

describe('a single node', () => {
  it('may crash alone: its containers run on, and its agent takes them up again', async () => {
    const { cluster, environment } = await start({ agents: 'separate' })
    await cluster.client.create(replicationControllers, controller('web', 4))
    await eventually(cluster, environment, ['Running', 'Running', 'Running', 'Running'])
    const before = await listPods(cluster)
    await cluster.node('node-0').crash()
    await environment.clock.advance('1m')
    const readiness = async () => (await cluster.client.list(nodes)).items.map(isReady)
    expect(await readiness()).toEqual(['Unknown', 'True'])
    await cluster.node('node-0').start()
    await environment.clock.advance('1m')
    expect(await readiness()).toEqual(['True', 'True'])
    const containers = (list: readonly Pod[]) => list.map(({ status }) => status?.containerStatuses?.[0]?.containerID)
    expect(containers(await listPods(cluster))).toEqual(containers(before))
  })

  it('has its own clock and pod addresses that no other has', async () => {
    const hourMs = 3_600_000
    const { cluster, environment } = await start({
      agents: 'separate',
      seams: { skewMs: (name) => (name === 'node-1' ? hourMs : 0) },
    })
    await cluster.client.create(replicationControllers, controller('web', 4))
    await eventually(cluster, environment, ['Running', 'Running', 'Running', 'Running'])
    const list = await listPods(cluster)
    for (const { spec, status } of list) {
      expect(status?.startTime).toMatch(spec.nodeName === 'node-1' ? /^2026-01-01T01:00/ : /^2026-01-01T00:00/)
    }
    expect(new Set(list.map(({ status }) => status?.podIP)).size).toBe(4)
  })

  it('says how to have one where all share an agent', async () => {
    const { cluster } = await start()
    expect(() => cluster.node('node-0')).toThrow("start the cluster with agents: 'separate'")
  })
})

describe('the API server', () => {
  it('may crash and start again over its store, and everybody goes on', async () => {
    const { cluster, environment } = await start({ agents: 'separate' })
    await cluster.client.create(replicationControllers, controller('web', 2))
    await eventually(cluster, environment, ['Running', 'Running'])
    const before = await listPods(cluster)
    await cluster.components.apiserver.crash()
    await expect(listPods(cluster)).rejects.toThrow('the API server does not run')
    await environment.clock.advance('30s')
    await cluster.components.apiserver.start()
    expect((await listPods(cluster)).map(({ metadata }) => metadata.uid)).toEqual(
      before.map(({ metadata }) => metadata.uid),
    )
    await cluster.client.patch(
      replicationControllers,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { replicas: 3 } } },
    )
    await eventually(cluster, environment, ['Running', 'Running', 'Running'])
  })

  it('may come after the others', async () => {
    const { cluster, environment } = await start({ agents: 'separate' })
    const { apiserver, ...others } = cluster.components
    await apiserver.stop()
    for (const component of Object.values(others)) await component.crash()
    for (const component of Object.values(others)) await component.start()
    await environment.clock.advance('10s')
    await apiserver.start()
    await cluster.client.create(replicationControllers, controller('web', 2))
    await eventually(cluster, environment, ['Running', 'Running'])
  })

  it('knows kinds that came before it crashed, and so does the garbage collector', async () => {
    const { cluster, environment } = await start()
    await cluster.client.create(customResourceDefinitions, widgetDefinition)
    await environment.clock.advance('1s')
    await cluster.components.apiserver.crash()
    await cluster.components.apiserver.start()
    await environment.clock.advance('10s')
    const owner = await cluster.client.create(widgets, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'owner', namespace: 'default' },
    })
    const { name = '', uid = '' } = owner.metadata
    await cluster.client.create(widgets, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name: 'owned',
        namespace: 'default',
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name, uid }],
      },
    })
    await environment.clock.advance('10s')
    await cluster.client.delete(widgets, { namespace: 'default', name })
    await environment.clock.advance('1m')
    expect((await cluster.client.list(widgets)).items).toEqual([])
  })

  it('serves HTTPS again at the same address with the same keys', async () => {
    await using cluster = await startCluster({ nodes: 0 })
    const environment = realEnvironment()
    const connection = await connectionOf(await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'), environment)
    const client = createHttpClient({ ...connection, ...environment })
    onTestFinished(() => client.close())
    await client.list(pods)
    await cluster.components.apiserver.stop()
    await expect(client.list(pods)).rejects.toThrow()
    await cluster.components.apiserver.start()
    expect((await client.list(pods)).items).toEqual([])
  })
})

describe('the store', () => {
  it('may be made by a function, and be faulty: what is written at last is carried out', async () => {
    const real = createMemoryStore()
    const store = faultyStore(real)
    const { cluster, environment } = await start({ store: () => store })
    await environment.clock.advance('20s')
    store.cut()
    await expect(cluster.client.create(replicationControllers, controller('web', 2))).rejects.toThrow()
    await environment.clock.advance('5s')
    store.restore()
    await cluster.client.create(replicationControllers, controller('web', 2))
    store.loseAnswers(2)
    await eventually(cluster, environment, ['Running', 'Running'])
  })

  it('that a function made is closed with the cluster', async () => {
    const made: Store[] = []
    const { cluster } = await start({
      store: () => {
        const store = createMemoryStore()
        made.push(store)
        return store
      },
    })
    await cluster.stop()
    await expect(made[0]?.get('a')).rejects.toThrow(StoreClosedError)
  })

  it('on a disk is waited for by a virtual clock', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'coracle-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const { cluster, environment } = await start({ dataDir })
    let isCreated = false
    void cluster.client.create(replicationControllers, controller('web', 2)).then(() => {
      isCreated = true
    })
    await environment.clock.settle()
    expect(isCreated).toBe(true)
    await environment.clock.advance('5s')
    expect(await phases(cluster)).toEqual(['Running', 'Running'])
  })
})

describe('the seams of a component', () => {
  it('may lose answers: a replication controller still ends with exactly its pods', async () => {
    let isFaulty = true
    let lost = 0
    const faults = lostAnswers(({ verb }) => isFaulty && verb === 'create' && ++lost > 0)
    const { cluster, environment } = await start({
      seams: { client: (name, client) => (name === 'replication-controller' ? withFaults(client, [faults]) : client) },
    })
    await cluster.client.create(replicationControllers, controller('web', 3))
    await environment.clock.advance('5s')
    isFaulty = false
    await eventually(cluster, environment, ['Running', 'Running', 'Running'])
    expect(lost).toBeGreaterThan(0)
  })

  it('may have clocks that disagree: what a component writes has its own time', async () => {
    const hourMs = 3_600_000
    const { cluster, environment } = await start({ seams: { skewMs: (name) => (name === 'nodes' ? hourMs : 0) } })
    await cluster.client.create(replicationControllers, controller('web', 1))
    await eventually(cluster, environment, ['Running'])
    const [pod] = await listPods(cluster)
    // A pod is started within the minute in which it was created.
    expect(pod?.metadata?.creationTimestamp).toMatch(/^2026-01-01T00:00/)
    expect(pod?.status?.startTime).toMatch(/^2026-01-01T01:00/)
  })
})

describe('a seed', () => {
  /** Everything that happens to pods and controllers, as text. */
  async function history(seed: number, disturb: (cluster: Cluster) => Promise<void> = async () => {}) {
    const { cluster, environment } = await start({ seed })
    const events: string[] = []
    for (const resource of [pods, replicationControllers]) {
      const watch = await cluster.client.watch<Pod | ReplicationController>(resource as never)
      void (async () => {
        for await (const event of watch) events.push(JSON.stringify(event))
      })().catch(() => {})
    }
    await disturb(cluster)
    for (const [name, replicas] of [
      ['web', 3],
      ['db', 2],
    ] as const) {
      await cluster.client.create(replicationControllers, controller(name, replicas))
    }
    await environment.clock.advance('1m')
    const names = (await listPods(cluster)).map(({ metadata }) => metadata?.name)
    await cluster.stop()
    return { events, names }
  }

  it('gives the same run, byte for byte, and another seed another', async () => {
    const [one, same, other] = [await history(7), await history(7), await history(8)]
    expect(one.events.length).toBeGreaterThan(20)
    expect(same.events).toEqual(one.events)
    expect(other.names).not.toEqual(one.names)
  })

  it('gives pods the same names, whatever another component draws', async () => {
    const restartScheduler = async ({ components }: Cluster) => {
      await components['kube-scheduler'].stop()
      await components['kube-scheduler'].start()
    }
    expect((await history(7, restartScheduler)).names).toEqual((await history(7)).names)
  })
})

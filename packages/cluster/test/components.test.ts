import { type Pod, pods, type ReplicationController, replicationControllers } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
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

describe('the seams of a component', () => {
  /** Answers to the named controller's creations are lost after they took effect, until it is repaired. */
  function losingAnswers(component: string) {
    let isFaulty = true
    let lost = 0
    const client = (name: string, real: Client): Client => {
      if (name !== component) return real
      const create: Client['create'] = async (resource, object, options) => {
        const created = await real.create(resource, object, options)
        if (!isFaulty) return created
        lost++
        throw new Error('the connection was reset')
      }
      return new Proxy(real, {
        get: (target, property) => {
          const value: unknown = property === 'create' ? create : Reflect.get(target, property)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
    return {
      seams: { client },
      lost: () => lost,
      repair() {
        isFaulty = false
      },
    }
  }

  it('may lose answers: a replication controller still ends with exactly its pods', async () => {
    const network = losingAnswers('replication-controller')
    const { cluster, environment } = await start({ seams: network.seams })
    await cluster.client.create(replicationControllers, controller('web', 3))
    await environment.clock.advance('5s')
    network.repair()
    await eventually(cluster, environment, ['Running', 'Running', 'Running'])
    expect(network.lost()).toBeGreaterThan(0)
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

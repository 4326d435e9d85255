import { ApiError, type KubernetesObject, nodes, type Pod, pods } from '@coracle/api'
import { type Client, ConnectionError } from '@coracle/client'
import { droppedWatches, lostAnswers, lostRequests, withFaults } from '@coracle/client/faults'
import { type Cluster, type Component, startCluster } from '@coracle/cluster'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store'
import { invariants } from './invariants.ts'
import { Observer, type Violation } from './observer.ts'
import type { Operation } from './operation.ts'
import type { Scenario } from './scenario.ts'
import { namespace, type Workload, workloadOf, workloadResources } from './workloads.ts'

/** What came of a run. */
export interface RunResult {
  /** Rules that were broken; none in a clean run. */
  readonly violations: readonly Violation[]
  /** How much virtual time it took, in milliseconds. */
  readonly virtualMs: number
}

/** How long a cluster has to come to rest once nothing fails and nobody asks for anything. */
const restMs = 40 * 60_000

/**
 * Plays a scenario on a cluster of its own in virtual time and holds it against the invariants. The same scenario gives the same
 * run, byte for byte.
 */
export async function run(scenario: Scenario): Promise<RunResult> {
  const environment = virtualEnvironment({ seed: scenario.seed })
  const network = new Network(environment)
  const store = createMemoryStore()
  const cluster = await startCluster({
    environment,
    store: () => store,
    nodes: scenario.nodes,
    nodePrefix: 'node-',
    agents: 'separate',
    seams: { client: (_component, client) => network.between(client) },
  })
  const startMs = environment.clock.now()
  const observer = new Observer(cluster.client, environment, invariants)
  observer.start()
  await environment.clock.settle()
  const player = new Player(cluster, environment, network)
  try {
    for (const operation of scenario.operations) {
      const waitMs = startMs + operation.atMs - environment.clock.now()
      if (waitMs > 0) await environment.clock.advance(waitMs)
      if (losesAnswers(operation)) observer.expectLosses()
      await player.play(operation)
      await environment.clock.settle()
      observer.judge()
    }
    await player.comeToRest()
    observer.judge()
    for (const { name, finally: check } of invariants) {
      for (const message of check?.(observer) ?? []) observer.report(name, message)
    }
    await compareWithServer(cluster.client, observer)
    return { violations: observer.violations, virtualMs: environment.clock.now() - startMs }
  } finally {
    await observer.stop()
    await cluster.stop()
    await store.close()
  }
}

/** Whether the answers to writes may be lost from here on, or what the observer would hear. */
const losesAnswers = ({ type, ...operation }: Operation): boolean =>
  type === 'bad-network' || ('component' in operation && operation.component === 'apiserver')

/** What a watcher has read is what the server has. */
async function compareWithServer(client: Client, observer: Observer): Promise<void> {
  const { items } = await client.list(pods, { namespace })
  const versions = (objects: readonly KubernetesObject[]) =>
    objects
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort()
      .join(' ')
  const [read, written] = [versions(observer.listPods()), versions(items)]
  if (read !== written) observer.report('a watcher reads what was written', `read ${read}, written ${written}`)
}

/** The network of the components: good unless it is made bad. */
class Network {
  readonly #environment: VirtualEnvironment
  #probability = 0

  constructor(environment: VirtualEnvironment) {
    this.#environment = environment
  }

  between(client: Client): Client {
    const random = this.#environment.random.fork('network')
    const strikes = () => this.#probability > 0 && random.next() < this.#probability
    return withFaults(client, [
      lostRequests(strikes),
      lostAnswers(strikes),
      droppedWatches(() => (strikes() ? 1 + Math.floor(random.next() * 10) : Number.POSITIVE_INFINITY)),
    ])
  }

  makeBad(probability: number, forMs: number): void {
    this.#probability = probability
    this.#environment.clock.setTimer(forMs, () => {
      this.#probability = 0
    })
  }
}

/** Does what operations say, as an administrator with a good connection. */
class Player {
  readonly #cluster: Cluster
  readonly #environment: VirtualEnvironment
  readonly #network: Network

  constructor(cluster: Cluster, environment: VirtualEnvironment, network: Network) {
    this.#cluster = cluster
    this.#environment = environment
    this.#network = network
  }

  async play(operation: Operation): Promise<void> {
    try {
      await this.#play(operation)
    } catch (error) {
      // What is asked of may be gone, refused, or out of reach just now. That is the scenario's business.
      if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
    }
  }

  /** Lets pods run everywhere again, and waits until nothing is left to do. */
  async comeToRest(): Promise<void> {
    const { client } = this.#cluster
    await this.#environment.clock.advance(restMs / 2)
    for (const { metadata } of (await client.list(nodes)).items) {
      await client.patch(
        nodes,
        { name: metadata.name ?? '' },
        { type: 'merge', body: { spec: { unschedulable: false } } },
      )
    }
    await this.#environment.clock.advance(restMs / 2)
  }

  async #play(operation: Operation): Promise<void> {
    const { client } = this.#cluster
    switch (operation.type) {
      case 'create': {
        const { shape } = operation
        await client.create(workloadResources[shape.kind], workloadOf(shape))
        return
      }
      case 'scale':
        if (operation.kind === 'DaemonSet') return
        return this.#patch(operation, { spec: { replicas: operation.replicas } })
      case 'set-image':
        return this.#patch(operation, {
          spec: { template: { spec: { containers: [{ name: 'main', image: operation.image }] } } },
        })
      case 'pause':
        return this.#patch({ kind: 'Deployment', name: operation.name }, { spec: { paused: operation.paused } })
      case 'touch':
        return this.#patch(operation, { metadata: { annotations: { touched: String(operation.atMs) } } })
      case 'delete': {
        const { propagationPolicy } = operation
        await client.delete(
          workloadResources[operation.kind],
          { namespace, name: operation.name },
          { propagationPolicy },
        )
        return
      }
      case 'crash':
        return this.#crash(this.#cluster.components[operation.component], operation.forMs)
      case 'crash-node':
        return this.#crash(this.#cluster.node(`node-${operation.node}`), operation.forMs)
      case 'bad-network':
        this.#network.makeBad(operation.probability, operation.forMs)
        return
      case 'cordon': {
        const { items } = await client.list(nodes)
        const node = pickOf(items, operation.pick)
        if (node === undefined) return
        const body = { spec: { unschedulable: operation.isCordoned } }
        await client.patch(nodes, { name: node.metadata.name ?? '' }, { type: 'merge', body })
        return
      }
      case 'delete-pod':
      case 'relabel-pod':
      case 'evict-pod':
        return this.#toPod(operation)
    }
  }

  async #toPod(
    operation: Extract<Operation, { readonly type: 'delete-pod' | 'relabel-pod' | 'evict-pod' }>,
  ): Promise<void> {
    const { client } = this.#cluster
    const { items } = await client.list(pods, { namespace })
    const pod = pickOf<Pod>(items, operation.pick)
    if (pod === undefined) return
    const key = { namespace, name: pod.metadata.name ?? '' }
    switch (operation.type) {
      case 'delete-pod': {
        const { gracePeriodSeconds } = operation
        await client.delete(pods, key, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds })
        return
      }
      case 'relabel-pod':
        await client.patch(pods, key, { type: 'merge', body: { metadata: { labels: { app: 'aside' } } } })
        return
      case 'evict-pod': {
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key }
        await client.create(pods, eviction as unknown as Pod, { subresource: 'eviction' })
      }
    }
  }

  async #patch(
    { kind, name }: { readonly kind: Workload['kind'] & keyof typeof workloadResources; readonly name: string },
    body: unknown,
  ): Promise<void> {
    await this.#cluster.client.patch(workloadResources[kind], { namespace, name }, { type: 'strategic', body })
  }

  async #crash(component: Component, forMs: number): Promise<void> {
    await component.crash()
    this.#environment.clock.setTimer(forMs, () => {
      component.start().catch(() => {})
    })
  }
}

function pickOf<T>(values: readonly T[], pick: number): T | undefined {
  return values[Math.floor(pick * values.length)]
}

import type { Client } from '@coracle/client'
import { type Cluster, type ClusterOptions, type Component, startCluster } from '@coracle/cluster'
import type { VirtualEnvironment } from '@coracle/environment'
import type { SoleWriterStore, Store } from '@coracle/store'
import { type FaultyStore, faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import type { WhySource } from '@coracle/why'
import type { Manifests } from './manifests.ts'
import type { Network } from './network.ts'
import type { CrashingComponent } from './operation.ts'
import { nodeName, nodePrefixes, type Scenario } from './scenario.ts'

/** Slow enough that renewing leases is not most of what happens. */
const leaderElection = { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 5_000 }

/** How soon a server follows another at the start. */
const startDelayMs = 10_000

/** Counts down to the write at which a server crashes. */
interface Fuse {
  writes: number
  readonly takesEffect: boolean
  readonly crash: () => void
}

/** A server in this process, and its way to the store. */
interface Server {
  readonly cluster: Cluster
  /** Absent for the only one, which has its store to itself. */
  readonly way: FaultyStore | undefined
  fuse: Fuse | undefined
}

export interface ServersOptions {
  /** After so many transactions the store takes no more. */
  readonly writesMax: number
  /** What tells nodes which pods to run; undefined where nothing does. */
  readonly manifests: Manifests | undefined
  /** Told of every write by a component that does not say why. */
  readonly onUnexplained: NonNullable<ClusterOptions['onUnexplained']>
}

/** One server, or several with one store, each with its share of the nodes. */
export class Servers {
  readonly store: SoleWriterStore = createMemoryStore()
  /** What tells nodes which pods to run; undefined where nothing does. */
  readonly manifests: Manifests | undefined
  readonly #environment: VirtualEnvironment
  readonly #network: Network
  readonly #onUnexplained: ServersOptions['onUnexplained']
  readonly #servers: Server[] = []
  #isStopped = false
  readonly #writesMax: number
  #writes = 0

  constructor(environment: VirtualEnvironment, network: Network, options: ServersOptions) {
    const { writesMax, onUnexplained, manifests } = options
    this.manifests = manifests
    this.#environment = environment
    this.#network = network
    this.#writesMax = writesMax
    this.#onUnexplained = onUnexplained
  }

  async start({ servers, nodes, skewsMs }: Scenario): Promise<void> {
    this.manifests?.open(Array.from({ length: nodes }, (_, node) => nodeName(node, servers)))
    for (let index = 0; index < servers; index++) {
      if (index > 0) await this.#environment.clock.advance(startDelayMs)
      const own = Array.from({ length: nodes }, (_, node) => node).filter((node) => node % servers === index).length
      await this.#start(index, servers > 1, own, skewsMs)
    }
  }

  /** Whether they have tried to write more often than they may. */
  get isExhausted(): boolean {
    return this.#writes > this.#writesMax
  }

  /** Whether they are stopped for good. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** The API of each, as an administrator with a good connection. */
  get clients(): readonly Client[] {
    return this.#servers.map(({ cluster }) => cluster.client)
  }

  /** Where each is asked why things are as they are. */
  get sources(): readonly WhySource[] {
    const { clock } = this.#environment
    return this.#servers.map(({ cluster }) => ({ client: cluster.client, causes: cluster, clock }))
  }

  component(server: number, name: CrashingComponent): Component | undefined {
    return this.#servers[server]?.cluster.components[name]
  }

  /** The name of a node. */
  nameOf(index: number): string {
    return nodeName(index, this.#servers.length)
  }

  node(index: number): Component | undefined {
    const count = this.#servers.length
    return this.#servers[index % count]?.cluster.node(nodeName(index, count))
  }

  /** Crashes a server at its write that is so many away, which takes effect or not. */
  crashAtWrite(server: number, writes: number, takesEffect: boolean, crash: () => void): void {
    const target = this.#servers[server]
    if (target !== undefined) target.fuse = { writes, takesEffect, crash }
  }

  /** The way of a server to the store; undefined where it has the store to itself. */
  way(server: number): FaultyStore | undefined {
    return this.#servers[server]?.way
  }

  /** Everything reaches the store again, and no crash is due any more. */
  heal(): void {
    for (const server of this.#servers) {
      server.fuse = undefined
      server.way?.restore()
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { cluster } of this.#servers) await cluster.stop()
    await this.store.close()
    this.manifests?.close()
  }

  async #start(
    index: number,
    isShared: boolean,
    nodes: number,
    skewsMs: Readonly<Record<string, number>>,
  ): Promise<void> {
    let server: Server | undefined
    const onCommit = () => {
      this.#writes += 1
      if (this.isExhausted) throw new Error('the store takes no more writes of this run')
      if (server !== undefined) burn(server)
    }
    const way = isShared ? faultyStore(this.store, { onCommit }) : undefined
    const store: Store = way ?? observed(this.store, onCommit)
    const cluster = await startCluster({
      environment: this.#environment,
      store: () => store,
      nodes,
      nodePrefix: nodePrefixes[index] ?? '',
      agents: 'separate',
      leaderElection,
      loadBalancerAddresses: 'nodes',
      onUnexplained: this.#onUnexplained,
      seams: {
        client: (component, client) => this.#network.between(index, component, client),
        skewMs: (component) => skewsMs[component] ?? 0,
        ...(this.manifests === undefined ? {} : { manifestPath: this.manifests.directoryOf }),
      },
    })
    server = { cluster, way, fuse: undefined }
    this.#servers.push(server)
  }
}

function burn(server: Server): void {
  const { fuse } = server
  if (fuse === undefined) return
  fuse.writes -= 1
  if (fuse.writes > 0) return
  server.fuse = undefined
  fuse.crash()
  if (!fuse.takesEffect) throw new Error('the server crashed before it wrote')
}

/** The store with a look at each of its commits, before it is tried. It stays its owner's to close. */
function observed(store: SoleWriterStore, onCommit: () => void): SoleWriterStore {
  return {
    shared: false,
    latest: () => store.latest(),
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    pages: (prefix, entriesMax) => store.pages(prefix, entriesMax),
    commit: async (transaction) => {
      onCommit()
      return store.commit(transaction)
    },
    watch: (prefix, options) => store.watch(prefix, options),
    compact: (revision) => store.compact(revision),
    notes: (...arguments_) => store.notes(...arguments_),
    forgetNotes: (...arguments_) => store.forgetNotes(...arguments_),
    close: async () => {},
  }
}

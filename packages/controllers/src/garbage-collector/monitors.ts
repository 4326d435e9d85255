import { builtinResources, type KubernetesObject, type Resource } from '@coracle/api'
import { type Client, createInformer, type Informer } from '@coracle/client'
import type { Manager } from '@coracle/controller-runtime'
import type { Environment } from '@coracle/environment'
import type { Kinds } from './kinds.ts'

export interface MonitorsOptions {
  readonly client: Client
  readonly environment: Environment
  readonly informer: Manager['informer']
  readonly resources: () => readonly Resource[]
  readonly onResourcesChange?: (listener: () => void) => () => void
}

/** What a graph is told of the objects there are. */
export interface ObservedGraph {
  observe(object: KubernetesObject): void
  /** The object, in its last state, is gone. */
  remove(object: KubernetesObject): void
  forget(uid: string): void
}

interface Monitor {
  readonly resource: Resource
  readonly informer: Informer<KubernetesObject>
  /** An informer of its own is stopped along with the monitor. */
  readonly isOwn: boolean
  detach(): void
}

/** How long the graph waits for resources before it goes on without them (upstream's initialSyncTimeout). */
export const syncWaitMs = 30_000

/** Keeps a dependency graph, and the kinds that are in it, up to date with all resources that are served, as they come and go. */
export class Monitors {
  readonly #graph: ObservedGraph
  readonly #kinds: Kinds
  readonly #options: MonitorsOptions
  readonly #monitors = new Map<string, Monitor>()
  #unfollow: (() => void) | undefined
  #isStopped = false

  constructor(graph: ObservedGraph, kinds: Kinds, options: MonitorsOptions) {
    this.#graph = graph
    this.#kinds = kinds
    this.#options = options
  }

  /**
   * Resolves once the graph has all objects of the resources there are, as far as they can be listed within `syncWaitMs`; rejects with
   * the signal's reason.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#unfollow = this.#options.onResourcesChange?.(() => this.#follow())
    for (const resource of this.#options.resources().filter(isCollected)) {
      if (isBuiltin(resource)) this.#monitor(resource, this.#options.informer(resource), false)
      // No controller has use for what others define, and whoever waits for shared caches is not to wait for one of these: it cannot
      // be listed while its conversion webhook, or its server, is away.
      else this.add(resource)
    }
    await this.#waitForSync(signal)
  }

  async #waitForSync(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options.environment
    const late = new AbortController()
    const timer = clock.setTimer(syncWaitMs, () => late.abort(new Error('not listed yet')))
    const either = AbortSignal.any([signal, late.signal])
    const monitors = [...this.#monitors.values()]
    try {
      await Promise.all(monitors.map(({ informer }) => informer.waitForSync(either)))
    } catch (error) {
      if (signal.aborted) throw error
      const unlisted = monitors
        .filter(({ informer }) => !informer.hasSynced)
        .map(({ resource }) => resourceText(resource))
      logger.warn('starts without resources that could not be listed', { resources: unlisted.join(', ') })
    } finally {
      timer.cancel()
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unfollow?.()
    await Promise.all([...this.#monitors.values()].map(endMonitor))
  }

  add(resource: Resource): void {
    if (!isCollected(resource) || this.#monitors.has(resourceText(resource)) || this.#isStopped) return
    const informer = createInformer(this.#options.client, resource, {}, this.#options.environment)
    this.#monitor(resource, informer, true)
    informer.start()
  }

  async remove(resource: Resource): Promise<void> {
    const monitor = this.#monitors.get(resourceText(resource))
    if (monitor === undefined) return
    this.#monitors.delete(resourceText(resource))
    this.#kinds.remove(resource)
    await endMonitor(monitor)
    for (const { metadata } of monitor.informer.list()) this.#graph.forget(metadata.uid ?? '')
  }

  /** Takes in the resources that have come and forgets those that have gone. */
  #follow(): void {
    const served = this.#options.resources()
    const texts = new Set(served.map(resourceText))
    for (const [text, { resource }] of this.#monitors) {
      if (texts.has(text)) continue
      this.remove(resource).catch((error: unknown) =>
        this.#options.environment.logger.warn('resource not forgotten', {
          resource: text,
          error: error instanceof Error ? error.message : String(error),
        }),
      )
    }
    for (const resource of served) this.add(resource)
  }

  #monitor(resource: Resource, informer: Informer<KubernetesObject>, isOwn: boolean): void {
    this.#kinds.add(resource)
    const detach = informer.addHandler({
      add: (object) => this.#graph.observe(object),
      update: (_, object) => this.#graph.observe(object),
      delete: (object) => this.#graph.remove(object),
    })
    this.#monitors.set(resourceText(resource), { resource, informer, isOwn, detach })
  }
}

async function endMonitor({ informer, isOwn, detach }: Monitor): Promise<void> {
  detach()
  if (isOwn) await informer.stop()
}

/** Events own nothing and go by themselves; there may be very many. */
const isCollected = ({ group, plural }: Resource): boolean =>
  !(plural === 'events' && (group === '' || group === 'events.k8s.io'))

const builtinNames = new Set(builtinResources.map(({ group, plural }) => `${group}/${plural}`))

const isBuiltin = ({ group, plural }: Resource): boolean => builtinNames.has(`${group}/${plural}`)

const resourceText = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`

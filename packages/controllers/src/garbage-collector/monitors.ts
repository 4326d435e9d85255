import type { KubernetesObject, Resource } from '@coracle/api'
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

  /** Resolves once the graph has all objects of the resources there are; rejects with the signal's reason. */
  async start(signal: AbortSignal): Promise<void> {
    this.#unfollow = this.#options.onResourcesChange?.(() => this.#follow())
    const informers = this.#options
      .resources()
      .filter(isCollected)
      .map((resource) => {
        const informer = this.#options.informer(resource)
        this.#monitor(resource, informer, false)
        return informer
      })
    await Promise.all(informers.map((informer) => informer.waitForSync(signal)))
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

const resourceText = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`

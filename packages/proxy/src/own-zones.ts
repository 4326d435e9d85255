import { deepEqual, type Node, nodes } from '@coracle/api'
import { type Client, createInformer, type Informer } from '@coracle/client'
import type { Environment } from '@coracle/environment'

const zoneLabel = 'topology.kubernetes.io/zone'

export interface OwnZonesOptions {
  readonly client: Client
  readonly environment: Environment
  /** Whether a node is one of those that the zones are of. */
  isOwnNode(name: string): boolean
  /** The one node that it is about, where there is one: no others are read. */
  readonly nodeName?: string | undefined
  /** Told when the zones are others. */
  readonly onChange: () => void
}

/** The zones of own nodes, which are followed from when somebody first asks: most clusters have none. */
export class OwnZones {
  readonly #options: OwnZonesOptions
  #informer: Informer<Node> | undefined
  #zones: ReadonlySet<string> = new Set()
  #isStopped = false

  constructor(options: OwnZonesOptions) {
    this.#options = options
  }

  /** None as long as they are not known. */
  readonly get = (): ReadonlySet<string> => {
    if (this.#informer === undefined && !this.#isStopped) this.#follow()
    return this.#zones
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#informer?.stop()
  }

  #follow(): void {
    const { client, environment, nodeName } = this.#options
    const selected = nodeName === undefined ? {} : { fieldSelector: `metadata.name=${nodeName}` }
    const informer = createInformer(client, nodes, selected, environment)
    this.#informer = informer
    const look = (): void => {
      const zones = new Set(informer.list().flatMap((node) => this.#zoneOf(node)))
      if (deepEqual([...zones].sort(), [...this.#zones].sort())) return
      this.#zones = zones
      this.#options.onChange()
    }
    const changed = (node: Node): void => {
      if (this.#options.isOwnNode(node.metadata.name ?? '')) look()
    }
    informer.addHandler({ add: changed, update: (_, node) => changed(node), delete: changed })
    informer.start()
  }

  #zoneOf({ metadata: { name = '', labels } }: Node): readonly string[] {
    const zone = labels?.[zoneLabel] ?? ''
    return zone !== '' && this.#options.isOwnNode(name) ? [zone] : []
  }
}

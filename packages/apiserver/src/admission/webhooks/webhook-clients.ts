import type { Environment } from '@coracle/environment'
import type { ServiceResolver } from '../../aggregation/service-resolver.ts'
import type { WebhookClientConfig as Address, WebhookClient } from '../../webhook/webhook-client.ts'

/** The clients of the webhooks that are configured: one for each address, whose connections are kept alive. */
export class WebhookClients {
  readonly #environment: Environment
  readonly #resolver: ServiceResolver
  readonly #clients = new Map<string, WebhookClient>()
  #closed = false

  constructor(environment: Environment, resolver: ServiceResolver) {
    this.#environment = environment
    this.#resolver = resolver
  }

  /** A client of the webhook at this address. Most clusters have no webhook, and do not load what asks one. */
  async of(address: Address): Promise<WebhookClient> {
    const { clock } = this.#environment
    // No time passes while a module is loaded, or a virtual clock would go on without the request.
    const { createWebhookClient } = await clock.hold(import('../../webhook/webhook-client.ts'))
    if (this.#closed) throw new Error('the server is closing')
    const key = keyOf(address)
    const known = this.#clients.get(key)
    if (known !== undefined) return known
    const made = createWebhookClient(address, { clock, resolve: (service) => this.#resolver.resolve(service) })
    this.#clients.set(key, made)
    return made
  }

  /** Retires the clients of all other addresses: what is being asked is answered still. */
  retain(addresses: readonly Address[]): void {
    const kept = new Set(addresses.map(keyOf))
    for (const [key, client] of this.#clients) {
      if (kept.has(key)) continue
      this.#clients.delete(key)
      client.retire()
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#closed = true
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }
}

const keyOf = (address: Address): string => JSON.stringify(address)

import {
  type CustomResourceDefinition,
  conversionReviewVersions,
  customResourceDefinitions,
  deepEqual,
  hasTrueCondition,
  type StoredKind,
} from '@coracle/api'
import type { Convert } from '@coracle/api/custom'
import type { Environment } from '@coracle/environment'
import { ServiceResolver } from '../aggregation/service-resolver.ts'
import { isBuiltInGroup } from '../http/routes.ts'
import type { KindServer } from '../kind-server.ts'
import type { Registries } from '../registries.ts'
import type { WebhookClient } from '../webhook/webhook-client.ts'

/** How long what failed waits until it is tried again; each time it fails twice as long, up to so much. */
export const firstRetryMs = 1_000
const retryMsMax = 60_000

/** A definition that is served, and the kind made of it. */
interface Served {
  readonly definition: CustomResourceDefinition
  readonly kind: StoredKind
  /** Asks whoever converts, where somebody does. */
  readonly webhook: WebhookClient | undefined
}

export interface CustomKindsParts {
  readonly registries: Registries
  readonly kinds: KindServer
  readonly environment: Environment
}

/**
 * Serves the kinds that CustomResourceDefinitions make, and follows them: a kind is there from when its names are accepted
 * until its definition has gone. A kind that the server knows by itself is never replaced.
 */
export class CustomKinds {
  readonly #parts: CustomKindsParts
  readonly #resolver: ServiceResolver
  readonly #served = new Map<string, Served>()
  #closed = false
  /** What is being done about definitions, each after the one before; undefined where nothing is. */
  #work: Promise<void> | undefined
  /** What is to be done about each definition, by its last change, until that is done. */
  readonly #due = new Map<string, () => Promise<void>>()

  constructor(parts: CustomKindsParts) {
    this.#parts = parts
    this.#resolver = new ServiceResolver(parts.registries)
  }

  /** Resolves when the kinds of all definitions stored are served; they are followed from then on. */
  async start(): Promise<void> {
    const cache = this.#parts.registries.of(customResourceDefinitions)?.storage.cache
    if (cache === undefined || this.#closed) return
    for (const { object } of cache.values()) this.#update(object as CustomResourceDefinition)
    // Not by a watch: whoever has seen a write of a definition must find this at work on it.
    cache.onChange(({ type, stored }) => {
      if (this.#closed) return
      const definition = stored.object as CustomResourceDefinition
      if (type === 'DELETED') this.#remove(definition.metadata.name ?? '')
      else this.#update(definition)
    })
    await this.settled
  }

  /** What is still being done about definitions that have changed; undefined where the kinds served are up to date. */
  get settled(): Promise<void> | undefined {
    return this.#work
  }

  close(): void {
    this.#closed = true
    for (const { webhook } of this.#served.values()) webhook?.close()
  }

  #update(definition: CustomResourceDefinition): void {
    const name = definition.metadata.name ?? ''
    this.#then(name, () => this.#serve(name, definition))
  }

  #remove(name: string): void {
    this.#then(name, async () => {
      const served = this.#served.get(name)
      this.#served.delete(name)
      if (served === undefined) return
      this.#parts.kinds.remove(served.kind.storageKey)
      served.webhook?.close()
    })
  }

  async #serve(name: string, definition: CustomResourceDefinition): Promise<void> {
    const before = this.#served.get(name)
    if (before !== undefined && makesTheSame(before.definition, definition)) return
    const isUsable = hasTrueCondition(definition, 'NamesAccepted') || hasTrueCondition(definition, 'Established')
    if (!isUsable) return
    // No time passes while a module is loaded, or a virtual clock would go on without the kind.
    const { customKind } = await this.#parts.environment.clock.hold(import('@coracle/api/custom'))
    if (before !== undefined && makesTheSameForms(before.definition, definition)) {
      // All that its deletion changes: who watches goes on, and sees its objects go.
      const { served, strategy } = customKind(definition)
      const kind = { ...before.kind, served, strategy }
      await this.#parts.kinds.change(kind)
      this.#served.set(name, { ...before, definition, kind })
      return
    }
    const webhook = await this.#webhookOf(definition)
    const made = customKind(definition, webhook?.convert)
    // Closures that do the same are the same, so that what is stored need not be read again.
    const kind =
      before !== undefined && deepEqual(Object.keys(before.kind.selectableFields), Object.keys(made.selectableFields))
        ? { ...made, selectableFields: before.kind.selectableFields }
        : made
    // As upstream, where paths of these groups lead to built-in kinds alone.
    if (isBuiltInGroup(this.#parts.registries.definitions(), kind.group)) {
      this.#parts.environment.logger.error('a custom kind is in a group that is built in, and is not served', {
        definition: name,
      })
      return
    }
    // It is not where an attempt to change it has failed between taking it away and serving it anew.
    const isServed = before !== undefined && this.#parts.registries.byStorageKey(kind.storageKey) !== undefined
    await (isServed ? this.#parts.kinds.change(kind) : this.#parts.kinds.add(kind))
    this.#served.set(name, { definition, kind, webhook: webhook?.client })
    before?.webhook?.close()
  }

  /** What converts objects where a webhook does. It brings a client of its own, which most clusters can do without. */
  async #webhookOf({
    spec,
  }: CustomResourceDefinition): Promise<{ readonly client: WebhookClient; readonly convert: Convert } | undefined> {
    const { conversion } = spec
    const { clientConfig, conversionReviewVersions: spoken = [] } = conversion?.webhook ?? {}
    if (conversion?.strategy !== 'Webhook' || clientConfig === undefined) return undefined
    const { clock, random } = this.#parts.environment
    const loading = Promise.all([import('../webhook/webhook-client.ts'), import('./webhook-conversion.ts')])
    const [{ createWebhookClient }, { webhookConversion }] = await clock.hold(loading)
    const client = createWebhookClient(clientConfig, { clock, resolve: (service) => this.#resolver.resolve(service) })
    const reviewVersion = spoken.find((version) => conversionReviewVersions.includes(version)) ?? 'v1'
    return { client, convert: webhookConversion({ client, reviewVersion, uuid: () => random.uuid() }) }
  }

  #then(name: string, act: () => Promise<void>): void {
    this.#due.set(name, act)
    this.#attempt(name, act, firstRetryMs)
  }

  /** A store that is away for a moment must not keep a kind from being served until its definition changes again. */
  #attempt(name: string, act: () => Promise<void>, retryMs: number): void {
    const before = this.#work ?? Promise.resolve()
    const done = (): void => {
      if (this.#due.get(name) === act) this.#due.delete(name)
    }
    const work = before.then(act).then(done, (error: unknown) => {
      this.#failed(name, error)
      this.#retryIn(retryMs, name, act)
    })
    this.#work = work
    void work.then(() => {
      if (this.#work === work) this.#work = undefined
    })
  }

  #retryIn(delayMs: number, name: string, act: () => Promise<void>): void {
    const retry = (): void => {
      if (!this.#closed && this.#due.get(name) === act) this.#attempt(name, act, Math.min(2 * delayMs, retryMsMax))
    }
    this.#parts.environment.clock.setTimer(delayMs, retry, { housekeeping: true })
  }

  #failed(name: string, error: unknown): void {
    if (!this.#closed)
      this.#parts.environment.logger.error('a custom kind cannot be served', { definition: name, error: String(error) })
  }
}

/** Whether two states of a definition make the same kind. */
function makesTheSame(a: CustomResourceDefinition, b: CustomResourceDefinition): boolean {
  return (
    makesTheSameForms(a, b) &&
    (a.metadata.deletionTimestamp === undefined) === (b.metadata.deletionTimestamp === undefined)
  )
}

/** The same but for what may be done with objects of the kind while the definition is being deleted. */
function makesTheSameForms(a: CustomResourceDefinition, b: CustomResourceDefinition): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    deepEqual(a.spec, b.spec) &&
    deepEqual(a.status?.acceptedNames, b.status?.acceptedNames)
  )
}

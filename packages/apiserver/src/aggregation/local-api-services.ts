import { type ApiService, apiServices, hasReason, type ResourceDefinition } from '@coracle/api'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import { groupPriorityOf, isBuiltinGroup, versionPriorityOf } from './priorities.ts'

/** Says who looks after an APIService: `onstart` that it is made at the start, `true` that it comes and goes with its kinds. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/**
 * What is served by this server, a version of a group each, but the group of APIServices themselves, as upstream. Custom ones come and go,
 * the others are there from the start.
 */
export function localApiServices(definitions: readonly ResourceDefinition[]): readonly ApiService[] {
  const aggregated = definitions.filter(({ group }) => group !== 'apiregistration.k8s.io')
  const versions = new Map(aggregated.map(({ group, version }) => [`${version}.${group}`, { group, version }]))
  return [...versions].map(([name, { group, version }]) => {
    return {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name, labels: { [automanagedLabel]: isBuiltinGroup(group) ? 'onstart' : 'true' } },
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: groupPriorityOf(group),
        versionPriority: versionPriorityOf(group, version),
      },
    }
  })
}

/**
 * Keeps an APIService for each version of each group that this server serves. One that somebody has pointed at a service stays as
 * it is: then that service serves it.
 */
export class LocalApiServices {
  readonly #registries: Registries
  readonly #onError: (error: unknown) => void
  #working: Promise<void> | undefined
  #again = false
  #stop: () => void = () => {}

  constructor(registries: Registries, onError: (error: unknown) => void) {
    this.#registries = registries
    this.#onError = onError
  }

  /** Resolves when all are there that are to be; follows the kinds served from then on. */
  async start(): Promise<void> {
    await this.#sync()
    this.#stop = this.#registries.onChange(() => this.#kindsHaveChanged())
  }

  close(): void {
    this.#stop()
  }

  #kindsHaveChanged(): void {
    this.#again = true
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  async #work(): Promise<void> {
    while (this.#again) {
      this.#again = false
      await this.#sync().catch(this.#onError)
    }
  }

  async #sync(): Promise<void> {
    const registry = this.#registries.of(apiServices)
    if (registry === undefined) return
    const wanted = new Map(
      localApiServices(this.#registries.definitions()).map((each) => [each.metadata.name ?? '', each]),
    )
    const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const
    const missing = [...wanted].filter(([name]) => registry.peek('', name) === undefined)
    const surplus = [...registry.storage.cache.values()].filter(({ object }) => {
      const { name = '', labels } = object.metadata
      return labels?.[automanagedLabel] === 'true' && !wanted.has(name)
    })
    const served = apiServerContext('this server serves the group and version')
    const unserved = apiServerContext('this server serves the group and version no more')
    await Promise.all([
      ...missing.map(([, each]) => registry.create(served, '', each, options).catch(unless('AlreadyExists'))),
      ...surplus.map(({ object }) =>
        registry.delete(unserved, '', object.metadata.name ?? '', {}).catch(unless('NotFound')),
      ),
    ])
  }
}

/** Another server on the same store was faster. */
const unless = (reason: string) => (error: unknown) => {
  if (!hasReason(error, reason)) throw error
}

import { type ApiService, apiServices, hasReason, type ResourceDefinition } from '@coracle/api'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'

/** Says who looks after an APIService: `onstart` that it is made at the start, `true` that it comes and goes with its kinds. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/** Priorities of upstream's groups (cmd/kube-apiserver/app/aggregator.go). Others come after them. */
const groupPriorities: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'metrics.k8s.io': 100,
}
const customGroupPriority = 1_000

/**
 * What is served by this server, a version of a group each, but the group of APIServices themselves, as upstream. Custom ones come and go,
 * the others are there from the start.
 */
export function localApiServices(definitions: readonly ResourceDefinition[]): readonly ApiService[] {
  const aggregated = definitions.filter(({ group }) => group !== 'apiregistration.k8s.io')
  const versions = new Map(aggregated.map(({ group, version }) => [`${version}.${group}`, { group, version }]))
  return [...versions].map(([name, { group, version }]) => {
    const priority = groupPriorities[group]
    return {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name, labels: { [automanagedLabel]: priority === undefined ? 'true' : 'onstart' } },
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: priority ?? customGroupPriority,
        versionPriority: versionPriorityOf(group, version),
      },
    }
  })
}

/** Upstream's numbers. */
function versionPriorityOf(group: string, version: string): number {
  if (group === '') return 1
  if (group === 'autoscaling' && version === 'v2') return 30
  return groupPriorities[group] === undefined ? 100 : 15
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

import { type EndpointSlice, endpointSlices, services } from '@coracle/api'
import { storedObject } from '../admission/stored-objects.ts'
import type { Registries } from '../registries.ts'
import { type ServiceEndpoint, type ServicePort, serviceEndpoint } from './service-endpoint.ts'

/** Says where services are reached, by what there is of them now. Their endpoints take turns. */
export class ServiceResolver {
  readonly #registries: Registries
  #turns = 0

  constructor(registries: Registries) {
    this.#registries = registries
  }

  resolve(port: ServicePort): ServiceEndpoint {
    const { namespace, name } = port
    const service = storedObject(this.#registries, services, name, namespace)
    const slices = this.#registries
      .of(endpointSlices)
      ?.storage.cache.slice(slicesOf(namespace, name), { limit: 0, afterKey: '' })
      .items.map(({ object }) => object as EndpointSlice)
    this.#turns += 1
    return serviceEndpoint(port, service, slices ?? [], this.#turns)
  }
}

function slicesOf(namespace: string, name: string) {
  const label = 'kubernetes.io/service-name'
  return {
    namespace,
    unfiltered: false,
    matches: ({ metadata }: { metadata: { labels?: Readonly<Record<string, string>> | undefined } }) =>
      metadata.labels?.[label] === name,
    key: undefined,
    labelRequirements: [{ key: label, operator: '=' as const, values: [name] }],
    fieldTerms: [],
  }
}

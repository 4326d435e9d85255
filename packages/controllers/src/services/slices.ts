/** What all who make slices of endpoints have in common. */
import { compareText, type EndpointSlice, type EndpointSlicePort, endpointSlices } from '@coracle/api'
import { keyText } from '@coracle/client'
import type { Action, FailureEvent, Lookup } from '@coracle/controller-runtime'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'

export type AddressType = 'IPv4' | 'IPv6'

const serviceIndexName = 'slices-of-service'

/** The keys of the service that a slice says it is of: one, or none. */
export const serviceKeysOf = ({ metadata: { namespace, labels } }: EndpointSlice): readonly string[] => {
  const name = labels?.[serviceNameLabel] ?? ''
  return name === '' ? [] : [keyText(namespace, name)]
}

/** The index that a cache of slices must have for `slicesOf`. */
export const slicesIndex = { [serviceIndexName]: serviceKeysOf }

/** The slices that say they are of a service and kept by `manager`, whoever owns them; those that are going are as good as gone. */
export function slicesOf(lookup: Lookup, serviceKey: string, manager: string): readonly EndpointSlice[] {
  return lookup
    .informer(endpointSlices)
    .byIndex(serviceIndexName, serviceKey)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.labels?.[managedByLabel] === manager)
}

/** The slices that say they are of a service, whoever keeps them. */
export const slicesOfService = (lookup: Lookup, serviceKey: string): readonly EndpointSlice[] =>
  lookup.informer(endpointSlices).byIndex(serviceIndexName, serviceKey)

/** The same for slices that may hold the same endpoints: they have one family of addresses and the same ports. */
export function signatureOf(addressType: string, ports: readonly EndpointSlicePort[]): string {
  const texts = ports.map(({ name = '', protocol = 'TCP', port, appProtocol = '' }) =>
    JSON.stringify([name, protocol, port, appProtocol]),
  )
  return [addressType, ...texts.sort(compareText)].join('\n')
}

/** Removes a slice, and no other that took its name meanwhile. */
export function sliceDeletion(
  { metadata: { namespace = '', name = '', uid } }: EndpointSlice,
  because: string,
  failed?: FailureEvent,
): Action {
  const key = { namespace, name }
  return {
    type: 'delete',
    resource: endpointSlices,
    key,
    because,
    ...(uid === undefined ? {} : { uid }),
    ...(failed === undefined ? {} : { events: { failed } }),
  }
}

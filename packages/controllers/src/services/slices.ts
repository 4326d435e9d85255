/** What all who make slices of endpoints have in common. */
import { compareText, type EndpointSlice, type EndpointSlicePort, endpointSlices } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'

export type AddressType = 'IPv4' | 'IPv6'

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
): Action {
  const key = { namespace, name }
  return { type: 'delete', resource: endpointSlices, key, because, ...(uid === undefined ? {} : { uid }) }
}

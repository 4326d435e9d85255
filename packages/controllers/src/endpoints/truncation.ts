import type { EndpointAddress, EndpointSubset } from '@coracle/api'

/** One object holds no more addresses; more are in slices alone. */
export const endpointsMax = 1000

/**
 * The subsets with as many addresses as one object holds, ready ones before others; the same where they are few enough. Each subset keeps
 * its share of what has to be left out, so that no port of a service loses all that is behind it (upstream's truncateEndpoints). Pure.
 */
export function truncated(subsets: readonly EndpointSubset[], max: number = endpointsMax): readonly EndpointSubset[] {
  const ready = countOf(subsets, 'addresses')
  const notReady = countOf(subsets, 'notReadyAddresses')
  if (ready + notReady <= max) return subsets
  if (ready > max) {
    const kept = shares(subsets, 'addresses', ready, max)
    return withoutEmpty(subsets.map(({ ports }, index) => ({ addresses: kept[index] ?? [], ports })))
  }
  const kept = shares(subsets, 'notReadyAddresses', notReady, max - ready)
  return withoutEmpty(subsets.map((subset, index) => ({ ...subset, notReadyAddresses: kept[index] ?? [] })))
}

type AddressField = 'addresses' | 'notReadyAddresses'

const countOf = (subsets: readonly EndpointSubset[], field: AddressField): number =>
  subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0)

/** The first addresses of each subset, by its share of them all. Shares are rounded up: the last subsets get what is left. */
function shares(
  subsets: readonly EndpointSubset[],
  field: AddressField,
  total: number,
  max: number,
): readonly (readonly EndpointAddress[])[] {
  let left = max
  return subsets.map((subset) => {
    const all = subset[field] ?? []
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length * max) / total)))
    left -= kept.length
    return kept
  })
}

/** Lists without an address are absent, and so are subsets without any. */
function withoutEmpty(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }): readonly EndpointSubset[] => {
    if (addresses.length + notReadyAddresses.length === 0) return []
    return [
      {
        ...(addresses.length === 0 ? {} : { addresses }),
        ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
        ...(ports === undefined ? {} : { ports }),
      },
    ]
  })
}

import { type IpRange, parseCidr, type ServiceCidr, serviceCidrs } from '@coracle/api'
import { storedObjects } from '../admission/stored-objects.ts'
import type { Registries } from '../registries.ts'

/** The object that says which range a cluster begins with, and that range where nobody chooses another. */
export const firstServiceCidr = { name: 'kubernetes', cidr: '10.96.0.0/12' } as const

/**
 * Where services get their addresses: the ranges of all ServiceCIDRs that are ready and to stay, the first one before all others.
 * Undefined where there is no such kind, and services have no addresses.
 */
export function serviceRanges(registries: Registries): readonly IpRange[] | undefined {
  if (registries.of(serviceCidrs) === undefined) return undefined
  const staying = storedObjects(registries, serviceCidrs).filter(
    (each) => each.metadata.deletionTimestamp === undefined && isReady(each),
  )
  const isFirst = ({ metadata }: (typeof staying)[number]): number => (metadata.name === firstServiceCidr.name ? 0 : 1)
  const ordered = staying.toSorted((a, b) => isFirst(a) - isFirst(b))
  return ordered.flatMap(({ spec }) => (spec?.cidrs ?? []).flatMap((cidr) => parseCidr(cidr) ?? []))
}

/** One of which nobody has said anything yet is ready: there may be no controller to say so. */
const isReady = ({ status }: ServiceCidr): boolean =>
  (status?.conditions ?? []).every(({ type, status: value }) => type !== 'Ready' || value === 'True')

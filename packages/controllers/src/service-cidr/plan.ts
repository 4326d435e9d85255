import {
  type IpAddressObject,
  type IpRange,
  ipManagedByLabel,
  parseCidr,
  parseIp,
  parseTime,
  rangeContains,
  rangeContainsRange,
  type ServiceCidr,
  type ServiceCidrStatus,
  serviceCidrs,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

export const finalizer = 'networking.k8s.io/service-cidr-finalizer'

/** Upstream's name for whatever gives services their addresses: its address objects alone hold a range. */
const allocatorName = 'ipallocator.k8s.io'

/** How long a range that is to go stays after that was said, so that servers have heard of it and give none of its addresses away. */
export const deletionGraceMs = 10_000

export interface ServiceCidrInput {
  readonly cidr: ServiceCidr
  /** All there are, this one too. */
  readonly cidrs: readonly ServiceCidr[]
  /** The addresses that are taken. Asked for only where the ranges are to go. */
  readonly addresses: () => readonly IpAddressObject[]
  readonly now: Time
}

/**
 * Says that the ranges are ready, and holds them back from going while addresses of services are in no other range that
 * stays. Pure.
 */
export function planServiceCidr(input: ServiceCidrInput): Plan<ServiceCidrStatus> {
  const { cidr, now } = input
  const { name = '', finalizers = [], deletionTimestamp = '' } = cidr.metadata
  const key = { name }
  if (!isBeingDeleted(cidr)) {
    const ready = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
    const patch = finalizersPatch(cidr, [...finalizers, finalizer])
    const because = 'addresses of services may come to be in it'
    return {
      actions: hasFinalizer(cidr, finalizer) ? [] : [{ type: 'patch', resource: serviceCidrs, key, patch, because }],
      status: withReady(cidr, ready, now),
    }
  }
  if (!hasFinalizer(cidr, finalizer)) return { actions: [] }
  if (isNeeded(input)) {
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'
    return { actions: [], status: withReady(cidr, { status: 'False', reason: 'Terminating', message }, now) }
  }
  const leftMs = deletionGraceMs - (now - parseTime(deletionTimestamp))
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs }
  const patch = finalizersPatch(
    cidr,
    finalizers.filter((each) => each !== finalizer),
  )
  return {
    actions: [{ type: 'patch', resource: serviceCidrs, key, patch, because: 'no address of a service needs it' }],
  }
}

function withReady(
  { status }: ServiceCidr,
  ready: { readonly status: string; readonly reason: string; readonly message: string },
  now: Time,
): ServiceCidrStatus {
  const { conditions } = status ?? {}
  return { ...status, conditions: setCondition(conditions, { type: 'Ready', lastTransitionTime: '', ...ready }, now) }
}

/** Whether an address of a service would be in no range without these. */
function isNeeded({ cidr, cidrs, addresses }: ServiceCidrInput): boolean {
  const own = rangesOf(cidr)
  const staying = cidrs.filter((each) => !isBeingDeleted(each)).flatMap(rangesOf)
  if (own.every((range) => staying.some((other) => rangeContainsRange(other, range)))) return false
  return addresses().some(({ metadata }) => {
    if (metadata.labels?.[ipManagedByLabel] !== allocatorName) return false
    const ip = parseIp(metadata.name ?? '')
    if (ip === undefined || !own.some((range) => rangeContains(range, ip))) return false
    return !staying.some((range) => rangeContains(range, ip))
  })
}

/** The ranges of a ServiceCIDR. */
export const rangesOf = ({ spec }: ServiceCidr): readonly IpRange[] =>
  (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? [])

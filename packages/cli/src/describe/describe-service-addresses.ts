import type { Event, IpAddressObject, ServiceCidr } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { formatLocalTime, zeroTime } from './local-time.ts'
import { describeIdentity } from './metadata.ts'

/** A ServiceCIDR in detail (kubectl's describeServiceCIDRV1). */
export function describeServiceCidr(
  { metadata, spec, status }: ServiceCidr,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'CIDRs', (spec?.cidrs ?? []).join(', '))
  const conditions = status?.conditions ?? []
  if (conditions.length > 0) {
    text.heading(0, 'Status').heading(0, 'Conditions').line(1, 'Type\tStatus\tLastTransitionTime\tReason\tMessage')
    text.line(1, '----\t------\t------------------\t------\t-------')
  }
  for (const { type, status: state, lastTransitionTime, reason, message } of conditions) {
    text.line(1, [type, state, formatLocalTime(lastTransitionTime ?? zeroTime), reason, message].join('\t'))
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** An IPAddress in detail (kubectl's describeIPAddressV1). */
export function describeIpAddress(
  { metadata, spec }: IpAddressObject,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  const parent = spec.parentRef
  if (parent !== undefined) {
    text
      .heading(0, 'Parent Reference')
      .field(1, 'Group', parent.group ?? '')
      .field(1, 'Resource', parent.resource ?? '')
    text.field(1, 'Namespace', parent.namespace ?? '').field(1, 'Name', parent.name ?? '')
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

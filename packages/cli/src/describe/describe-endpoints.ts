import type { EndpointSlice, Endpoints, Event } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

/** Endpoints in detail (kubectl's describeEndpoints). */
export function describeEndpoints(
  { metadata, subsets = [] }: Endpoints,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.heading(0, 'Subsets')
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    text.field(1, 'Addresses', addresses.map(({ ip }) => ip).join(',') || '<none>')
    text.field(1, 'NotReadyAddresses', notReadyAddresses.map(({ ip }) => ip).join(',') || '<none>')
    if (ports.length > 0) text.heading(1, 'Ports').line(2, 'Name\tPort\tProtocol').line(2, '----\t----\t--------')
    for (const { name, port, protocol = '' } of ports) text.line(2, `${name || '<unset>'}\t${port}\t${protocol}`)
    text.line(0, '')
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** An EndpointSlice in detail (kubectl's describeEndpointSliceV1). */
export function describeEndpointSlice(
  slice: EndpointSlice,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, addressType, ports = [], endpoints } = slice
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'AddressType', addressType)
  if (ports.length === 0) text.line(0, 'Ports: <unset>')
  else text.heading(0, 'Ports').line(1, 'Name\tPort\tProtocol').line(1, '----\t----\t--------')
  for (const { name, port, protocol = '' } of ports) {
    text.line(1, `${name || '<unset>'}\t${port ?? '<unset>'}\t${protocol}`)
  }
  if ((endpoints ?? []).length === 0) text.line(0, 'Endpoints: <none>')
  else text.heading(0, 'Endpoints')
  for (const { addresses, conditions, hostname, targetRef, nodeName, zone } of endpoints ?? []) {
    text.field(1, '- Addresses', addresses.join(', ') || '<none>').heading(2, 'Conditions')
    text.field(3, 'Ready', conditions?.ready ?? '<unset>').field(2, 'Hostname', hostname ?? '<unset>')
    if (targetRef !== undefined) text.field(2, 'TargetRef', `${targetRef.kind ?? ''}/${targetRef.name ?? ''}`)
    text.field(2, 'NodeName', nodeName ?? '<unset>').field(2, 'Zone', zone ?? '<unset>')
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

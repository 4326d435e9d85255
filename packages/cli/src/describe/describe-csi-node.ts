import { type CsiNode, type Event, goText } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

/** A CSINode in detail (kubectl's describeCSINode). */
export function describeCsiNode(
  { metadata, spec }: CsiNode,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.time(0, 'CreationTimestamp', metadata.creationTimestamp).heading(0, 'Spec')
  if (spec.drivers.length > 0) text.heading(1, 'Drivers')
  for (const { name, nodeID, allocatable, topologyKeys } of spec.drivers) {
    text.heading(2, name).field(3, 'Node ID', nodeID)
    if (allocatable?.count !== undefined) text.heading(3, 'Allocatables').field(4, 'Count', allocatable.count)
    if (topologyKeys !== undefined) text.field(3, 'Topology Keys', goText(topologyKeys))
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

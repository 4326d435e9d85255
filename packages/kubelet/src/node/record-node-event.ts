import { type Node, nodes } from '@coracle/api'
import type { EventType } from '@coracle/client'
import type { NodeRecorder } from './node-events.ts'

/** Records an event about a node itself, as its agent does. */
export function recordNodeEvent(
  recorder: NodeRecorder,
  nodeName: string,
  type: EventType,
  reason: string,
  message: string,
): void {
  // The uid of a node in its own events is its name, as upstream has it.
  const metadata = { name: nodeName, uid: nodeName }
  const node: Node = { apiVersion: 'v1', kind: nodes.kind as 'Node', metadata, spec: {} }
  recorder.event(node, type, reason, message)
}

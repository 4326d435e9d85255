import type { ForwardPort } from '@coracle/client/streaming'
import type { RemoteAgent } from '../node-gateway.ts'

/** Where a request through `proxy` goes. */
export type ProxyTarget = PodTarget | NodeAnswer | AgentTarget

/** A port of a pod. It is reached through the pod's node, and in no other way. */
export interface PodTarget {
  readonly kind: 'pod'
  readonly scheme: 'http' | 'https'
  /** What links to itself name as the host: `10.0.0.1:8080`. */
  readonly host: string
  readonly port: number
  readonly forward: ForwardPort
}

/** What the agent of a node says. */
export interface NodeAnswer {
  readonly kind: 'node'
  readonly contentType: string
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** The agent of a node that is not in this process. */
export interface AgentTarget {
  readonly kind: 'agent'
  readonly agent: RemoteAgent
}

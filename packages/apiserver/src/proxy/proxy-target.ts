import type { ForwardPort } from '@coracle/client/streaming'
import type { NodeAgent } from '../node-gateway.ts'

/** Where a request through `proxy` goes. */
export type ProxyTarget = PodTarget | AgentTarget

/** A port of a pod. It is reached through the pod's node, and in no other way. */
export interface PodTarget {
  readonly kind: 'pod'
  readonly scheme: 'http' | 'https'
  /** What links to itself name as the host: `10.0.0.1:8080`. */
  readonly host: string
  readonly port: number
  readonly forward: ForwardPort
}

/** The agent of a node. */
export interface AgentTarget {
  readonly kind: 'agent'
  readonly agent: NodeAgent
}

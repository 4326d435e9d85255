import type { Runtime } from '@coracle/kubelet'
import { type NodeRuntimeOptions, openNodeRuntime, type RuntimeKind } from '../node-runtime.ts'

export interface AgentRuntimeOptions extends NodeRuntimeOptions {
  readonly runtime: RuntimeKind
}

/** Addresses of simulated pods of one agent. */
const simulatedAddresses = { first: '10.128.0.0', count: 256 }

/** What runs the containers of an agent's node. Rejects where a container runtime does not answer, in words that say so. */
export async function openAgentRuntime({ runtime, ...options }: AgentRuntimeOptions): Promise<Runtime> {
  if (runtime !== 'simulated') return openNodeRuntime(options)
  const { createSimulatedRuntime } = await import('@coracle/kubelet/simulated')
  return createSimulatedRuntime({ environment: options.environment, addresses: simulatedAddresses })
}

import type { Environment } from '@coracle/environment'
import { createSimulatedRuntime, type HostImages, type Runtime } from '@coracle/kubelet'

/** What may run the containers of a node that has an agent of its own. */
export const agentRuntimes = ['process', 'simulated'] as const
export type AgentRuntimeName = (typeof agentRuntimes)[number]

export interface AgentRuntimeOptions {
  readonly runtime: AgentRuntimeName
  readonly environment: Environment
  readonly dataDirectory: string
  readonly nodeName: string
  /** What images are on the process runtime. */
  readonly images?: HostImages
}

/** Addresses of simulated pods of one agent. */
const simulatedAddresses = { first: '10.128.0.0', count: 256 }

/** The runtime of an agent's node: the one place that knows which there are. */
export async function createAgentRuntime(options: AgentRuntimeOptions): Promise<Runtime> {
  const { environment, dataDirectory, nodeName, images } = options
  switch (options.runtime) {
    case 'simulated':
      return createSimulatedRuntime({ environment, addresses: simulatedAddresses })
    case 'process': {
      const { createProcessRuntime } = await import('@coracle/kubelet/process')
      return createProcessRuntime({
        environment,
        dataDirectory,
        nodeName,
        ...(images === undefined ? {} : { images }),
      })
    }
  }
}

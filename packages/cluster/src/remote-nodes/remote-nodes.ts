import type { Node } from '@coracle/api'
import { BoundedMap } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import { endpointText, nodeEndpoint } from './node-endpoint.ts'
import { RemoteNode } from './remote-node.ts'
import { nodeMetricsOf, podMetricsOf, type Summary } from './summary-metrics.ts'

/** Agents that something is remembered of. */
const rememberedMax = 1_000
/** How long an agent may take to tell what is used: metrics-server's --kubelet-request-timeout. */
const metricsTimeoutMs = 10_000
/** How long it may take to make or remove a directory. What is not removed by then is asked for again, and goes on meanwhile. */
const volumeTimeoutMs = 60_000

/** What a server has to be known by to node agents. */
export interface AgentCredentials {
  /** The authority of the cluster, as PEM. */
  readonly caPem: string
  readonly client: KeyPair
}

export interface RemoteNodesOptions {
  readonly environment: Environment
  /** The node of a name as the API has it. */
  readonly nodeNamed: (name: string) => Promise<Node | undefined>
  readonly credentials: () => Promise<AgentCredentials>
}

/** The agents of nodes that are not in this process. */
export class RemoteNodes {
  readonly #options: RemoteNodesOptions
  readonly #known = new BoundedMap<string, { readonly client: KeyPair; readonly node: RemoteNode }>(rememberedMax)

  constructor(options: RemoteNodesOptions) {
    this.#options = options
  }

  /** The agent of a node; undefined where there is no such node, or it does not say where its agent is. */
  async of(name: string): Promise<RemoteNode | undefined> {
    const node = await this.#options.nodeNamed(name)
    const endpoint = node === undefined ? undefined : nodeEndpoint(node)
    if (endpoint === undefined) return undefined
    const { caPem, client } = await this.#options.credentials()
    const key = `${name} ${endpointText(endpoint)}`
    const known = this.#known.get(key)
    if (known?.client === client) return known.node
    const { environment } = this.#options
    const agent = new RemoteNode({ environment, nodeName: name, endpoint, caPem, client })
    this.#known.set(key, { client, node: agent })
    return agent
  }

  /** As `NodeGateway.podMetrics`. */
  async podMetrics(nodeName: string, pods: Parameters<typeof podMetricsOf>[1]) {
    const summary = await this.#summary(nodeName)
    return summary === undefined ? [] : podMetricsOf(summary, pods, this.#options.environment.clock.now())
  }

  /** As `NodeGateway.nodeMetrics`. */
  async nodeMetrics(node: Node) {
    const summary = await this.#summary(node.metadata.name ?? '')
    return summary && nodeMetricsOf(summary, node, this.#options.environment.clock.now())
  }

  /** Makes the directory of a volume on a node, and gives its path there. Rejects where the agent cannot be asked, or cannot make it. */
  createVolume(nodeName: string, volumeName: string): Promise<string> {
    return this.#within(volumeTimeoutMs, async (signal) =>
      (await this.#present(nodeName)).createVolume(volumeName, signal),
    )
  }

  /** Removes it and all that is in it. Rejects where the agent cannot be asked, or `path` is not where it is. */
  removeVolume(nodeName: string, volumeName: string, path: string): Promise<void> {
    return this.#within(volumeTimeoutMs, async (signal) =>
      (await this.#present(nodeName)).removeVolume(volumeName, path, signal),
    )
  }

  async #present(nodeName: string): Promise<RemoteNode> {
    const node = await this.of(nodeName)
    if (node === undefined) throw new Error(`node ${nodeName} does not say where its agent is`)
    return node
  }

  /** What an agent says is used; undefined where it cannot be asked. */
  async #summary(nodeName: string): Promise<Summary | undefined> {
    try {
      return await this.#within(metricsTimeoutMs, async (signal) => {
        const node = await this.of(nodeName)
        return node?.json<Summary>('/stats/summary', signal)
      })
    } catch (error) {
      this.#options.environment.logger.debug('a node does not tell what is used', { node: nodeName, error })
      return undefined
    }
  }

  /** Asks with a signal that is aborted after that time. */
  async #within<T>(timeoutMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const tooLate = new AbortController()
    const abort = () => tooLate.abort(new Error('the node has not answered in time'))
    const timer = this.#options.environment.clock.setTimer(timeoutMs, abort)
    try {
      return await ask(tooLate.signal)
    } finally {
      timer.cancel()
    }
  }
}

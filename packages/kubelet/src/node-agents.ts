import { type Node, nodes, type Pod, pods } from '@coracle/api'
import { type Client, createInformer } from '@coracle/client'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import { type Environment, TurnLimiter } from '@coracle/environment'
import { NodeAdmission } from './admission/node-admission.ts'
import { apiSources } from './env/api-sources.ts'
import type { LogOptions } from './log-options.ts'
import { NodeEvents } from './node/node-events.ts'
import { type NodeFacts, simulatedFacts } from './node/node-facts.ts'
import { NodeHeartbeat } from './node/node-heartbeat.ts'
import { describeNode, type NodeDescription } from './node/node-object.ts'
import { nodeAgentsMax } from './node-limits.ts'
import type { PodContext } from './pod/pod-context.ts'
import { podLogs } from './pod/pod-logs.ts'
import { PodManager } from './pod/pod-manager.ts'
import { podAttach, podExec, podPortForward } from './pod/pod-streams.ts'
import { passesPerTurnMax } from './pod/pod-worker.ts'
import type { SimulatedBehaviour } from './runtimes/simulated/simulated-run.ts'
import { createSimulatedRuntime, type SimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { createNodeUsage, type NodeUsage } from './usage/node-usage.ts'
import { mountVolumes } from './volumes/mount-volumes.ts'

export interface NodeAgentsOptions {
  readonly client: Client
  readonly environment: Environment
  readonly count: number
  /**
   * Nodes that other agents have registered, with their pods: they stay as they are, and what runs on them goes on running.
   * They come beside the `count` new ones.
   */
  readonly stored?: StoredNodes
  /** Only simulated nodes come in groups: processes of several nodes would fight over one host. */
  readonly runtime: 'simulated'
  /** Nodes are named by this and their number from 0. Absent: `node-`. */
  readonly namePrefix?: string
  readonly startLatencyMs?: number
  /** What containers do beside what their environment says. */
  readonly behaviour?: SimulatedBehaviour
  readonly labels?: (index: number) => Readonly<Record<string, string>>
  /** Whether all events of pods are recorded, which are three objects per container. Absent: warnings alone are. */
  readonly events?: boolean
}

/** Nodes and pods as they are in the API. */
export interface StoredNodes {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
}

/** The agents of many simulated nodes, which share one watch of pods, one runtime and one heartbeat loop. */
export interface NodeAgents {
  readonly nodeNames: readonly string[]
  readonly runtime: SimulatedRuntime
  /** What the nodes and their pods use. */
  readonly usage: NodeUsage
  /** Registers the nodes and follows their pods. Resolves when it has seen them all. */
  start(): Promise<void>
  stop(): Promise<void>
  /** The address of a node of these, what it has, and its pods, as the API has them. */
  nodeAddress(nodeName: string): string
  nodeFacts(nodeName: string): NodeFacts
  podsOf(nodeName: string): readonly Pod[]
  /** As `Kubelet.logs`: simulated containers have empty ones. */
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** As `Kubelet`'s: rejects, since simulated containers run nothing. */
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  portForward(pod: Pod): Promise<ForwardPort>
}

/** A group of node agents that has yet to be started. Throws a RangeError on more than `nodeAgentsMax`. */
export function createNodeAgents(options: NodeAgentsOptions): NodeAgents {
  const { client, environment, count, namePrefix = 'node-', startLatencyMs = 0, behaviour, stored } = options
  const total = count + (stored?.nodes.length ?? 0)
  if (total > nodeAgentsMax)
    throw new RangeError(`${total} nodes are more than the ${nodeAgentsMax} one group can have`)
  const runtime = createSimulatedRuntime({
    environment,
    startLatencyMs,
    ...(behaviour === undefined ? {} : { behaviour }),
  })
  const runtimeVersion = `${runtime.name}://${runtime.version}`
  const added = Array.from({ length: count }, (_, index): NodeDescription => {
    const name = `${namePrefix}${index}`
    return {
      name,
      address: simulatedNodeAddress(index),
      facts: simulatedFacts(name),
      runtimeVersion,
      labels: options.labels?.(index) ?? {},
    }
  })
  const descriptions = [...(stored?.nodes.map(describeNode) ?? []), ...added]
  const names = new Set(descriptions.map(({ name }) => name))
  runtime.adopt(inOrderOfWrites(stored?.pods ?? []).filter(({ spec }) => names.has(spec.nodeName ?? '')))
  const events = new NodeEvents(client, environment, { warningsOnly: options.events !== true })
  const heartbeat = new NodeHeartbeat(client, environment, descriptions)
  const contexts = contextsOf(options, descriptions, heartbeat, runtime, events, (name) => manager.preemptable(name))
  const manager = new PodManager(runtime, environment.logger, (name) => contexts.get(name))
  const informer = createInformer(client, pods, {}, environment)
  informer.addHandler({
    // Those that are there at first are taken up together, see below.
    add: (pod, isInitial) => {
      if (!isInitial) manager.setPod(pod)
    },
    update: (_, pod) => manager.setPod(pod),
    delete: (pod) => manager.removePod(pod),
  })
  const stopping = new AbortController()

  return {
    nodeNames: descriptions.map(({ name }) => name),
    runtime,
    usage: createNodeUsage(runtime, environment.clock),
    nodeAddress: (nodeName) => contexts.get(nodeName)?.nodeAddress ?? '',
    nodeFacts: (nodeName) => descriptions.find(({ name }) => name === nodeName)?.facts ?? simulatedFacts(nodeName),
    podsOf: (nodeName) => informer.list().filter(({ spec }) => spec.nodeName === nodeName),
    async start() {
      await heartbeat.start()
      informer.start()
      await informer.waitForSync(stopping.signal)
      // Containers that were being started go on in the order in which they began.
      for (const pod of inOrderOfWrites(informer.list())) manager.setPod(pod)
    },
    async stop() {
      stopping.abort(new Error('the node agents were stopped'))
      await Promise.all([informer.stop(), heartbeat.close(), manager.close()])
      events.stop()
      await runtime.close()
    },
    logs(pod, logOptions, signal) {
      const statuses = manager.containerStatuses(pod)
      return podLogs(runtime, pod, statuses, logOptions, environment.clock.now(), signal)
    },
    exec: async (pod, execOptions) => podExec(runtime, manager.containerStatuses(pod), execOptions),
    attach: async (pod, attachOptions) => podAttach(runtime, manager.containerStatuses(pod), attachOptions),
    portForward: (pod) => podPortForward(runtime, pod),
  }
}

/** Where nothing else says in which order pods began, the order of last writes tells it best. */
const inOrderOfWrites = (pods: readonly Pod[]): readonly Pod[] =>
  pods.toSorted((a, b) => Number(a.metadata.resourceVersion ?? 0) - Number(b.metadata.resourceVersion ?? 0))

function contextsOf(
  { client, environment }: NodeAgentsOptions,
  descriptions: readonly NodeDescription[],
  heartbeat: NodeHeartbeat,
  runtime: SimulatedRuntime,
  events: NodeEvents,
  preemptable: PodManager['preemptable'],
): ReadonlyMap<string, PodContext> {
  const sources = apiSources(client)
  const shared = {
    client,
    environment,
    runtime,
    sources,
    mountVolumes: (pod: Pod) => mountVolumes(pod, { client, objects: sources, allocatable: {}, isReal: false }),
    turns: new TurnLimiter(environment.clock, passesPerTurnMax),
  }
  return new Map(
    descriptions.map(({ name, address, facts }) => {
      const admission = new NodeAdmission({
        clock: environment.clock,
        allocatable: facts.capacity,
        operatingSystem: facts.operatingSystem,
        strictGroups: facts.features?.supplementalGroupsPolicy === true,
        others: () => preemptable(name),
        known: () => heartbeat.known(name),
        read: () => client.get(nodes, { name }),
      })
      const recorder = events.of(name)
      const { capacity: allocatable } = facts
      return [name, { ...shared, recorder, nodeName: name, nodeAddress: address, allocatable, admission }]
    }),
  )
}

/** The address of a simulated node, by its number from 0. They look like a data centre's: 10.64.0.1 and up. */
export function simulatedNodeAddress(index: number): string {
  const number = index + 1
  return `10.${64 + Math.floor(number / 65_536)}.${Math.floor(number / 256) % 256}.${number % 256}`
}

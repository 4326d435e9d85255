import { type Pod, simulatedUsageOf } from '@coracle/api'
import type { Clock, Time } from '@coracle/environment'
import type { ContainerRuntimeStatus, ContainerStats } from '../runtimes/runtime.ts'
import { type Counters, hostCounters } from '../usage/host-counters.ts'
import { readPressure } from '../usage/pressure.ts'
import { runtimePods } from './runtime-pods.ts'
import type { ServedNode } from './served-node.ts'

/** What a container of a pod has used until now. */
export interface CountedContainer {
  readonly pod: Pod
  readonly run: ContainerRuntimeStatus
  readonly stats: ContainerStats
}

/** What a node has used until now. */
export interface CountedNode {
  /** The running containers that something is counted of. */
  readonly containers: readonly CountedContainer[]
  /** All there is on the node, its containers included. */
  readonly host: Counters & Pick<ContainerStats, 'pressure'>
}

/** The CPU time of a node whose containers say what they use, until it was last read. */
interface SimulatedTime {
  readonly nodeMs: number
  readonly containers: ReadonlyMap<string, { readonly cpuMs: number; readonly readAtMs: Time }>
}

const none: SimulatedTime = { nodeMs: 0, containers: new Map() }

/**
 * Counts what nodes and their containers have used. Runtimes of real containers count themselves; simulated ones only say how much they
 * use, which is added up here from one reading to the next, so that no counter ever falls while its container runs.
 */
export class UsageCounters {
  readonly #clock: Clock
  readonly #pressureDirectory: string
  readonly #simulated = new Map<string, SimulatedTime>()

  /** `pressureDirectory` is where the kernel tells what tasks of the host have waited for. */
  constructor(clock: Clock, pressureDirectory = '/proc/pressure') {
    this.#clock = clock
    this.#pressureDirectory = pressureDirectory
  }

  /** Reads all counters of a node. */
  async read(node: ServedNode): Promise<CountedNode> {
    if (!node.runtime.runsProcesses) return this.#readSimulated(node)
    const [containers, pressure] = await Promise.all([
      countedContainers(node),
      readPressure((resource) => `${this.#pressureDirectory}/${resource}`),
    ])
    return { containers, host: { ...hostCounters(), ...(pressure === undefined ? {} : { pressure }) } }
  }

  async #readSimulated(node: ServedNode): Promise<CountedNode> {
    const { nodeName } = node
    const running = (await runtimePods(node)).map(({ pod, containers }) => ({
      pod,
      runs: containers.filter(({ state }) => state === 'running'),
    }))
    const nowMs = this.#clock.now()
    const before = this.#simulated.get(nodeName) ?? none
    const counted = running.flatMap(({ pod, runs }) => {
      const usage = simulatedUsageOf(
        pod.metadata,
        runs.map(({ name }) => name),
      )
      return runs.map((run) => {
        const { cpu = 0, memory = 0 } = usage.get(run.name) ?? {}
        const { cpuMs, readAtMs } = before.containers.get(run.id) ?? { cpuMs: 0, readAtMs: run.startedAtMs ?? nowMs }
        const addedMs = cpu * Math.max(0, nowMs - readAtMs)
        // All memory of a simulated container is in use, and of no file.
        const stats = {
          cpuMs: cpuMs + addedMs,
          memoryBytes: memory,
          memoryUsageBytes: memory,
          memoryRssBytes: memory,
        }
        return { container: { pod, run, stats }, addedMs }
      })
    })
    const containers = counted.map(({ container }) => container)
    const nodeMs = counted.reduce((total, { addedMs }) => total + addedMs, before.nodeMs)
    this.#simulated.set(nodeName, {
      nodeMs,
      containers: new Map(containers.map(({ run, stats }) => [run.id, { cpuMs: stats.cpuMs, readAtMs: nowMs }])),
    })
    const memoryBytes = containers.reduce((total, { stats }) => total + stats.memoryBytes, 0)
    return { containers, host: { cpuMs: nodeMs, memoryBytes } }
  }
}

async function countedContainers({ runtime, pods }: ServedNode): Promise<readonly CountedContainer[]> {
  const running = (await runtime.listContainers()).filter(({ state }) => state === 'running')
  const stats = await runtime.containerStats(running.map(({ id }) => id))
  const podOf = new Map(pods().map((pod) => [pod.metadata.uid, pod]))
  return running.flatMap((run) => {
    const [pod, counted] = [podOf.get(run.podUid), stats.get(run.id)]
    return pod === undefined || counted === undefined ? [] : [{ pod, run, stats: counted }]
  })
}

import type { Pod } from '@coracle/api'
import { type Environment, sleep, type Timer } from '@coracle/environment'
import { type AddressPool, createAddressPool } from '../../addresses.ts'
import { isTask } from '../../pod/task.ts'
import { probesOfReadiness } from '../../probes/readiness.ts'
import {
  type ContainerConfig,
  type ContainerRuntimeStatus,
  type ContainerStats,
  type ContainerStoppedEvent,
  ImagePullError,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type Runtime,
} from '../runtime.ts'
import { adoptedPod } from './adopted-pod.ts'
import {
  exitCodeOf,
  type SimulatedBehaviour,
  type SimulatedConduct,
  type SimulatedRun,
  simulatedRunOf,
} from './simulated-run.ts'

/** Pods a simulated runtime can hold at once: one address each. */
export const simulatedPodsMax = 2 ** 22
const allAddresses = { first: '10.128.0.1', count: simulatedPodsMax }

export interface SimulatedRuntimeOptions {
  readonly environment: Environment
  /** How long a container takes to start. */
  readonly startLatencyMs?: number
  /** What containers do beside what their environment says. */
  readonly behaviour?: SimulatedBehaviour
  /** Its pods' addresses, for one of several runtimes: `simulatedPodsMax` from 10.128.0.1 unless given. */
  readonly addresses?: { readonly first: string; readonly count: number }
}

/** A runtime without processes: containers are entries in a table. */
export interface SimulatedRuntime extends Runtime {
  /**
   * Takes over pods that ran before under another runtime, as their statuses say: their containers go on running, with the same
   * ids, addresses and counts. Does nothing for those of which nothing has started. Call it before anybody asks about the pods.
   *
   * What ends in one moment ends in the order in which it began. Statuses tell that to the second, and the ids of simulated containers
   * within it; for others it is the order of `pods`.
   */
  adopt(pods: readonly Pod[]): void
  /** Lets the running container of a pod end as if its process had. False where none of that name runs. */
  exitContainer(podUid: string, name: string, exitCode: number): boolean
}

/**
 * Containers that start when asked, run until they are stopped, told to end or as long as their environment says
 * (`simulatedRunOf`), and stop at once. One runtime serves any number of nodes.
 */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions): SimulatedRuntime {
  return new TableRuntime(options)
}

/** Of a process that SIGTERM ends: 128 and the number of the signal. */
const terminatedExitCode = 143

/** The most that the host's timers can wait for: what takes longer does not happen. */
const foreverMs = Number.POSITIVE_INFINITY

/** When something happens to an adopted pod that seems to be due: it has not happened yet, and times are told to the second only. */
const soonMs = 1

/** A container that has been taken over, and runs. */
interface AdoptedRun {
  readonly id: string
  /** To the second. */
  readonly startedAtMs: number
  /** Arms what is to happen to it. */
  resume(): void
}

function inOrderOfStart(a: AdoptedRun, b: AdoptedRun): number {
  return a.startedAtMs - b.startedAtMs || (countOf(a.id) ?? foreignCount) - (countOf(b.id) ?? foreignCount)
}

interface PodEntry {
  sandboxes: readonly PodSandboxStatus[]
  containers: readonly ContainerRuntimeStatus[]
}

class TableRuntime implements SimulatedRuntime {
  readonly name = 'simulated'
  readonly version = '0.1.0'
  readonly runsProcesses = false
  readonly #environment: Environment
  readonly #startLatencyMs: number
  readonly #pods = new Map<string, PodEntry>()
  readonly #podOf = new Map<string, string>()
  /** How containers end that end by themselves, by their ids, until they run. */
  readonly #runs = new Map<string, SimulatedRun>()
  /** What containers do that have yet to start, by their ids, where anything is said. */
  readonly #conducts = new Map<string, SimulatedConduct>()
  /** What ends them, by their ids, while they run. */
  readonly #ends = new Map<string, Timer>()
  /** What makes them ready, by their ids, while they are not. */
  readonly #readies = new Map<string, Timer>()
  readonly #behaviour: SimulatedBehaviour | undefined
  readonly #addresses: AddressPool
  readonly #podsMax: number
  readonly #listeners = new Set<(event: ContainerStoppedEvent) => void>()
  #ids = 0

  constructor({ environment, startLatencyMs = 0, addresses = allAddresses, behaviour }: SimulatedRuntimeOptions) {
    this.#environment = environment
    this.#behaviour = behaviour
    this.#startLatencyMs = startLatencyMs
    this.#addresses = createAddressPool(addresses.first, addresses.count)
    this.#podsMax = addresses.count
  }

  subscribe(listener: (event: ContainerStoppedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  adopt(pods: readonly Pod[]): void {
    const running = pods.flatMap((pod) => this.#adopted(pod))
    for (const { id } of running) this.#ids = Math.max(this.#ids, countOf(id) ?? 0)
    for (const { resume } of running.toSorted(inOrderOfStart)) resume()
  }

  /** Takes over a pod. What runs of it has yet to be resumed. */
  #adopted(pod: Pod): readonly AdoptedRun[] {
    const adopted = adoptedPod(pod)
    if (adopted === undefined) return []
    const { sandbox, containers } = adopted
    for (const address of sandbox.addresses) this.#addresses.claim(address)
    for (const { id } of [sandbox, ...containers]) this.#podOf.set(id, sandbox.podUid)
    const statuses = pod.status?.containerStatuses ?? []
    this.#pods.set(sandbox.podUid, { sandboxes: [sandbox], containers })
    return containers.flatMap(({ id, name, image, attempt, state, startedAtMs = 0 }): readonly AdoptedRun[] => {
      if (state !== 'running') return []
      const ready = statuses.find((each) => each.name === name)?.ready !== false
      const { podUid, podName, podNamespace } = sandbox
      const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((each) => each.name === name)
      const task = container !== undefined && isTask(pod, container)
      const identity = { podUid, podName, podNamespace, name, image, attempt }
      const { env = [], command = [], args = [] } = container ?? {}
      const probes = container === undefined ? [] : probesOfReadiness(container)
      const variables = env.flatMap(({ name: variable, value, valueFrom }) =>
        valueFrom === undefined ? [{ name: variable, value: value ?? '' }] : [],
      )
      const adopted = { startedAtMs, ready }
      const who = { ...identity, isTask: task, command, args, env: variables, probes, adopted }
      const { run: usual, readyAfterMs = 0 } = this.#behaviour?.(who) ?? {}
      const run = simulatedRunOf(variables) ?? usual
      const sinceMs = this.#environment.clock.now() - startedAtMs
      const resume = () => {
        if (run !== undefined) this.#endAfter(id, run, Math.max(soonMs, run.forMs - sinceMs))
        if (!ready) this.#readyAfter(id, Math.max(soonMs, readyAfterMs - sinceMs))
      }
      return [{ id, startedAtMs, resume }]
    })
  }

  async listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]> {
    if (podUid !== undefined) return this.#pods.get(podUid)?.sandboxes ?? []
    return [...this.#pods.values()].flatMap(({ sandboxes }) => sandboxes)
  }

  async listContainers(podUid?: string): Promise<readonly ContainerRuntimeStatus[]> {
    if (podUid !== undefined) return this.#pods.get(podUid)?.containers ?? []
    return [...this.#pods.values()].flatMap(({ containers }) => containers)
  }

  async runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus> {
    const address = config.hostNetwork ? undefined : this.#addresses.take(config.preferredAddress)
    if (address === undefined && !config.hostNetwork)
      throw new Error(`no free pod address: ${this.#podsMax} are in use`)
    const { podUid, podName, podNamespace, attempt } = config
    const sandbox: PodSandboxStatus = {
      id: this.#newId(podUid),
      podUid,
      podName,
      podNamespace,
      attempt,
      ready: true,
      createdAtMs: this.#environment.clock.now(),
      addresses: address === undefined ? [] : [address],
    }
    const entry = this.#pods.get(podUid) ?? { sandboxes: [], containers: [] }
    this.#pods.set(podUid, { ...entry, sandboxes: [...entry.sandboxes, sandbox] })
    return sandbox
  }

  async stopPodSandbox(id: string): Promise<void> {
    const entry = this.#entryOf(id)
    const sandbox = entry?.sandboxes.find((candidate) => candidate.id === id)
    if (entry === undefined || sandbox?.ready !== true) return
    for (const container of entry.containers) if (container.sandboxId === id) this.#end(container.id, 137)
    for (const address of sandbox.addresses) this.#addresses.release(address)
    entry.sandboxes = entry.sandboxes.map((candidate) =>
      candidate.id === id ? { ...sandbox, ready: false } : candidate,
    )
  }

  async removePodSandbox(id: string): Promise<void> {
    await this.stopPodSandbox(id)
    const podUid = this.#podOf.get(id)
    const entry = this.#entryOf(id)
    if (podUid === undefined || entry === undefined) return
    for (const container of entry.containers)
      if (container.sandboxId === id) {
        this.#podOf.delete(container.id)
        this.#runs.delete(container.id)
        this.#conducts.delete(container.id)
      }
    this.#podOf.delete(id)
    entry.containers = entry.containers.filter(({ sandboxId }) => sandboxId !== id)
    entry.sandboxes = entry.sandboxes.filter((sandbox) => sandbox.id !== id)
    if (entry.sandboxes.length === 0) this.#pods.delete(podUid)
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    const podUid = this.#podOf.get(sandboxId)
    const entry = this.#entryOf(sandboxId)
    if (podUid === undefined || entry === undefined) throw new Error(`sandbox ${sandboxId} not found`)
    const sandbox = entry.sandboxes.find(({ id }) => id === sandboxId)
    const { name, attempt, image, command, args, env, probes = [], isTask = false } = config
    const { podName = '', podNamespace = '' } = sandbox ?? {}
    const identity = { podUid, podName, podNamespace, name, image, attempt }
    const conduct = this.#behaviour?.({ ...identity, isTask, command, args, env, probes })
    if (conduct?.imageError !== undefined) throw new ImagePullError(conduct.imageError)
    const run = simulatedRunOf(config.env) ?? conduct?.run
    const container: ContainerRuntimeStatus = {
      id: this.#newId(podUid),
      sandboxId,
      podUid,
      name: config.name,
      attempt: config.attempt,
      image: config.image,
      imageRef: config.image,
      state: 'created',
      createdAtMs: this.#environment.clock.now(),
    }
    if (run !== undefined) this.#runs.set(container.id, run)
    if (conduct !== undefined) this.#conducts.set(container.id, conduct)
    entry.containers = [...entry.containers, container]
    return container.id
  }

  async startContainer(id: string, signal?: AbortSignal): Promise<void> {
    const { startLatencyMs = this.#startLatencyMs, readyAfterMs = 0 } = this.#conducts.get(id) ?? {}
    if (startLatencyMs > 0) await sleep(this.#environment.clock, startLatencyMs, signal)
    if (this.#containerOf(id) === undefined) throw new Error(`container ${id} not found`)
    this.#change(id, { state: 'running', startedAtMs: this.#environment.clock.now() })
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    this.#conducts.delete(id)
    if (readyAfterMs > 0) this.#readyAfter(id, readyAfterMs)
    if (run !== undefined) this.#endAfter(id, run, run.forMs)
  }

  /** Work that is broken off ends as SIGTERM ends a process; what would run for ever was asked to stop, and does so in order. */
  async stopContainer(id: string): Promise<void> {
    this.#end(id, this.#ends.has(id) ? terminatedExitCode : 0)
  }

  exitContainer(podUid: string, name: string, exitCode: number): boolean {
    const running = this.#pods.get(podUid)?.containers.find((run) => run.name === name && run.state === 'running')
    if (running === undefined) return false
    this.#end(running.id, exitCode)
    return true
  }

  async removeContainer(id: string): Promise<void> {
    const entry = this.#entryOf(id)
    if (entry === undefined) return
    entry.containers = entry.containers.filter((container) => container.id !== id)
    this.#podOf.delete(id)
    this.#runs.delete(id)
    this.#conducts.delete(id)
  }

  /** Simulated containers use what their pods say. */
  async containerStats(): Promise<ReadonlyMap<string, ContainerStats>> {
    return new Map()
  }

  async execSync(): Promise<never> {
    throw new Error('simulated containers have no processes to run commands beside')
  }

  exec(): Promise<never> {
    return this.execSync()
  }

  attach(): Promise<never> {
    return this.execSync()
  }

  async portForward(): Promise<never> {
    throw new Error('simulated pods listen on no port')
  }

  /** Simulated containers say nothing. */
  async *readLog(): AsyncIterable<Uint8Array> {}

  async close(): Promise<void> {
    this.#listeners.clear()
    for (const timers of [this.#ends, this.#readies]) {
      for (const timer of timers.values()) timer.cancel()
      timers.clear()
    }
  }

  #entryOf(id: string): PodEntry | undefined {
    const podUid = this.#podOf.get(id)
    return podUid === undefined ? undefined : this.#pods.get(podUid)
  }

  #containerOf(id: string): ContainerRuntimeStatus | undefined {
    return this.#entryOf(id)?.containers.find((container) => container.id === id)
  }

  #change(id: string, changes: Partial<ContainerRuntimeStatus>): void {
    const entry = this.#entryOf(id)
    if (entry === undefined) return
    entry.containers = entry.containers.map((container) =>
      container.id === id ? { ...container, ...changes } : container,
    )
  }

  #end(id: string, exitCode: number): void {
    const container = this.#containerOf(id)
    if (container?.state !== 'running') return
    for (const timers of [this.#ends, this.#readies]) {
      timers.get(id)?.cancel()
      timers.delete(id)
    }
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    this.#change(id, { state: 'exited', exitCode, reason, finishedAtMs: this.#environment.clock.now() })
    this.#tell(container)
  }

  #endAfter(id: string, run: SimulatedRun, delayMs: number): void {
    if (delayMs === foreverMs) return
    const { clock, random } = this.#environment
    this.#ends.set(
      id,
      clock.setTimer(delayMs, () => this.#end(id, exitCodeOf(run, random)), { external: true }),
    )
  }

  #readyAfter(id: string, delayMs: number): void {
    this.#change(id, { unready: true })
    if (delayMs === foreverMs) return
    const becomesReady = (): void => {
      this.#readies.delete(id)
      this.#change(id, { unready: false })
      const container = this.#containerOf(id)
      if (container !== undefined) this.#tell(container)
    }
    const timer = this.#environment.clock.setTimer(delayMs, becomesReady, { external: true })
    this.#readies.set(id, timer)
  }

  #tell({ podUid, id }: ContainerRuntimeStatus): void {
    for (const listener of this.#listeners) listener({ podUid, containerId: id })
  }

  #newId(podUid: string): string {
    let id: string
    do {
      this.#ids += 1
      id = idOf(this.#ids)
    } while (this.#podOf.has(id))
    this.#podOf.set(id, podUid)
    return id
  }
}

const zeros = Array.from({ length: 64 }, (_, digits) => '0'.repeat(64 - digits))

/** What counts for the order of containers that no simulated runtime has made: they come after those that one has. */
const foreignCount = Number.MAX_SAFE_INTEGER

const idPattern = /^0{52}([0-9a-f]{12})$/

/** The number of a container among those that its runtime has made, from its id; undefined where another runtime made it. */
function countOf(id: string): number | undefined {
  const digits = idPattern.exec(id)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

/** Ids look like those of real runtimes: 64 hexadecimal digits. All share their zeros, of which `padStart` makes eight strings for each. */
function idOf(count: number): string {
  const digits = count.toString(16)
  return `${zeros[digits.length]}${digits}`
}

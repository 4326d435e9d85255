import type { EventType } from '@coracle/client'
import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import type { NodeRecorder } from '../node/node-events.ts'
import { recordNodeEvent } from '../node/record-node-event.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { hasImageDisk, type Measure, type StoringPod, storageUse } from '../storage/storage-use.ts'
import {
  calm,
  type EvictionSettings,
  evictionMessage,
  isRelieved,
  type Pressure,
  type PressureState,
  planPressure,
  rankForEviction,
  type Starved,
  type Supply,
  storagePart,
  type UsingPod,
} from './plan-eviction.ts'
import type { EvictionSignal } from './thresholds.ts'

/** How often the node is looked at: upstream's eviction monitoring period. */
export const pressurePeriodMs = 10_000
/** A pod that was evicted has so long to go before the next one does: upstream's podCleanupTimeout. */
export const evictedGoneMaxMs = 30_000

export interface NodePressureParts {
  readonly environment: Environment
  readonly nodeName: string
  readonly recorder: NodeRecorder
  readonly runtime: Pick<
    Runtime,
    'containerStats' | 'containerStorage' | 'images' | 'listContainers' | 'listPodSandboxes' | 'podSandboxStats'
  >
  readonly settings: EvictionSettings
  /** Those that have not ended. */
  readonly pods: () => readonly StoringPod[]
  /** A directory on the disk of the node's own files. */
  readonly directory: string
  readonly measure: Measure
  readonly observe: () => Promise<ReadonlyMap<EvictionSignal, Supply>>
  /** Removes containers that have ended, and images that are not in use. */
  readonly reclaimDisk: () => Promise<void>
}

/** Looks how much a node has left, says so in its conditions, and evicts pods, one at a time, where it is too little. */
export class NodePressure {
  readonly #parts: NodePressureParts
  readonly #stopping = new AbortController()
  #state: PressureState = calm
  #conditions: readonly Pressure[] = []
  #evicted: { readonly uid: string | undefined; readonly untilMs: number } | undefined
  #timer: Timer | undefined

  constructor(parts: NodePressureParts) {
    this.#parts = parts
  }

  /** The conditions that hold of the node. */
  get conditions(): readonly Pressure[] {
    return this.#conditions
  }

  start(): void {
    void this.#round()
  }

  stop(): void {
    this.#stopping.abort()
    this.#timer?.cancel()
  }

  async #round(): Promise<void> {
    const { clock, logger } = this.#parts.environment
    const release = keepProcess(clock)
    try {
      await this.look()
    } catch (error) {
      logger.warn('what the node has left could not be found out, trying again', { error })
    }
    release()
    if (this.#stopping.signal.aborted) return
    this.#timer = clock.setTimer(pressurePeriodMs, () => void this.#round(), { housekeeping: true })
  }

  /** Looks at the node, and has one pod go at most. */
  async look(): Promise<void> {
    const [first] = await this.#starved()
    if (first === undefined || this.#waitsForEvicted()) return
    this.#tell('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${first.resource}`)
    if (isOfDisk(first)) {
      await this.#parts.reclaimDisk().catch((error: unknown) => {
        this.#parts.environment.logger.warn('not all could be removed that nobody needs', { error })
      })
      if (isRelieved(this.#parts.settings, await this.#parts.observe())) return
    }
    await this.#evictOne(first)
  }

  async #starved(): Promise<readonly Starved[]> {
    const { settings, observe, environment } = this.#parts
    const plan = planPressure(settings, await observe(), this.#state, environment.clock.monotonicMs())
    this.#state = plan.state
    for (const [pressure, [begins, ends]] of statusEvents) {
      const [held, holds] = [this.#conditions, plan.conditions].map((each) => each.includes(pressure))
      if (held === holds) continue
      const reason = holds === true ? begins : ends
      this.#tell('Normal', reason, `Node ${this.#parts.nodeName} status is now: ${reason}`)
    }
    this.#conditions = plan.conditions
    return plan.starved
  }

  /** Whether a pod is still to go that was evicted a moment ago. */
  #waitsForEvicted(): boolean {
    const { environment, pods } = this.#parts
    if (this.#evicted === undefined) return false
    const { uid, untilMs } = this.#evicted
    const isThere = pods().some(({ pod }) => pod.metadata.uid === uid)
    return isThere && environment.clock.monotonicMs() < untilMs
  }

  async #evictOne(starved: Starved): Promise<void> {
    const { environment, runtime, directory, settings } = this.#parts
    // Where images are matters for disks alone.
    const part = isOfDisk(starved) ? storagePart(starved.signal, await hasImageDisk(runtime, directory)) : 'all'
    const using = await this.#using(starved)
    const graceMaxMs = starved.isSoft ? settings.podGraceMaxMs : 0
    for (const each of rankForEviction(using, starved, part)) {
      if (!each.evict(evictionMessage(starved, each), graceMaxMs, starved.signal)) continue
      const untilMs = environment.clock.monotonicMs() + graceMaxMs + evictedGoneMaxMs
      this.#evicted = { uid: each.pod.metadata.uid, untilMs }
      return
    }
  }

  #using({ resource }: Starved): Promise<readonly (StoringPod & UsingPod)[]> {
    switch (resource) {
      case 'memory':
        return this.#memory()
      case 'pids':
        return this.#processes()
      case 'ephemeral-storage':
      case 'inodes':
        return this.#storage()
    }
  }

  async #processes(): Promise<readonly (StoringPod & UsingPod)[]> {
    const { runtime, pods } = this.#parts
    const stats = await runtime.podSandboxStats?.()
    const counted = new Map<string, number>()
    for (const { id, podUid } of stats === undefined ? [] : await runtime.listPodSandboxes()) {
      const processes = stats?.get(id)?.processes
      if (processes !== undefined) counted.set(podUid, (counted.get(podUid) ?? 0) + processes)
    }
    return pods().map((each) => {
      const processes = counted.get(each.pod.metadata.uid ?? '')
      return processes === undefined ? each : { ...each, processes }
    })
  }

  async #memory(): Promise<readonly (StoringPod & UsingPod)[]> {
    const { runtime, pods } = this.#parts
    const running = (await runtime.listContainers()).filter(({ state }) => state === 'running')
    const stats = await runtime.containerStats(running.map(({ id }) => id))
    const byPod = Map.groupBy(running, ({ podUid }) => podUid)
    // Where nothing runs there is nothing to gain.
    return pods().flatMap((each) => {
      const found = byPod.get(each.pod.metadata.uid ?? '')
      if (found === undefined) return []
      const used = found.flatMap(({ id, name }) => {
        const bytes = stats.get(id)?.memoryBytes
        return bytes === undefined ? [] : [[name, bytes] as const]
      })
      return [used.length === 0 ? each : { ...each, memory: new Map(used) }]
    })
  }

  async #storage(): Promise<readonly (StoringPod & UsingPod)[]> {
    const { runtime, pods, measure } = this.#parts
    const all: (StoringPod & UsingPod)[] = []
    for (const each of pods()) {
      const { onDisk, containers } = await storageUse(each, runtime, measure, this.#stopping.signal)
      all.push({ ...each, storage: { volumeBytes: onDisk, containers } })
    }
    return all
  }

  #tell(type: EventType, reason: string, message: string): void {
    recordNodeEvent(this.#parts.recorder, this.#parts.nodeName, type, reason, message)
  }
}

const isOfDisk = ({ resource }: Starved): boolean => resource === 'ephemeral-storage' || resource === 'inodes'

/** The reasons of the events that tell of the beginning and the end of a condition. */
const statusEvents: readonly (readonly [Pressure, readonly [begins: string, ends: string]])[] = [
  ['MemoryPressure', ['NodeHasInsufficientMemory', 'NodeHasSufficientMemory']],
  ['DiskPressure', ['NodeHasDiskPressure', 'NodeHasNoDiskPressure']],
  ['PIDPressure', ['NodeHasInsufficientPID', 'NodeHasSufficientPID']],
]

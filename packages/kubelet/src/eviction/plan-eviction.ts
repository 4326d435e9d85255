import { formatQuantity, type Pod, parseQuantity, podRequests, quantityValue, wholeAmount } from '@coracle/api'
import { nodeLow } from '../pod/plan-pod.ts'
import type { ContainerStorageUse } from '../storage/plan-storage-eviction.ts'
import { type EvictionDetails, type EvictionSignal, type EvictionThresholds, evictionSignals } from './thresholds.ts'

/** How much there is of something, and how much of it is left: bytes, inodes, or tasks. */
export interface Supply {
  readonly available: number
  readonly capacity: number
}

export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

/** Something that the node has too little of. */
export interface Starved extends Supply {
  readonly signal: EvictionSignal
  /** As messages name it. */
  readonly resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'
  /** Less than this is too little. */
  readonly threshold: number
  /** The threshold as it is asked for; absent where that is a part of all there is. */
  readonly asked?: string
  /** Whether pods have time to end that go for it. */
  readonly isSoft: boolean
}

/** What is kept from one look at a node to the next. */
export interface PressureState {
  /** Since when thresholds are crossed, each by its signal and whether it is hard or soft. */
  readonly crossedSinceMs: ReadonlyMap<string, number>
  /** Those for which pods went, or were about to: until enough is left again. */
  readonly met: ReadonlySet<string>
  /** When each condition was last seen to hold. */
  readonly seenAtMs: ReadonlyMap<Pressure, number>
}

export const calm: PressureState = { crossedSinceMs: new Map(), met: new Set(), seenAtMs: new Map() }

/** How little may be left, and what else there is to say of that. */
export type EvictionSettings = EvictionDetails & { readonly hard: EvictionThresholds }

export interface PressurePlan {
  /** What the node has too little of, what is to be looked after first at the beginning. */
  readonly starved: readonly Starved[]
  readonly state: PressureState
  /** The conditions that the node is to show. */
  readonly conditions: readonly Pressure[]
}

const pressureOf = (signal: EvictionSignal): Pressure => {
  if (signal === 'memory.available') return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

const resourceOf = (signal: EvictionSignal): Starved['resource'] => {
  if (signal === 'memory.available') return 'memory'
  if (signal === 'pid.available') return 'pids'
  return signal.endsWith('.inodesFree') ? 'inodes' : 'ephemeral-storage'
}

interface Crossed extends Starved {
  readonly key: string
  readonly graceMs: number
}

/**
 * Thresholds that are crossed, hard ones first. Those that are `met` are crossed until there is enough for the minimum to be reclaimed as well. What cannot be
 * observed is not lacking (upstream's eviction manager).
 */
function crossed(
  { hard, soft, softGraceMs, minimumReclaim }: EvictionSettings,
  supplies: ReadonlyMap<EvictionSignal, Supply>,
  isMet: (key: string) => boolean,
): readonly Crossed[] {
  return evictionSignals.flatMap((signal) =>
    [false, true].flatMap((isSoft): readonly Crossed[] => {
      const [value, supply] = [(isSoft ? soft : hard)[signal], supplies.get(signal)]
      if (value === undefined || supply === undefined) return []
      const threshold = thresholdOf(value, supply.capacity)
      const key = `${signal} ${isSoft ? 'soft' : 'hard'}`
      const reclaimed = minimumReclaim[signal]
      const more = reclaimed !== undefined && isMet(key) ? thresholdOf(reclaimed, supply.capacity) : 0
      if (supply.available >= threshold + more) return []
      const graceMs = isSoft ? (softGraceMs[signal] ?? 0) : 0
      const asked = value.endsWith('%') ? {} : { asked: value }
      return [{ key, graceMs, signal, resource: resourceOf(signal), threshold, ...asked, isSoft, ...supply }]
    }),
  )
}

/** Whether the node has enough of everything again, with the minimum that is to be reclaimed. */
export const isRelieved = (settings: EvictionSettings, supplies: ReadonlyMap<EvictionSignal, Supply>): boolean =>
  crossed(settings, supplies, () => true).length === 0

/** What a node has too little of, for as long as it is borne, and what is to be said of that. */
export function planPressure(
  settings: EvictionSettings,
  supplies: ReadonlyMap<EvictionSignal, Supply>,
  before: PressureState,
  nowMs: number,
): PressurePlan {
  const all = crossed(settings, supplies, (key) => before.met.has(key))
  const crossedSinceMs = new Map(all.map(({ key }) => [key, before.crossedSinceMs.get(key) ?? nowMs]))
  const starved = all.filter(({ key, graceMs }) => nowMs - (crossedSinceMs.get(key) ?? nowMs) >= graceMs)
  const lately = [...before.seenAtMs].filter(([, atMs]) => nowMs - atMs < settings.pressureTransitionMs)
  const seenAtMs = new Map([...lately, ...all.map(({ signal }) => [pressureOf(signal), nowMs] as const)])
  const met = new Set(starved.map(({ key }) => key))
  return { starved, state: { crossedSinceMs, met, seenAtMs }, conditions: [...seenAtMs.keys()].sort().reverse() }
}

function thresholdOf(value: string, capacity: number): number {
  return value.endsWith('%') ? Math.floor((capacity * Number(value.slice(0, -1))) / 100) : quantityValue(value)
}

/** A pod of the node, with what it uses. What is absent could not be found out. */
export interface UsingPod {
  readonly pod: Pod
  /** Bytes of memory, by container. */
  readonly memory?: ReadonlyMap<string, number>
  readonly storage?: { readonly volumeBytes: number; readonly containers: ReadonlyMap<string, ContainerStorageUse> }
  readonly processes?: number
}

/** What of a pod's storage is on the disk that is full. */
export type StoragePart = 'all' | 'layers' | 'not-layers'

/** Where the images of a node are on a disk of their own only what is written beside volumes is there. */
export function storagePart(signal: EvictionSignal, hasImageDisk: boolean): StoragePart {
  if (!hasImageDisk) return 'all'
  return signal.startsWith('imagefs.') ? 'layers' : 'not-layers'
}

/**
 * Pods in the order in which they go: those of which nothing is known, then those that use more than they asked for, of these the less important
 * first, and then those that use most beyond it (upstream's rankMemoryPressure and rankDiskPressureFunc). Nobody asks for processes: there the
 * less important go first, and of these those with most (upstream's rankPIDPressure).
 */
export function rankForEviction<T extends UsingPod>(
  pods: readonly T[],
  { resource }: Starved,
  part: StoragePart,
): readonly T[] {
  if (resource === 'pids') return rankByProcesses(pods)
  const ranked = pods.map((each) => {
    const used = resource === 'memory' ? memoryOf(each) : storageOf(each, part)
    // Upstream compares inodes with no request, which nobody can make.
    const requested = resource === 'inodes' ? undefined : podRequests(each.pod.spec).get(resource)
    const beyond = (used ?? 0) - (requested === undefined ? 0 : wholeAmount(resource, requested))
    return { each, isKnown: used !== undefined, isBeyond: beyond > 0, priority: each.pod.spec.priority ?? 0, beyond }
  })
  return ranked
    .sort(
      (a, b) =>
        Number(a.isKnown) - Number(b.isKnown) ||
        Number(b.isBeyond) - Number(a.isBeyond) ||
        a.priority - b.priority ||
        b.beyond - a.beyond,
    )
    .map(({ each }) => each)
}

const rankByProcesses = <T extends UsingPod>(pods: readonly T[]): readonly T[] =>
  pods.toSorted((a, b) => {
    const known = Number(a.processes !== undefined) - Number(b.processes !== undefined)
    return (a.pod.spec.priority ?? 0) - (b.pod.spec.priority ?? 0) || known || (b.processes ?? 0) - (a.processes ?? 0)
  })

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0)

const memoryOf = ({ memory }: UsingPod): number | undefined => memory && sum(memory.values())

function storageOf({ storage }: UsingPod, part: StoragePart): number | undefined {
  if (storage === undefined) return undefined
  const containers = [...storage.containers.values()]
  const layers = sum(containers.map(({ layerBytes }) => layerBytes))
  if (part === 'layers') return layers
  const others = storage.volumeBytes + sum(containers.map(({ logBytes }) => logBytes))
  return part === 'not-layers' ? others : others + layers
}

/** What is said of a pod that goes for want of something, as upstream's evictionMessage. */
export function evictionMessage(
  { resource, threshold, asked, available }: Starved,
  { pod, memory, storage }: UsingPod,
): string {
  const isCounted = resource === 'inodes' || resource === 'pids'
  const quantity = asked === undefined ? binary(threshold) : formatQuantity(parseQuantity(asked))
  const left = isCounted ? decimal(available) : binary(available)
  const message = `${nodeLow}${resource}. Threshold quantity: ${quantity}, available: ${left}. `
  const used = (name: string): number | undefined => {
    if (resource === 'memory') return memory?.get(name)
    const found = isCounted ? undefined : storage?.containers.get(name)
    return found && found.logBytes + found.layerBytes
  }
  const whole = resource === 'memory' ? pod.spec.resources?.requests?.memory : undefined
  const consumer = (what: string, bytes: number, request: string): string =>
    `${what} was using ${binary(bytes)}, request is ${formatQuantity(parseQuantity(request))}, has larger consumption of ${resource}. `
  // Upstream tells it of a pod that asks for memory as a whole, whether it uses more or not.
  const ofPod =
    whole === undefined || memory === undefined ? '' : consumer(`Pod ${pod.metadata.name}`, sum(memory.values()), whole)
  const parts = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap(({ name, resources }) => {
    const [bytes, request] = [used(name), resources?.requests?.[resource] ?? '0']
    return bytes === undefined || bytes <= quantityValue(request) ? [] : [consumer(`Container ${name}`, bytes, request)]
  })
  return message + ofPod + parts.join('')
}

const written = (amount: number, format: 'BinarySI' | 'DecimalSI'): string =>
  formatQuantity({ nanos: BigInt(Math.floor(amount)) * 1_000_000_000n, format })

const binary = (bytes: number): string => written(bytes, 'BinarySI')
const decimal = (count: number): string => written(count, 'DecimalSI')

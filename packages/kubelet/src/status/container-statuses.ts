import {
  type Container,
  type ContainerState,
  type ContainerStateTerminated,
  type ContainerStatus,
  finderOf,
  formatTime,
  isSidecar,
  lookedThroughMax,
  type ResourceRequirements,
  type StopSignal,
} from '@coracle/api'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'

/** Why a container that ought to run does not. */
export interface WaitingReason {
  readonly reason: string
  readonly message: string
}

/** What probes say of a running container; without probes both hold as soon as it runs. */
export interface ProbeState {
  readonly started: boolean
  readonly ready: boolean
}

export interface ContainerStatusesInput {
  readonly containers: readonly Container[]
  /** What the runtime has of the pod, in any order. */
  readonly runs: readonly ContainerRuntimeStatus[]
  readonly previous: readonly ContainerStatus[]
  readonly waiting: ReadonlyMap<string, WaitingReason>
  /** By container id; absent ids have no probes. */
  readonly probes: ReadonlyMap<string, ProbeState>
  /** The pod has init containers: what has not started yet waits for them. */
  readonly hasInitContainers: boolean
  /** The runtime has a regular container of the pod, in whatever state: init containers have done their work. */
  readonly initialized: boolean
  /** The most of what a container has said of its end. */
  readonly messageBytesMax: number
  /** Containers that are gone from the runtime were removed so that all of the pod starts anew. */
  readonly restartsAll: boolean
  readonly init: boolean
  /** The pod is to go: what is lost of it will not be started again. */
  readonly deleting: boolean
  readonly runtimeName: string
  /** What containers run with that are to have other resources, by name. */
  readonly actual?: ReadonlyMap<string, ResourceRequirements> | undefined
}

/** The `containerStatuses` (or `initContainerStatuses`) of a pod, in upstream's order: by name, init containers as declared. */
export function containerStatuses(input: ContainerStatusesInput): readonly ContainerStatus[] {
  const previousOf = finderOf(input.previous, ({ name }) => name)
  const statuses = input.containers.map((container) => statusOf(container, previousOf(container.name), input))
  if (input.init) return statuses
  return statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function statusOf(
  container: Container,
  previous: ContainerStatus | undefined,
  input: ContainerStatusesInput,
): ContainerStatus {
  const runs = runsOf(container.name, input.runs)
  const [current, before] = runs
  const base =
    current === undefined ? unstarted(container, previous, input) : started(container, current, before, previous, input)
  return withWaiting(base, current, container, input)
}

/** Whether a container has got another image since a run of it was started. One without an image is run as one with an empty one. */
export const hasOtherImage = (run: ContainerRuntimeStatus, container: Container): boolean =>
  (run.askedImage ?? run.image) !== (container.image ?? '')

/** The runs of one container, latest first. */
export function runsOf(name: string, runs: readonly ContainerRuntimeStatus[]): readonly ContainerRuntimeStatus[] {
  const found = indexes.get(runs)?.get(name) ?? runs.filter((run) => run.name === name)
  return found.toSorted((a, b) => b.attempt - a.attempt || b.createdAtMs - a.createdAtMs)
}

type Runs = readonly ContainerRuntimeStatus[]

const indexes = new WeakMap<Runs, { get(name: string): Runs }>()

/** The same runs in a list in which `runsOf` finds those of a container without looking through all. What becomes of the given list does not matter. */
export function indexedRuns(runs: Runs): Runs {
  if (runs.length <= lookedThroughMax || indexes.has(runs)) return runs
  const copy = [...runs]
  const byName = Map.groupBy(copy, ({ name }) => name)
  indexes.set(copy, { get: (name) => byName.get(name) ?? [] })
  return copy
}

function started(
  container: Container,
  run: ContainerRuntimeStatus,
  before: ContainerRuntimeStatus | undefined,
  previous: ContainerStatus | undefined,
  input: ContainerStatusesInput,
): ContainerStatus {
  const containerID = `${input.runtimeName}://${run.id}`
  const probe = input.probes.get(run.id)
  const running = run.state === 'running'
  return {
    name: container.name,
    state: stateOf(run, input),
    lastState: before === undefined ? lastStateOf(previous, run, containerID, input) : stateOf(before, input),
    ready: isReady(container, run, probe, input.init),
    restartCount: run.attempt,
    image: run.image,
    imageID: run.imageRef,
    containerID,
    started: running && (probe?.started ?? true),
    // The pod is as the node has taken it on: what it has not been given is not in it.
    ...(container.resources?.requests === undefined ? {} : { allocatedResources: container.resources.requests }),
    resources: input.actual?.get(container.name) ?? container.resources ?? {},
    ...volumeMounts(container, run.recursiveReadOnly),
    ...(run.user === undefined ? {} : { user: { linux: run.user } }),
    ...stopSignalOf(container, run),
  }
}

/** What the runtime says that it is asked to end with, where its pod says what that is to be: a runtime that is too old to be told is silent. */
function stopSignalOf(
  { lifecycle }: Container,
  { stopSignal }: ContainerRuntimeStatus,
): Pick<ContainerStatus, 'stopSignal'> {
  return lifecycle?.stopSignal === undefined || stopSignal === undefined ? {} : { stopSignal: stopSignal as StopSignal }
}

/** How volumes were mounted. `recursive` is where mounts are read-only with all that is mounted below them. */
function volumeMounts(
  { volumeMounts: mounts = [] }: Container,
  recursive?: readonly string[],
): Pick<ContainerStatus, 'volumeMounts'> {
  if (mounts.length === 0) return {}
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({
      name,
      mountPath,
      ...(readOnly ? { readOnly, recursiveReadOnly: recursive?.includes(mountPath) ? 'Enabled' : 'Disabled' } : {}),
    })),
  }
}

/** Init containers are ready once they have succeeded, all others while they run and their probe agrees. */
function isReady(
  container: Container,
  run: ContainerRuntimeStatus,
  probe: ProbeState | undefined,
  init: boolean,
): boolean {
  if (init && !isSidecar(container)) return run.state === 'exited' && run.exitCode === 0
  return run.state === 'running' && run.unready !== true && (probe?.ready ?? true)
}

/** The run before is gone from the runtime, if there was one: what was said of it still holds, unless it was removed on purpose. */
function lastStateOf(
  previous: ContainerStatus | undefined,
  run: ContainerRuntimeStatus,
  containerID: string,
  { restartsAll }: ContainerStatusesInput,
): ContainerState {
  if (previous === undefined) return {}
  if (restartsAll && run.attempt > 0 && previous.containerID !== containerID) return removedState
  if (previous.containerID !== containerID && previous.state?.terminated !== undefined) return previous.state
  return previous.lastState ?? {}
}

function stateOf(run: ContainerRuntimeStatus, input: ContainerStatusesInput): ContainerState {
  if (run.state === 'running') return { running: { startedAt: formatTime(run.startedAtMs ?? run.createdAtMs) } }
  if (run.state === 'created') return { waiting: { reason: 'ContainerCreating' } }
  return { terminated: terminatedOf(run, input) }
}

function terminatedOf(run: ContainerRuntimeStatus, input: ContainerStatusesInput): ContainerStateTerminated {
  const exitCode = run.exitCode ?? 0
  const message = truncated(run.message ?? '', input.messageBytesMax)
  return {
    exitCode,
    reason: run.reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    ...(message === '' ? {} : { message }),
    startedAt: formatTime(run.startedAtMs ?? 0),
    finishedAt: formatTime(run.finishedAtMs ?? 0),
    containerID: `${input.runtimeName}://${run.id}`,
  }
}

/** No more than so many bytes from the beginning of a text, without a part of a character. */
function truncated(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax))
  return text.slice(0, read)
}

/** The runtime knows no run of the container: it has yet to start, or its traces are lost. */
function unstarted(
  container: Container,
  previous: ContainerStatus | undefined,
  input: ContainerStatusesInput,
): ContainerStatus {
  if (input.restartsAll && previous !== undefined && previous.state?.waiting === undefined) {
    return removed(container, previous)
  }
  if (previous?.state?.terminated !== undefined) return previous
  const passed = input.init && input.initialized && !isSidecar(container)
  const lost = previous?.state?.running !== undefined && previous.lastState?.terminated === undefined
  return {
    name: container.name,
    state: passed
      ? passedState
      : { waiting: { reason: input.hasInitContainers ? 'PodInitializing' : 'ContainerCreating' } },
    // Without a trace of its end a container that ran would look as if it had never started, and its pod would go
    // back to Pending.
    lastState: lost ? lostState : (previous?.lastState ?? {}),
    ready: passed,
    restartCount: (previous?.restartCount ?? 0) + (lost && !input.deleting ? 1 : 0),
    image: container.image ?? '',
    imageID: '',
    started: false,
    ...volumeMounts(container),
  }
}

/** It has run, and was removed so that all of its pod starts anew. */
function removed(container: Container, { restartCount }: ContainerStatus): ContainerStatus {
  return {
    name: container.name,
    state: { waiting: removedBecause },
    lastState: removedState,
    ready: false,
    restartCount: restartCount + 1,
    image: container.image ?? '',
    imageID: '',
    started: false,
    ...volumeMounts(container),
  }
}

/** The reason of whatever became of containers so that all of their pod starts anew. */
export const restartingAll = 'RestartingAllContainers'

const removedBecause = {
  reason: restartingAll,
  message: 'The container is removed because RestartAllContainers in place',
}

const removedState: ContainerState = { terminated: { exitCode: 137, ...removedBecause } }

/** An init container without a trace in a pod that is past its initialization. */
const passedState: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  },
}

const lostState: ContainerState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  },
}

/** A container that is to be started but cannot says so instead of how it last ended. */
function withWaiting(
  status: ContainerStatus,
  run: ContainerRuntimeStatus | undefined,
  container: Container,
  input: ContainerStatusesInput,
): ContainerStatus {
  const waiting = input.waiting.get(container.name)
  if (waiting === undefined || run?.state === 'running') return status
  const { terminated } = status.state ?? {}
  return {
    ...status,
    state: { waiting: { reason: waiting.reason, ...(waiting.message === '' ? {} : { message: waiting.message }) } },
    lastState: terminated === undefined ? (status.lastState ?? {}) : { terminated },
    ready: false,
    started: false,
  }
}

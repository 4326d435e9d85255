import {
  deepEqual,
  finderOf,
  formatTime,
  mayRestartAll,
  type Pod,
  type PodPhase,
  type PodSpec,
  type PodStatus,
} from '@coracle/api'
import type { ResizeProgress } from '../pod/given-resources.ts'
import { nodeLow, preempting } from '../pod/plan-pod.ts'
import { isRestartingAll } from '../pod/restart-all.ts'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import { containerStatuses, indexedRuns, type ProbeState, runsOf, type WaitingReason } from './container-statuses.ts'
import { finalStatuses } from './final-statuses.ts'
import { podConditions, refusedConditions } from './pod-conditions.ts'
import { podPhase } from './pod-phase.ts'
import { podResourcesStatus } from './pod-resources.ts'

/** Everything a pod's status is made from. */
export interface PodStatusInput {
  readonly pod: Pod
  readonly sandbox: PodSandboxStatus | undefined
  readonly runs: readonly ContainerRuntimeStatus[]
  readonly waiting: ReadonlyMap<string, WaitingReason>
  readonly probes: ReadonlyMap<string, ProbeState>
  /** Runs that were stopped in order to start again, by id. */
  readonly restarting: ReadonlySet<string>
  /** The pod is being stopped for good: nothing is restarted any more. */
  readonly terminal: boolean
  /** All has been stopped: whatever the phase would be, it is a final one. */
  readonly ended: boolean
  /** Why the node agent ended the pod by itself. */
  readonly failure: WaitingReason | undefined
  /** Absent: its resources are those that are asked for. */
  readonly resize?: ResizeProgress
  readonly startTimeMs: number
  readonly nodeAddress: string
  readonly runtimeName: string
  readonly nowMs: number
}

const resized: ResizeProgress = { inProgress: false }

/** The fields of a pod's status that the node agent writes; the others are left alone. */
export type OwnPodStatus = Pick<
  PodStatus,
  | 'observedGeneration'
  | 'phase'
  | 'conditions'
  | 'message'
  | 'reason'
  | 'hostIP'
  | 'hostIPs'
  | 'podIP'
  | 'podIPs'
  | 'startTime'
  | 'initContainerStatuses'
  | 'containerStatuses'
  | 'ephemeralContainerStatuses'
  | 'resources'
  | 'allocatedResources'
>

/** The status of a pod as upstream's kubelet would write it. Pure: times come from the runtime and `nowMs`. */
export function podStatus(given: PodStatusInput): OwnPodStatus {
  const input = { ...given, runs: indexedRuns(given.runs) }
  const { pod, runs, waiting, probes, runtimeName } = input
  const init = pod.spec.initContainers ?? []
  const deleting = pod.metadata.deletionTimestamp !== undefined
  const sandboxReady = input.sandbox?.ready === true
  const common = {
    runs,
    waiting,
    probes,
    runtimeName,
    deleting,
    actual: input.resize?.actual,
    hasInitContainers: init.length > 0,
    initialized: regularRuns(input).length > 0,
    messageBytesMax: messageBytesMax(pod.spec),
    restartsAll: sandboxReady && mayRestartAll(pod.spec),
  }
  const previous = pod.status
  const regularFound = containerStatuses({
    ...common,
    containers: pod.spec.containers,
    previous: previous?.containerStatuses ?? [],
    init: false,
  })
  const initFound = containerStatuses({
    ...common,
    containers: init,
    previous: previous?.initContainerStatuses ?? [],
    init: true,
  })
  const phase = finalPhase(
    input,
    podPhase(pod.spec, [...initFound, ...regularFound], {
      terminal: input.terminal,
      initialized: regularRuns(input).some(({ sandboxId }) => sandboxReady && sandboxId === input.sandbox?.id),
      restarting: startingAgain(input),
    }),
  )
  const { init: initStatuses, regular: regularStatuses } = input.ended
    ? finalStatuses(pod.spec, initFound, regularFound)
    : { init: initFound, regular: regularFound }
  const statuses = [...initStatuses, ...regularStatuses]
  // What still runs uses up what it has been given: until it has stopped nobody may take the pod for one that has ended
  // (upstream's status manager). That it is not ready is said at once.
  const isHeldBack = isFinal(phase) && !isFinal(previous?.phase) && runs.some(({ state }) => state === 'running')
  const shownPhase = isHeldBack ? (previous?.phase ?? 'Pending') : phase
  const failure = (isHeldBack ? undefined : input.failure) ?? keptReason(previous, shownPhase)
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase: shownPhase,
    conditions: podConditions({
      pod,
      statuses,
      phase,
      sandboxReady,
      resize: input.resize ?? resized,
      restartingAll: isRestartingAll(pod, runs),
      disruption: shownPhase === 'Failed' ? disruptionOf(failure) : undefined,
      nowMs: input.nowMs,
    }),
    ...(failure?.message ? { message: failure.message } : {}),
    ...(failure?.reason ? { reason: failure.reason } : {}),
    hostIP: input.nodeAddress,
    hostIPs: [{ ip: input.nodeAddress }],
    ...addresses(input),
    startTime: formatTime(input.startTimeMs),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: regularStatuses,
    ...ephemeralStatuses(input),
    ...podResourcesStatus(pod.spec, shownPhase),
  }
}

/** Why a pod that has failed was ended for the sake of others; undefined where it was not. */
function disruptionOf({ reason, message }: Partial<WaitingReason> = {}): string | undefined {
  if (reason === preempting.reason) return 'Pod was preempted by Kubelet to accommodate a critical pod.'
  return message?.startsWith(nodeLow) ? message : undefined
}

/** What the runtime has of the containers that the pod is there for. */
function regularRuns({ pod, runs }: PodStatusInput): readonly ContainerRuntimeStatus[] {
  const containerOf = finderOf(pod.spec.containers, ({ name }) => name)
  return runs.filter((run) => containerOf(run.name) !== undefined)
}

/** The last words of all containers of a pod, in bytes: upstream's MaxPodTerminationMessageLogLength. Each has the same share. */
const messagesBytesMax = 12 * 1024

function messageBytesMax({ containers, initContainers = [], ephemeralContainers = [] }: PodSpec): number {
  return Math.floor(
    messagesBytesMax / Math.max(1, containers.length + initContainers.length + ephemeralContainers.length),
  )
}

/** How ephemeral containers are. They make no pod ready, and so are not ready themselves. */
function ephemeralStatuses(input: PodStatusInput): Pick<PodStatus, 'ephemeralContainerStatuses'> {
  const { pod, runs, waiting, probes, runtimeName } = input
  const { ephemeralContainers = [], initContainers = [] } = pod.spec
  if (ephemeralContainers.length === 0) return {}
  const statuses = containerStatuses({
    containers: ephemeralContainers,
    previous: pod.status?.ephemeralContainerStatuses ?? [],
    runs,
    waiting,
    probes,
    runtimeName,
    deleting: pod.metadata.deletionTimestamp !== undefined,
    hasInitContainers: initContainers.length > 0,
    initialized: regularRuns(input).length > 0,
    messageBytesMax: messageBytesMax(pod.spec),
    restartsAll: false,
    init: false,
  })
  return {
    ephemeralContainerStatuses: statuses.map(({ started: _started, ...status }) => {
      const { terminated } = status.lastState ?? {}
      // One whose traces are lost does not start again: that is how it has ended.
      const isLost = status.state?.waiting !== undefined && terminated !== undefined
      return { ...status, ...(isLost ? { state: { terminated }, lastState: {}, restartCount: 0 } : {}), ready: false }
    }),
  }
}

/** The status of a pod that the node has not taken on (upstream's rejectPod). */
export function refusedStatus(pod: Pod, refusal: WaitingReason, startTimeMs: number, nowMs: number): OwnPodStatus {
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase: 'Failed',
    conditions: refusedConditions(pod, nowMs),
    message: `${refusedPrefix}${refusal.message}`,
    reason: refusal.reason,
    startTime: formatTime(startTimeMs),
  }
}

const refusedPrefix = 'Pod was rejected: '

/** Why the node has not taken the pod on, as its status has it; undefined where it has. */
export function refusalOf({ status }: Pod): WaitingReason | undefined {
  const { phase, reason, message } = status ?? {}
  if (phase !== 'Failed' || reason === undefined || message?.startsWith(refusedPrefix) !== true) return undefined
  return { reason, message: message.slice(refusedPrefix.length) }
}

/** Names of containers that start again however they ended. */
function startingAgain({ pod, runs, restarting }: PodStatusInput): ReadonlySet<string> {
  if (isRestartingAll(pod, runs)) {
    const { initContainers = [], containers } = pod.spec
    return new Set([...initContainers, ...containers].map(({ name }) => name))
  }
  if (restarting.size === 0) return restarting
  const names = pod.spec.containers.map(({ name }) => name)
  return new Set(names.filter((name) => restarting.has(runsOf(name, runs)[0]?.id ?? '')))
}

/** A final phase is never left, and a pod that was stopped for good has one. */
function finalPhase(input: PodStatusInput, phase: PodPhase): PodPhase {
  const written = input.pod.status?.phase
  if (isFinal(written)) return written
  if (input.failure !== undefined) return 'Failed'
  if (input.ended && phase !== 'Succeeded') return 'Failed'
  return phase
}

const isFinal = (phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' =>
  phase === 'Succeeded' || phase === 'Failed'

function keptReason(
  previous: PodStatus | undefined,
  phase: PodPhase,
): { reason?: string; message?: string } | undefined {
  if (previous?.phase !== phase) return undefined
  return {
    ...(previous.reason === undefined ? {} : { reason: previous.reason }),
    ...(previous.message === undefined ? {} : { message: previous.message }),
  }
}

function addresses({ pod, sandbox, nodeAddress }: PodStatusInput): Pick<PodStatus, 'podIP' | 'podIPs'> {
  if (pod.spec.hostNetwork === true) return { podIP: nodeAddress, podIPs: [{ ip: nodeAddress }] }
  const [first] = sandbox?.addresses ?? []
  if (first !== undefined) return { podIP: first, podIPs: (sandbox?.addresses ?? []).map((ip) => ({ ip })) }
  const kept = pod.status?.podIP
  return kept === undefined || kept === '' ? {} : { podIP: kept, podIPs: pod.status?.podIPs ?? [{ ip: kept }] }
}

const ownKeys = [
  'observedGeneration',
  'phase',
  'conditions',
  'message',
  'reason',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'resources',
  'allocatedResources',
] as const satisfies readonly (keyof OwnPodStatus)[]

/** The merge patch that turns the status of `pod` into `next`, or undefined where nothing differs. */
export function statusPatch(pod: Pod, next: OwnPodStatus): Readonly<Record<string, unknown>> | undefined {
  const changes: Record<string, unknown> = {}
  for (const key of ownKeys) {
    if (!deepEqual(pod.status?.[key], next[key])) changes[key] = next[key] ?? null
  }
  return Object.keys(changes).length === 0 ? undefined : changes
}

import { type Container, isSidecar, type Pod, restartsAfter } from '@coracle/api'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import {
  hasOtherImage,
  indexedRuns,
  type ProbeState,
  runsOf,
  type WaitingReason,
} from '../status/container-statuses.ts'
import { type BackOff, freshBackOff } from './back-off.ts'
import { crashLoop, isDue, restartOf } from './container-restart.ts'
import { type DeadContainerLimits, deadContainerLimits, surplusRuns } from './dead-containers.ts'
import { isRestartingAll, restartAll } from './restart-all.ts'
import { initRestartsAfter } from './restart-policy.ts'
import { stopLeftBehind, stopPod, stopUnhealthy } from './stop-containers.ts'

/** A start that failed, and when to try again. */
export interface StartFailure extends WaitingReason {
  readonly retryAtMs: number
  /** Where its run has ended that counts as its end, and the wait is that between runs. */
  readonly endsRun?: boolean
  /** With another image than this there is no such wait. */
  readonly image?: string
  /** How long an image that could not be had is left alone. */
  readonly delayMs?: number
}

/** A check for which a container is stopped. */
export interface FailedCheck {
  readonly check: 'liveness' | 'startup'
  /** How long the container gets to stop; undefined: as long as its pod's containers do. */
  readonly graceSeconds: number | bigint | undefined
}

/** All that a decision about a pod rests on. */
export interface PodObservation {
  readonly pod: Pod
  /** The pod is no longer in the API. */
  readonly gone: boolean
  /** For how long it is known here that it is being deleted. Absent: nobody has seen it before. */
  readonly deletedForMs?: number | undefined
  readonly sandboxes: readonly PodSandboxStatus[]
  readonly runs: readonly ContainerRuntimeStatus[]
  readonly backOffs: ReadonlyMap<string, BackOff>
  readonly failures: ReadonlyMap<string, StartFailure>
  /** By container id. */
  readonly probes: ReadonlyMap<string, ProbeState>
  /** Containers whose liveness or startup check has failed, by id. */
  readonly unhealthy: ReadonlyMap<string, FailedCheck>
  /** Runs that were stopped in order to start again, whatever their exit code and restart policy, by id. */
  readonly restarting: ReadonlySet<string>
  /** Runs that have to start anew for their resources, by id. */
  readonly resized?: ReadonlySet<string>
  /** The node has not taken the pod on. */
  readonly refused: boolean
  /** The node needs its room for a critical pod. */
  readonly preempted?: boolean
  /** Why the node does not keep the pod any longer, such as for what it takes of its disk. */
  readonly evicted?: (WaitingReason & { readonly graceMaxMs?: number }) | undefined
  /** Which of its containers that have ended are kept. Absent: upstream's. */
  readonly deadContainers?: DeadContainerLimits
  /** Volumes of the pod are not there yet: when they are looked for again. */
  readonly volumesRetryAtMs?: number | undefined
  readonly startTimeMs: number
  readonly nowMs: number
  /** The same moment on the monotonic clock, in whole milliseconds. */
  readonly monotonicMs: number
}

export type PodAction =
  | { readonly type: 'run-sandbox'; readonly attempt: number; readonly because: string }
  | {
      readonly type: 'start-container'
      readonly container: Container
      readonly sandboxId: string
      readonly attempt: number
      /** What to remember for the next restart; undefined for a first start. */
      readonly backOff: BackOff | undefined
      readonly because: string
    }
  | {
      readonly type: 'stop-container'
      readonly run: ContainerRuntimeStatus
      readonly gracePeriodMs: number
      /** Of the Killing event. */
      readonly message: string
      /** It is to start again afterwards, however it ends. */
      readonly restart: boolean
      readonly because: string
    }
  /** Its turn to stop has yet to come, but its preStop hook runs already. */
  | {
      readonly type: 'prepare-stop'
      readonly run: ContainerRuntimeStatus
      readonly gracePeriodMs: number
      readonly message: string
      readonly because: string
    }
  | { readonly type: 'remove-container'; readonly id: string; readonly because: string }
  | { readonly type: 'stop-sandbox'; readonly id: string; readonly because: string }
  | { readonly type: 'remove-sandbox'; readonly id: string; readonly because: string }
  /** Nothing is left to do: take the pod out of the API, or forget it where it is gone already. */
  | { readonly type: 'finish'; readonly because: string }

export interface PodPlan {
  readonly actions: readonly PodAction[]
  /** Why containers that ought to run do not, by name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>
  /** The pod is being stopped for good. */
  readonly terminal: boolean
  /** Nothing of it runs any more. */
  readonly ended: boolean
  /** Why the node agent ends the pod by itself. */
  readonly failure: WaitingReason | undefined
  /** When to look again, whatever happens. */
  readonly wakeAtMs: number | undefined
}

/** What to do about a pod. Pure and level-triggered: it depends on the present state only, not on how that came about. */
export function planPod(observed: PodObservation): PodPlan {
  const observation = { ...observed, runs: indexedRuns(observed.runs) }
  const { pod, gone, refused } = observation
  const failure = isOver(pod) ? deadlineFailure(observation) : removal(observation)
  if (gone) return planTermination(observation, undefined, 'the pod is gone from the API')
  if (pod.metadata.deletionTimestamp !== undefined)
    return planTermination(observation, failure, 'the pod is being deleted')
  if (refused) return planTermination(observation, undefined, 'the node has not taken the pod on')
  if (failure !== undefined) {
    return planTermination(observation, failure, becauseOf(observation, failure))
  }
  if (isOver(pod)) return planTermination(observation, undefined, 'the pod has ended')
  return planRun(observation)
}

/** Why the node ends a pod that has not ended. */
function removal(observation: PodObservation): WaitingReason | undefined {
  const { evicted, preempted } = observation
  return evicted ?? (preempted === true ? preempting : deadlineFailure(observation))
}

function becauseOf({ evicted }: PodObservation, failure: WaitingReason): string {
  if (failure === evicted) return 'its node does not keep it'
  return failure === preempting ? 'a critical pod needs its room' : 'its active deadline has passed'
}

/** Of a pod that makes room for a critical one. */
export const preempting: WaitingReason = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
}

/** What is said of a pod first that goes because its node runs out of something. */
export const nodeLow = 'The node was low on resource: '

/** Nothing of the pod will run again: final phases are never left. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Deadlines count from the start time (core/v1 activeDeadlineSeconds). */
function deadlineFailure({ pod, startTimeMs, nowMs }: PodObservation): WaitingReason | undefined {
  if (pod.status?.reason === 'DeadlineExceeded')
    return { reason: 'DeadlineExceeded', message: pod.status.message ?? '' }
  if (isOver(pod)) return undefined
  const seconds = pod.spec.activeDeadlineSeconds
  if (seconds === undefined || nowMs < startTimeMs + seconds * 1000) return undefined
  return { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' }
}

// --- Stopping -------------------------------------------------------------------------------------------------------

function planTermination(observation: PodObservation, failure: WaitingReason | undefined, because: string): PodPlan {
  const running = observation.runs.filter((run) => run.state === 'running')
  const plan = { waiting: waitingNow(observation), terminal: true, failure, wakeAtMs: undefined }
  if (running.length > 0) return { ...plan, actions: stopPod(observation, running, because), ended: false }
  const ready = observation.sandboxes.filter((sandbox) => sandbox.ready)
  const actions: PodAction[] = ready.map(({ id }) => ({ type: 'stop-sandbox', id, because }))
  if (observation.gone) {
    actions.push(...observation.sandboxes.map(({ id }): PodAction => ({ type: 'remove-sandbox', id, because })))
  }
  if (observation.gone || observation.pod.metadata.deletionTimestamp !== undefined)
    actions.push({ type: 'finish', because })
  return { ...plan, actions, ended: true }
}

// --- Running --------------------------------------------------------------------------------------------------------

/** What happens to one container: a start, or it waits. */
type Step =
  | { readonly type: 'start'; readonly action: PodAction }
  | { readonly type: 'wait'; readonly wakeAtMs: number }

function planRun(observation: PodObservation): PodPlan {
  if (isRestartingAll(observation.pod, observation.runs))
    return { ...assemble(observation, restartAll(observation), []), waiting: new Map() }
  const finished = isFinished(observation)
  if (finished) return planFinished(observation)
  const sandbox = currentSandbox(observation)
  const leftBehind = stopLeftBehind(observation, sandbox)
  if (sandbox === undefined)
    return leftBehind.length > 0 ? assemble(observation, leftBehind, []) : planSandbox(observation)

  const collected: (Step | undefined)[] = []
  const actions: PodAction[] = []
  // They wait for nothing: one may be there to find out why a pod does not get any further.
  for (const container of observation.pod.spec.ephemeralContainers ?? [])
    collected.push(stepRegular(observation, sandbox, container))
  if (initialize(observation, sandbox, collected)) {
    for (const container of observation.pod.spec.containers)
      collected.push(stepRegular(observation, sandbox, container))
  }
  actions.push(...leftBehind, ...stopUnhealthy(observation), ...removeOld(observation))
  return assemble(observation, actions, collected)
}

function assemble(
  observation: PodObservation,
  actions: readonly PodAction[],
  steps: readonly (Step | undefined)[],
): PodPlan {
  const waiting = new Map(waitingNow(observation))
  const wakeUps: number[] = []
  const starts: PodAction[] = []
  for (const step of steps) {
    if (step?.type === 'start') starts.push(step.action)
    if (step?.type === 'wait') wakeUps.push(step.wakeAtMs)
  }
  const { activeDeadlineSeconds } = observation.pod.spec
  if (activeDeadlineSeconds !== undefined) wakeUps.push(observation.startTimeMs + activeDeadlineSeconds * 1000)
  const wakeAtMs = wakeUps.length === 0 ? undefined : Math.min(...wakeUps)
  return { actions: [...actions, ...starts], waiting, terminal: false, ended: false, failure: undefined, wakeAtMs }
}

/** The pod's sandbox, if it is fit to run containers in. */
export function currentSandbox({ sandboxes }: Pick<PodObservation, 'sandboxes'>): PodSandboxStatus | undefined {
  const latest = latestSandbox(sandboxes)
  return latest?.ready === true ? latest : undefined
}

export function latestSandbox(sandboxes: readonly PodSandboxStatus[]): PodSandboxStatus | undefined {
  return sandboxes.reduce<PodSandboxStatus | undefined>(
    (latest, sandbox) => (latest === undefined || sandbox.attempt > latest.attempt ? sandbox : latest),
    undefined,
  )
}

/** A sandbox in which nothing has run is followed by another no sooner after it was made: upstream's node agent looks at pods as often. */
const sandboxGapMs = 1_000

function planSandbox(observation: PodObservation): PodPlan {
  const { volumesRetryAtMs, nowMs } = observation
  if (volumesRetryAtMs !== undefined) return { ...assemble(observation, [], []), wakeAtMs: volumesRetryAtMs }
  const latest = latestSandbox(observation.sandboxes)
  // The clock may have been set back.
  const isUnused = latest !== undefined && observation.runs.every(({ sandboxId }) => sandboxId !== latest.id)
  const dueMs = isUnused ? Math.min(latest.createdAtMs, nowMs) + sandboxGapMs : nowMs
  if (nowMs < dueMs) return { ...assemble(observation, [], []), wakeAtMs: dueMs }
  const attempt = latest === undefined ? 0 : latest.attempt + 1
  const because = latest === undefined ? 'the pod is new on this node' : 'its sandbox has ended'
  return assemble(observation, [{ type: 'run-sandbox', attempt, because }], [])
}

/** Every container has ended and none will be restarted, or an init container has failed for good. */
function isFinished({ pod, runs, restarting }: PodObservation): boolean {
  for (const container of pod.spec.initContainers ?? []) {
    const [run] = runsOf(container.name, runs)
    if (run?.state !== 'exited' || run.exitCode === 0) continue
    if (!initRestartsAfter(container, pod.spec, run.exitCode ?? 0)) return true
  }
  return pod.spec.containers.every((container) => {
    const [run] = runsOf(container.name, runs)
    if (run?.state !== 'exited' || restarting.has(run.id)) return false
    return !restartsAfter(container, pod.spec, run.exitCode ?? 0)
  })
}

/** Sidecars end with the containers they serve. */
function planFinished(observation: PodObservation): PodPlan {
  const because = 'its containers have ended'
  const running = observation.runs.filter((run) => run.state === 'running')
  const actions: readonly PodAction[] =
    running.length > 0
      ? stopPod(observation, running, because)
      : observation.sandboxes.filter(({ ready }) => ready).map(({ id }) => ({ type: 'stop-sandbox', id, because }))
  return { ...assemble(observation, actions, []), terminal: true }
}

/**
 * Takes init containers forward and says whether regular ones may run: once one of those has been created in this
 * sandbox, the pod counts as initialized, and only sidecars are looked after.
 */
function initialize(observation: PodObservation, sandbox: PodSandboxStatus, steps: (Step | undefined)[]): boolean {
  const { pod, runs, probes } = observation
  const here = indexedRuns(runs.filter((run) => run.sandboxId === sandbox.id))
  const init = pod.spec.initContainers ?? []
  const initialized = pod.spec.containers.some(({ name }) => here.some((run) => run.name === name))
  // Those before the last that has begun have done their work, even where the runtime has lost all trace of them.
  const reached = init.findLastIndex(({ name }) => here.some((run) => run.name === name))
  for (const [index, container] of init.entries()) {
    const [run] = runsOf(container.name, here)
    // A sidecar that starts again holds up none that have begun after it.
    const holdsUp = !initialized && index >= reached
    if (run?.state === 'running') {
      if (isSidecar(container) && (probes.get(run.id)?.started ?? true)) continue
      if (holdsUp) return false
      continue
    }
    const isDone = index < reached || (run?.state === 'exited' && run.exitCode === 0)
    if (!isSidecar(container) && (initialized || isDone)) continue
    steps.push(stepStart(observation, sandbox, container, run))
    if (holdsUp) return false
  }
  return true
}

function stepRegular(observation: PodObservation, sandbox: PodSandboxStatus, container: Container): Step | undefined {
  const [run] = runsOf(container.name, observation.runs)
  return isDue(observation, container, run) ? stepStart(observation, sandbox, container, run) : undefined
}

function stepStart(
  observation: PodObservation,
  sandbox: PodSandboxStatus,
  container: Container,
  run: ContainerRuntimeStatus | undefined,
): Step {
  const { nowMs, failures, volumesRetryAtMs } = observation
  if (volumesRetryAtMs !== undefined) return { type: 'wait', wakeAtMs: volumesRetryAtMs }
  const failure = failures.get(container.name)
  const concerns = failure?.image === undefined || failure.image === container.image
  const hasEnded = failure?.endsRun === true && run?.state === 'exited'
  if (failure !== undefined && concerns && !hasEnded && nowMs < failure.retryAtMs) {
    return { type: 'wait', wakeAtMs: failure.retryAtMs }
  }
  const [latest] = runsOf(container.name, observation.runs)
  const attempt = nextAttempt(observation.pod, container, latest)
  const action = { type: 'start-container', container, sandboxId: sandbox.id, attempt } as const
  if (run === undefined || run.state !== 'exited') {
    return { type: 'start', action: { ...action, backOff: undefined, because: 'it has yet to run' } }
  }
  if (hasOtherImage(run, container)) {
    return { type: 'start', action: { ...action, backOff: freshBackOff(nowMs), because: 'it has another image' } }
  }
  const restart = restartOf(observation, container.name, run)
  if (nowMs < restart.atMs) return { type: 'wait', wakeAtMs: restart.atMs }
  const because = `it ended with exit code ${run.exitCode ?? 0}`
  return { type: 'start', action: { ...action, backOff: restart.backOff, because } }
}

/** Counts on from what the runtime has, or from what the API says where the runtime has lost it. */
function nextAttempt(pod: Pod, container: Container, latest: ContainerRuntimeStatus | undefined): number {
  if (latest !== undefined) return latest.attempt + 1
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const status = statuses.find(({ name }) => name === container.name)
  if (status === undefined) return 0
  // One that waits for its restart has run, too.
  const hasRun = status.state?.waiting === undefined || (status.containerID ?? '') !== ''
  return status.restartCount + (hasRun ? 1 : 0)
}

/** Why each container that is due does not run: a failed start, or a crash it is made to wait after. */
function waitingNow(observation: PodObservation): ReadonlyMap<string, WaitingReason> {
  const { pod, runs, failures, nowMs, gone } = observation
  const waiting = new Map<string, WaitingReason>()
  if (gone || pod.metadata.deletionTimestamp !== undefined) return waiting
  for (const container of everyContainer(pod)) {
    const [run] = runsOf(container.name, runs)
    if (!isDue(observation, container, run)) continue
    const failure = failures.get(container.name)
    const restart = run?.state === 'exited' ? restartOf(observation, container.name, run) : undefined
    if (restart !== undefined && nowMs < restart.atMs)
      waiting.set(container.name, crashLoop(pod, container, restart.waitsFor))
    else if (failure !== undefined) waiting.set(container.name, failure)
  }
  return waiting
}

function everyContainer({ spec }: Pod): readonly Container[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** Beside a sandbox that is ready. Runs of each container are kept for `lastState` and the previous log; what is too much on the node is not seen here. */
function removeOld({
  pod,
  runs,
  sandboxes,
  deadContainers = deadContainerLimits,
  nowMs,
}: PodObservation): readonly PodAction[] {
  const surplus = surplusRuns(runs, { ...deadContainers, max: -1 }, nowMs)
  const old = everyContainer(pod).flatMap(({ name }) => [
    ...runsOf(name, runs).filter(({ state }) => state === 'created'),
    ...surplus.filter((run) => run.name === name),
  ])
  const empty = sandboxes.filter(
    ({ id, ready }) => !ready && !runs.some((run) => run.sandboxId === id && !old.includes(run)),
  )
  return [
    ...old.map(({ id }): PodAction => ({ type: 'remove-container', id, because: 'newer runs are kept' })),
    ...empty.map(({ id }): PodAction => ({ type: 'remove-sandbox', id, because: 'a newer sandbox is in use' })),
  ]
}

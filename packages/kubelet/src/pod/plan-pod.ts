import { type Container, type Pod, parseTime } from '@coracle/api'
import { durationText } from '../duration-text.ts'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import { type ProbeState, runsOf, type WaitingReason } from '../status/container-statuses.ts'
import { type BackOff, nextBackOff, restartAtMs } from './back-off.ts'
import { podText } from './pod-name.ts'
import { initRestartsAfter, isSidecar, restartsAfter } from './restart-policy.ts'

/** A start that failed, and when to try again. */
export interface StartFailure extends WaitingReason {
  readonly retryAtMs: number
}

/** All that a decision about a pod rests on. */
export interface PodObservation {
  readonly pod: Pod
  /** The pod is no longer in the API. */
  readonly gone: boolean
  readonly sandboxes: readonly PodSandboxStatus[]
  readonly runs: readonly ContainerRuntimeStatus[]
  readonly backOffs: ReadonlyMap<string, BackOff>
  readonly failures: ReadonlyMap<string, StartFailure>
  /** By container id. */
  readonly probes: ReadonlyMap<string, ProbeState>
  /** Containers whose liveness or startup check has failed, by id, with what to say. */
  readonly unhealthy: ReadonlyMap<string, string>
  readonly startTimeMs: number
  readonly nowMs: number
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
      /** Message of the Killing event; undefined: nothing to tell. */
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

/** Containers have at least this long to stop, whatever is asked: upstream's minimumGracePeriodInSeconds. */
export const gracePeriodMinMs = 2_000

/** What to do about a pod. Pure and level-triggered: it depends on the present state only, not on how that came about. */
export function planPod(observation: PodObservation): PodPlan {
  const { pod, gone } = observation
  const failure = deadlineFailure(observation)
  const over = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  if (gone) return planTermination(observation, undefined, 'the pod is gone from the API')
  if (pod.metadata.deletionTimestamp !== undefined)
    return planTermination(observation, failure, 'the pod is being deleted')
  if (failure !== undefined) return planTermination(observation, failure, 'its active deadline has passed')
  if (over) return planTermination(observation, undefined, 'the pod has ended')
  return planRun(observation)
}

/** Deadlines count from the start time (core/v1 activeDeadlineSeconds). */
function deadlineFailure({ pod, startTimeMs, nowMs }: PodObservation): WaitingReason | undefined {
  if (pod.status?.reason === 'DeadlineExceeded')
    return { reason: 'DeadlineExceeded', message: pod.status.message ?? '' }
  const seconds = pod.spec.activeDeadlineSeconds
  if (seconds === undefined || nowMs < startTimeMs + seconds * 1000) return undefined
  return { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' }
}

// --- Stopping -------------------------------------------------------------------------------------------------------

/** Regular containers stop first and together, then sidecars one by one in reverse order (KEP-753). */
function planTermination(observation: PodObservation, failure: WaitingReason | undefined, because: string): PodPlan {
  const running = observation.runs.filter((run) => run.state === 'running')
  const plan = { waiting: waitingNow(observation), terminal: true, failure, wakeAtMs: undefined }
  if (running.length > 0) {
    const gracePeriodMs = gracePeriod(observation)
    const actions = stopNext(observation, running).map((run) =>
      stop(run, gracePeriodMs, `Stopping container ${run.name}`, because),
    )
    return { ...plan, actions, ended: false }
  }
  const ready = observation.sandboxes.filter((sandbox) => sandbox.ready)
  const actions: PodAction[] = ready.map(({ id }) => ({ type: 'stop-sandbox', id, because }))
  if (observation.gone) {
    actions.push(...observation.sandboxes.map(({ id }): PodAction => ({ type: 'remove-sandbox', id, because })))
  }
  if (observation.gone || observation.pod.metadata.deletionTimestamp !== undefined)
    actions.push({ type: 'finish', because })
  return { ...plan, actions, ended: true }
}

function stopNext(
  { pod }: PodObservation,
  running: readonly ContainerRuntimeStatus[],
): readonly ContainerRuntimeStatus[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name)
  const regular = running.filter(({ name }) => !sidecars.includes(name))
  if (regular.length > 0) return regular
  const last = sidecars.findLast((name) => running.some((run) => run.name === name))
  return running.filter(({ name }) => name === last)
}

function stop(run: ContainerRuntimeStatus, gracePeriodMs: number, message: string, because: string): PodAction {
  return { type: 'stop-container', run, gracePeriodMs, message, because }
}

/** What is left of the time the pod has to end. */
function gracePeriod({ pod, nowMs }: PodObservation): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  const specified = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000
  if (deletionTimestamp === undefined) return Math.max(gracePeriodMinMs, specified)
  const granted = (deletionGracePeriodSeconds ?? 0) * 1000
  // Sidecars, and an agent that comes back, get what is left; the timestamp has whole seconds only.
  const left = parseTime(deletionTimestamp) + 1000 - nowMs
  return Math.max(gracePeriodMinMs, Math.min(granted, left))
}

// --- Running --------------------------------------------------------------------------------------------------------

/** What happens to one container: nothing yet, a start, or a reason to wait. */
type Step =
  | { readonly type: 'none' }
  | { readonly type: 'start'; readonly action: PodAction }
  | { readonly type: 'wait'; readonly waiting: WaitingReason; readonly wakeAtMs: number }

function planRun(observation: PodObservation): PodPlan {
  const finished = isFinished(observation)
  if (finished) return planFinished(observation)
  const sandbox = currentSandbox(observation)
  if (sandbox === undefined) return planSandbox(observation)

  const collected: Step[] = []
  const actions: PodAction[] = []
  if (initialize(observation, sandbox, collected)) {
    for (const container of observation.pod.spec.containers)
      collected.push(stepRegular(observation, sandbox, container))
  }
  actions.push(...stopUnhealthy(observation), ...removeOld(observation))
  return assemble(observation, actions, collected)
}

function assemble(observation: PodObservation, actions: readonly PodAction[], steps: readonly Step[]): PodPlan {
  const waiting = new Map(waitingNow(observation))
  const wakeUps: number[] = []
  const starts: PodAction[] = []
  for (const step of steps) {
    if (step.type === 'start') starts.push(step.action)
    if (step.type === 'wait') wakeUps.push(step.wakeAtMs)
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

function planSandbox(observation: PodObservation): PodPlan {
  const latest = latestSandbox(observation.sandboxes)
  const attempt = latest === undefined ? 0 : latest.attempt + 1
  const because = latest === undefined ? 'the pod is new on this node' : 'its sandbox has ended'
  return assemble(observation, [{ type: 'run-sandbox', attempt, because }], [])
}

/** Every container has ended and none will be restarted, or an init container has failed for good. */
function isFinished({ pod, runs, sandboxes }: PodObservation): boolean {
  for (const container of pod.spec.initContainers ?? []) {
    const [run] = runsOf(container.name, runs)
    if (run?.state !== 'exited' || run.exitCode === 0) continue
    if (!initRestartsAfter(container, pod.spec, run.exitCode ?? 0)) return true
  }
  if (sandboxes.length === 0 && runs.length === 0) return false
  return pod.spec.containers.every((container) => {
    const [run] = runsOf(container.name, runs)
    return run?.state === 'exited' && !restartsAfter(container, pod.spec, run.exitCode ?? 0)
  })
}

/** Sidecars end with the containers they serve. */
function planFinished(observation: PodObservation): PodPlan {
  const because = 'its containers have ended'
  const running = observation.runs.filter((run) => run.state === 'running')
  const gracePeriodMs = gracePeriod(observation)
  const actions: PodAction[] =
    running.length > 0
      ? stopNext(observation, running).map((run) => stop(run, gracePeriodMs, `Stopping container ${run.name}`, because))
      : observation.sandboxes.filter(({ ready }) => ready).map(({ id }) => ({ type: 'stop-sandbox', id, because }))
  return { ...assemble(observation, actions, []), terminal: true }
}

/**
 * Takes init containers forward and says whether regular ones may run: once one of those has been created in this
 * sandbox, the pod counts as initialized, and only sidecars are looked after.
 */
function initialize(observation: PodObservation, sandbox: PodSandboxStatus, steps: Step[]): boolean {
  const { pod, runs, probes } = observation
  const here = runs.filter((run) => run.sandboxId === sandbox.id)
  const init = pod.spec.initContainers ?? []
  const initialized = pod.spec.containers.some(({ name }) => here.some((run) => run.name === name))
  for (const container of init) {
    const [run] = runsOf(container.name, here)
    if (run?.state === 'running') {
      if (isSidecar(container) && (probes.get(run.id)?.started ?? true)) continue
      if (!initialized) return false
      continue
    }
    if (!isSidecar(container) && (initialized || (run?.state === 'exited' && run.exitCode === 0))) continue
    steps.push(stepStart(observation, sandbox, container, run))
    if (!initialized) return false
  }
  return true
}

function stepRegular(observation: PodObservation, sandbox: PodSandboxStatus, container: Container): Step {
  const [run] = runsOf(container.name, observation.runs)
  if (run?.state === 'running') return { type: 'none' }
  if (run?.state === 'exited' && !restartsAfter(container, observation.pod.spec, run.exitCode ?? 0))
    return { type: 'none' }
  return stepStart(observation, sandbox, container, run)
}

function stepStart(
  observation: PodObservation,
  sandbox: PodSandboxStatus,
  container: Container,
  run: ContainerRuntimeStatus | undefined,
): Step {
  const { nowMs, failures, backOffs } = observation
  const failure = failures.get(container.name)
  if (failure !== undefined && nowMs < failure.retryAtMs) {
    return { type: 'wait', waiting: failure, wakeAtMs: failure.retryAtMs }
  }
  const [latest] = runsOf(container.name, observation.runs)
  const attempt = nextAttempt(observation.pod, container, latest)
  const action = { type: 'start-container', container, sandboxId: sandbox.id, attempt } as const
  if (run === undefined || run.state !== 'exited' || run.image !== container.image) {
    return { type: 'start', action: { ...action, backOff: undefined, because: 'it has yet to run' } }
  }
  const finishedAtMs = run.finishedAtMs ?? nowMs
  const backOff = backOffs.get(container.name)
  const startAtMs = restartAtMs(backOff, finishedAtMs)
  if (nowMs < startAtMs) {
    return { type: 'wait', waiting: crashLoop(observation.pod, container, backOff), wakeAtMs: startAtMs }
  }
  const because = `it ended with exit code ${run.exitCode ?? 0}`
  return { type: 'start', action: { ...action, backOff: nextBackOff(backOff, finishedAtMs, nowMs), because } }
}

function crashLoop(pod: Pod, container: Container, backOff: BackOff | undefined): WaitingReason {
  const delay = durationText(backOff?.delayMs ?? 0)
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${container.name} pod=${podText(pod)}`,
  }
}

/** Counts on from what the runtime has, or from what the API says where the runtime has lost it. */
function nextAttempt(pod: Pod, container: Container, latest: ContainerRuntimeStatus | undefined): number {
  if (latest !== undefined) return latest.attempt + 1
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const status = statuses.find(({ name }) => name === container.name)
  if (status === undefined) return 0
  const hasRun = status.state?.running !== undefined || status.state?.terminated !== undefined
  return status.restartCount + (hasRun ? 1 : 0)
}

/** Why each container that is due does not run: a failed start, or a crash it is made to wait after. */
function waitingNow(observation: PodObservation): ReadonlyMap<string, WaitingReason> {
  const { pod, runs, failures, backOffs, nowMs, gone } = observation
  const waiting = new Map<string, WaitingReason>()
  if (gone || pod.metadata.deletionTimestamp !== undefined) return waiting
  const init = pod.spec.initContainers ?? []
  for (const container of [...init, ...pod.spec.containers]) {
    const [run] = runsOf(container.name, runs)
    if (run?.state === 'running') continue
    const failure = failures.get(container.name)
    const restarts = init.includes(container) ? initRestartsAfter : restartsAfter
    const due = run?.state !== 'exited' || restarts(container, pod.spec, run.exitCode ?? 0)
    if (!due) continue
    const backOff = backOffs.get(container.name)
    const crashed = run?.state === 'exited' && nowMs < restartAtMs(backOff, run.finishedAtMs ?? nowMs)
    if (crashed) waiting.set(container.name, crashLoop(pod, container, backOff))
    else if (failure !== undefined) waiting.set(container.name, failure)
  }
  return waiting
}

/** Containers that fail their checks, or whose image was changed, are stopped so that they start anew. */
function stopUnhealthy(observation: PodObservation): readonly PodAction[] {
  const { pod, runs, unhealthy } = observation
  const gracePeriodMs = gracePeriod(observation)
  const containers = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]
  return containers.flatMap((container) => {
    const [run] = runsOf(container.name, runs)
    if (run?.state !== 'running') return []
    const because = unhealthy.get(run.id)
    if (because !== undefined) return [stop(run, gracePeriodMs, because, because)]
    if (run.image === container.image) return []
    const changed = `Container ${container.name} definition changed, will be restarted`
    return [stop(run, gracePeriodMs, changed, 'its image was changed')]
  })
}

/** Of each container the latest run and the one before are kept, for `lastState` and the previous log. */
function removeOld({ pod, runs, sandboxes }: PodObservation): readonly PodAction[] {
  const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name)
  const old = names.flatMap((name) => {
    const known = runsOf(name, runs)
    const unborn = known.filter(({ state }) => state === 'created')
    return [...unborn, ...known.filter(({ state }) => state !== 'created').slice(2)].filter(
      ({ state }) => state !== 'running',
    )
  })
  const latest = latestSandbox(sandboxes)
  const empty = sandboxes.filter(
    ({ id, ready }) => !ready && id !== latest?.id && !runs.some((run) => run.sandboxId === id && !old.includes(run)),
  )
  return [
    ...old.map(({ id }): PodAction => ({ type: 'remove-container', id, because: 'newer runs are kept' })),
    ...empty.map(({ id }): PodAction => ({ type: 'remove-sandbox', id, because: 'a newer sandbox is in use' })),
  ]
}

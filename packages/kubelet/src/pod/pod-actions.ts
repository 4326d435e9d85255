import type { Pod } from '@coracle/api'
import type { ContainerType } from '../metrics/agent-metrics.ts'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import type { OwnPodStatus } from '../status/pod-status.ts'
import { startContainer } from './container-starter.ts'
import { ContainerStops } from './container-stops.ts'
import { latestSandbox, type PodAction, type PodObservation, type PodPlan } from './plan-pod.ts'
import { recordPodEvent } from './pod-events.ts'
import type { PodHost } from './pod-host.ts'
import { podKey } from './pod-name.ts'
import type { PodReports } from './pod-reports.ts'
import type { PodVolumes } from './pod-volumes.ts'
import { isRestartingAll } from './restart-all.ts'
import type { RuntimeProblems } from './runtime-problems.ts'
import { startSandbox } from './sandbox-starter.ts'
import { StartTroubles, startRetryMs } from './start-troubles.ts'

/** Actions that take longer than this show in the status before they are done. */
const slowActionMs = 100

/** The parts of a pod's worker that its actions need. */
export interface PodParts {
  readonly volumes: PodVolumes
  readonly reports: PodReports
  readonly problems: RuntimeProblems
}

/** Carries out the plan of one pod, and remembers how starts, stops and removals have gone. */
export class PodActions {
  readonly #host: PodHost
  readonly #parts: PodParts
  /** Made when a start fails, or a container starts again: there is a worker for each pod, and most never need them. */
  #troubles: StartTroubles | undefined
  /** Made when a container is to stop. */
  #stops: ContainerStops | undefined
  /** Until when the runtime is not asked again to remove what is left of former runs; undefined where it has not refused. */
  #cleanupAtMs: number | undefined
  #awaitsWrite = false

  constructor(host: PodHost, parts: PodParts) {
    this.#host = host
    this.#parts = parts
  }

  /** Whether something is to be done as soon as the API shows the status. */
  get awaitsWrite(): boolean {
    return this.#awaitsWrite
  }

  /** Runs that start again however they end, by id. */
  get restarting(): ReadonlySet<string> {
    return this.#stops?.restarting ?? noNames
  }

  /** What the plan of the pod rests on. */
  get observed(): Pick<PodObservation, 'backOffs' | 'failures' | 'restarting'> {
    const { backOffs = none, failures = none } = this.#troubles ?? {}
    return { backOffs, failures, restarting: this.restarting }
  }

  /** Takes note of what has come to run, and of stops that are done. */
  observe(runs: readonly ContainerRuntimeStatus[]): void {
    for (const { name, state } of runs) if (state === 'running') this.#troubles?.forgetFailure(name)
    this.#stops?.observe(runs)
  }

  /** When what the runtime has refused to remove is tried again; undefined where that is nothing, or may be tried. */
  cleanupAtMs(nowMs: number): number | undefined {
    if ((this.#cleanupAtMs ?? nowMs) <= nowMs) this.#cleanupAtMs = undefined
    return this.#cleanupAtMs
  }

  /** The clock was set by so much: what is waited for takes as long as was meant. */
  followClock(setMs: number): void {
    if (this.#cleanupAtMs !== undefined) this.#cleanupAtMs += setMs
    this.#troubles?.followClock(setMs)
  }

  /** Tells of containers that end again and again. */
  tellBackOffs(observation: PodObservation, plan: PodPlan): void {
    if (hasBackOffs(plan)) this.#troublesToNote().tellBackOffs(this.#host.context, observation, plan)
  }

  /** Does all but the last action, which takes the pod out of the API. True where something was done that makes another look worthwhile. */
  async carryOut(plan: PodPlan, observation: PodObservation, status: () => OwnPodStatus): Promise<boolean> {
    const waited: PodAction[] = []
    const isCleanup = isCleanupOf(observation)
    for (const action of plan.actions) {
      if (this.#cleanupAtMs !== undefined && isCleanup(action)) continue
      if (action.type === 'stop-container') this.#stopsToCome().stop(action, observation)
      else if (action.type === 'prepare-stop') this.#stopsToCome().prepare(action, observation)
      else if (action.type !== 'finish') waited.push(action)
    }
    if (waited.length === 0 || this.#wouldLoseTraces(observation, waited, status)) return false
    const slow = this.#host.context.environment.clock.setTimer(slowActionMs, () => {
      if (!this.#host.isGone) this.#parts.reports.writer.write(status())
    })
    try {
      await this.#startAll(waited.filter(isStart), observation)
      for (const action of waited.filter((candidate) => !isStart(candidate)))
        await (isCleanup(action) ? this.#cleanUp(action, observation) : this.#performOne(action, observation))
    } finally {
      slow.cancel()
    }
    return true
  }

  /** Tries nothing again. */
  close(): void {
    this.#stops?.close()
  }

  /**
   * Containers start together, but for those that come after one with a postStart hook: they wait for that, which is how people have one
   * wait for another. Rejects where a start does, but not before all have come to their end: the next pass would begin with them again.
   */
  async #startAll(starts: readonly StartAction[], observation: PodObservation): Promise<void> {
    const { ending } = this.#host
    const all: Promise<void>[] = []
    let hook: Promise<void> | undefined
    for (const action of starts) {
      const start = () => this.#start(action, observation)
      const started = hook?.then(() => (ending.isBegun ? undefined : start())) ?? start()
      all.push(started)
      if (action.container.lifecycle?.postStart !== undefined) hook = started.catch(() => {})
    }
    const results = await Promise.allSettled(all)
    ending.settle()
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /**
   * Where all containers start anew those of before are removed, and what the API does not show of them by then is lost, such as that they
   * have run at all: that is written first.
   */
  #wouldLoseTraces({ pod, runs }: PodObservation, actions: readonly PodAction[], status: () => OwnPodStatus): boolean {
    this.#awaitsWrite = false
    if (this.#host.isGone || !isRestartingAll(pod, runs) || !actions.some(({ type }) => type === 'remove-container'))
      return false
    if (this.#parts.reports.writer.shows(status())) return false
    this.#awaitsWrite = true
    return true
  }

  /** What is left of former runs may resist: the pod goes on all the same. */
  async #cleanUp(action: PodAction, observation: PodObservation): Promise<void> {
    const { clock, logger } = this.#host.context.environment
    try {
      await this.#performOne(action, observation)
    } catch (error) {
      logger.warn('what is left of former runs has to stay for now', { pod: podKey(this.#host.pod), error })
      this.#cleanupAtMs = clock.now() + startRetryMs
    }
  }

  async #performOne(action: PodAction, { sandboxes }: PodObservation): Promise<void> {
    const { runtime, environment } = this.#host.context
    environment.logger.debug(action.type, { pod: podKey(this.#host.pod), because: action.because })
    switch (action.type) {
      case 'run-sandbox':
        return this.#runSandbox(action.attempt, latestSandbox(sandboxes))
      case 'stop-sandbox':
        return this.#stopSandbox(action.id)
      case 'remove-sandbox':
        return runtime.removePodSandbox(action.id)
      case 'remove-container':
        return runtime.removeContainer(action.id)
      case 'start-container':
      case 'stop-container':
      case 'prepare-stop':
      case 'finish':
        return
    }
  }

  #stopSandbox(id: string): Promise<void> {
    const { runtime } = this.#host.context
    return this.#parts.problems.telling('FailedKillPod', 'error killing pod', () => runtime.stopPodSandbox(id))
  }

  /** What is left of the sandbox before, such as its network, is taken down first. */
  async #runSandbox(attempt: number, former: PodSandboxStatus | undefined): Promise<void> {
    const { context } = this.#host
    if (attempt > 0) {
      const message = 'Pod sandbox changed, it will be killed and re-created.'
      recordPodEvent(context, this.#host.pod, 'Normal', 'SandboxChanged', message)
    }
    if (former !== undefined) await this.#stopSandbox(former.id)
    await startSandbox(context, this.#host.pod, attempt)
  }

  async #start(action: StartAction, { sandboxes }: PodObservation): Promise<void> {
    const { container, attempt, backOff } = action
    const { context, pod, ending } = this.#host
    const { clock, logger } = context.environment
    const sandbox = sandboxes.find(({ id }) => id === action.sandboxId)
    if (sandbox === undefined) return
    logger.debug('start container', {
      pod: podKey(pod),
      container: container.name,
      attempt,
      because: action.because,
    })
    if (backOff !== undefined) this.#troublesToNote().noteBackOff(container.name, backOff)
    const type = typeOf(container.name, pod)
    context.metrics?.()?.containerStarting(type)
    const { mounted } = this.#parts.volumes
    const failure = await startContainer(context, pod, sandbox, mounted, container, attempt, ending.signal())
    if (failure !== undefined) context.metrics?.()?.containerNotStarted(type, failure.reason)
    if (failure === undefined) this.#troubles?.forgetFailure(container.name)
    // Where the command could not be run there is an ended container, and the back-off sees to it. It may have taken long to fail.
    else this.#troublesToNote().noteFailure(container, failure, clock.now())
  }

  #troublesToNote(): StartTroubles {
    this.#troubles ??= new StartTroubles()
    return this.#troubles
  }

  #stopsToCome(): ContainerStops {
    const { context } = this.#host
    const address = () => this.#parts.reports.status?.podIP ?? this.#host.pod.status?.podIP ?? context.nodeAddress
    this.#stops ??= new ContainerStops(context, address, () => this.#host.wake())
    return this.#stops
  }
}

const none: ReadonlyMap<string, never> = new Map<string, never>()
const noNames: ReadonlySet<string> = new Set()

/** Tells what only makes room: of a pod that is there, and does not start anew as a whole. */
function isCleanupOf({ gone, pod, runs }: PodObservation): (action: PodAction) => boolean {
  return ({ type }) =>
    (type === 'remove-container' || type === 'remove-sandbox') && !gone && !isRestartingAll(pod, runs)
}

type StartAction = Extract<PodAction, { readonly type: 'start-container' }>

function isStart(action: PodAction): action is StartAction {
  return action.type === 'start-container'
}

function typeOf(name: string, { spec }: Pod): ContainerType {
  if (spec.initContainers?.some((container) => container.name === name) === true) return 'init_container'
  const isEphemeral = spec.ephemeralContainers?.some((container) => container.name === name) === true
  return isEphemeral ? 'ephemeral_container' : 'container'
}

const hasBackOffs = ({ waiting }: PodPlan): boolean =>
  waiting.values().some(({ reason }) => reason === 'CrashLoopBackOff')

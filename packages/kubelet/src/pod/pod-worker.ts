import { claimsOfPod, hasReason, type Pod, parseTime, pods } from '@coracle/api'
import { compareVersions } from '@coracle/client'
import type { Timer } from '@coracle/environment'
import { isCritical } from '../admission/preemption.ts'
import { agentCause } from '../agent-cause.ts'
import type { PodOperation } from '../metrics/agent-metrics.ts'
import { ProbeRunner } from '../probes/probe-runner.ts'
import { type PodSandboxStatus, RuntimeUnavailableError } from '../runtimes/runtime.ts'
import type { WaitingReason } from '../status/container-statuses.ts'
import { type OwnPodStatus, podStatus, refusalOf, refusedStatus } from '../status/pod-status.ts'
import { hadVolumes, type MountedVolumes, VolumesNotReadyError } from '../volumes/claimed-volumes.ts'
import { startContainer } from './container-starter.ts'
import { ContainerStops } from './container-stops.ts'
import { type ResizeProgress, withResourcesOf, withResourcesOfStatus } from './given-resources.ts'
import {
  currentSandbox,
  isOver,
  latestSandbox,
  type PodAction,
  type PodObservation,
  type PodPlan,
  planPod,
  preempting,
} from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { recordPodEvent } from './pod-events.ts'
import { podKey, podUidOf } from './pod-name.ts'
import type { PodResizing } from './pod-resizing.ts'
import { PodVolumes } from './pod-volumes.ts'
import { isRestartingAll } from './restart-all.ts'
import { SandboxError, startSandbox } from './sandbox-starter.ts'
import { StartTroubles, startRetryMs } from './start-troubles.ts'
import { StatusWriter, type StatusWriterHost } from './status-writer.ts'
import { deletedByTimestampMs } from './stop-containers.ts'

/** Passes a worker makes in one go. A pod needs a few; more than this is a plan that never comes true. */
const passesMax = 100

/** Passes of all the pods of an agent that start in one turn of the event loop, if the pods of its nodes are many. */
export const passesPerTurnMax = 64

/** Whoever marks a pod that waits for nothing removes it next. If it is still there after this it is looked after: upstream's sync period of statuses. */
const removalMaxMs = 10_000
/** A clock that goes so much faster or slower between two looks was set. */
const clockSetMinMs = 1_000
/** Actions that take longer than this show in the status before they are done. */
const slowActionMs = 100
/** A pass that failed unexpectedly is tried again after this, which doubles each time up to upstream's backOffPeriod, `startRetryMs`. */
const passRetryFirstMs = 1_000

/**
 * Brings one pod of this node to what the API wants of it, and reports how it is. One pass at a time: observe the
 * runtime, plan, act, and look again if anything was done; then write the status. Whatever happens - the pod changes, a
 * container stops, a probe's answer changes, a back-off ends - only wakes it.
 */
export class PodWorker implements StatusWriterHost {
  readonly #context: PodContext
  readonly #onFinished: () => void
  readonly #writer: StatusWriter
  /** Of pods with processes to probe. */
  readonly #probes: ProbeRunner | undefined
  /** Made when a start fails, or a container starts again: there is a worker for each pod, and most never need them. */
  #troubles: StartTroubles | undefined
  /** Made when a container is to stop. */
  #stops: ContainerStops | undefined
  /** Whether the node has been asked if it takes the pod on, and why it does not. */
  #asked: boolean
  #refusal: WaitingReason | undefined
  #preempted = false
  #evicted: (WaitingReason & { readonly graceMaxMs: number }) | undefined
  /** Whether something is to be done as soon as the API shows the status. */
  #awaitsWrite = false
  #toldFailure = false
  readonly #volumes: PodVolumes
  readonly #startTimeMs: number
  /** Whether the pod is to end. */
  #ending: boolean
  /** When the pod was seen to be deleted, in whole milliseconds of the monotonic clock; undefined where it is not. */
  #deletedAtMs: number | undefined
  /** While the node is asked and while containers start: aborted when the pod is to end. See `endingReason`. */
  #underWay: AbortController | undefined
  #pod: Pod
  /** The pod with the resources that its node has given it, until the first change of it; the generation in which these are what is asked for. */
  readonly #given: Pod
  readonly #givenGeneration: number | undefined
  /** Made with the first change of the pod: most never have one. */
  #resizing: PodResizing | undefined
  /** Until when the runtime is not asked again to remove what is left of former runs; undefined where it has not refused. */
  #cleanupAtMs: number | undefined
  #gone = false
  /** Until when a pod that is marked to go at once is left to whoever has marked it. */
  #leavesUntilMs: number | undefined
  #status: OwnPodStatus | undefined
  /** Since when a pod is on its way to run, where that is counted. */
  #startingSinceMs: number | undefined
  #isUpdated = false
  #dirty = false
  #passRetryMs = passRetryFirstMs
  /** By how much the clock was ahead of the monotonic one at the last look. */
  #aheadMs: number
  /** What was told last of what the runtime refuses. */
  #toldProblem = ''
  #running: Promise<void> | undefined
  #timer: Timer | undefined
  #deleted = false
  #closed = false

  constructor(context: PodContext, pod: Pod, onFinished: () => void) {
    this.#context = context
    this.#pod = pod
    this.#onFinished = onFinished
    this.#aheadMs = context.environment.clock.now() - this.#monotonicMs()
    const { metadata } = pod
    this.#ending = metadata.deletionTimestamp !== undefined
    // Of a deletion that nobody here has seen only the API's clock tells when it was.
    if (this.#ending)
      this.#deletedAtMs = this.#monotonicMs() - deletedByTimestampMs(metadata, context.environment.clock.now())
    const started = pod.status?.startTime
    this.#startTimeMs = started === undefined ? context.environment.clock.now() : parseTime(started)
    this.#refusal = refusalOf(pod)
    this.#asked = started !== undefined
    const given = started === undefined ? pod : withResourcesOfStatus(pod)
    this.#given = given
    this.#givenGeneration = given === pod ? pod.metadata.generation : undefined
    this.#volumes = new PodVolumes(context)
    if (started !== undefined && !isOver(pod)) context.admission.count(podUidOf(pod), given)
    this.#writer = new StatusWriter(context, this)
    // What counts is loaded by the time that there is something to count.
    context.metrics?.()
    if (context.metrics !== undefined && (pod.status?.phase ?? 'Pending') === 'Pending')
      this.#startingSinceMs = context.environment.clock.monotonicMs()
    this.#probes = context.runtime.runsProcesses ? new ProbeRunner(context, () => this.wake()) : undefined
  }

  get pod(): Pod {
    return this.#pod
  }

  /** The status last worked out; undefined before the first pass. */
  get status(): OwnPodStatus | undefined {
    return this.#status
  }

  /** A pod of the same identity, from the watch or a write; older ones are ignored. */
  update(pod: Pod): void {
    const [mine, theirs] = [this.#pod.metadata.resourceVersion, pod.metadata.resourceVersion]
    if (mine !== undefined && theirs !== undefined && compareVersions(theirs, mine) <= 0) return
    const isDeleted = pod.metadata.deletionTimestamp !== undefined
    if (isDeleted && this.#pod.metadata.deletionTimestamp === undefined) this.#deletedAtMs = this.#monotonicMs()
    this.#pod = pod
    this.#isUpdated = true
    if (isDeleted) this.#beginEnding()
    this.wake()
  }

  statusShown(status: OwnPodStatus): void {
    if (this.#status === status) this.#status = this.#pod.status
  }

  statusWritten(): void {
    this.#wakeIfAwaited()
  }

  /** The pod is no longer in the API: everything of it goes. */
  remove(): void {
    this.#gone = true
    // Whoever took it out of the API may have put another in its place already.
    this.#context.admission.release(podUidOf(this.#pod))
    this.#beginEnding()
    this.wake()
  }

  /** The node needs the room of the pod for a critical one. */
  preempt(): void {
    if (this.#preempted) return
    this.#preempted = true
    this.#toldFailure = true
    recordPodEvent(this.#context, this.#pod, 'Warning', preempting.reason, preempting.message)
    this.wake()
  }

  /** The node does not keep the pod: it goes, with at most so long to end. False where it stays: the system itself depends on it, or it is on its way. */
  evict(message: string, graceMaxMs = 0): boolean {
    if (this.#evicted !== undefined || isCritical(this.#pod)) return false
    this.#evicted = { reason: 'Evicted', message, graceMaxMs }
    this.#toldFailure = true
    recordPodEvent(this.#context, this.#pod, 'Warning', 'Evicted', message)
    this.wake()
    return true
  }

  /** Something may have changed. */
  wake(): void {
    this.#dirty = true
    if (this.#running === undefined && !this.#closed) this.#running = this.#run()
  }

  /** Stops working on the pod, and leaves its containers as they are. Resolves when the pass under way is done. */
  async close(): Promise<void> {
    this.#stopWork()
    await this.#running
  }

  async #run(): Promise<void> {
    const { metrics, environment } = this.#context
    const [operation, beganMs] = [this.#operation(), environment.clock.monotonicMs()]
    for (let passes = 1; this.#dirty && !this.#closed; passes++) {
      await this.#context.turns.take()
      this.#dirty = false
      try {
        if (passes > passesMax) throw new Error(`${passesMax} passes in a row have not settled the pod`)
        await this.#pass()
        this.#passRetryMs = passRetryFirstMs
      } catch (error) {
        this.#noteFailedPass(error)
      }
    }
    this.#running = undefined
    metrics?.()?.podWorked(operation, environment.clock.monotonicMs() - beganMs)
  }

  /** What the worker sets to work for. */
  #operation(): PodOperation {
    const isUpdated = this.#isUpdated
    this.#isUpdated = false
    if (this.#ending) return 'kill'
    return this.#status === undefined ? 'create' : isUpdated ? 'update' : 'sync'
  }

  #noteFailedPass(error: unknown): void {
    const { clock, logger } = this.#context.environment
    // That it is away the node says, and not each of its pods.
    const isAway = error instanceof RuntimeUnavailableError
    const pod = podKey(this.#pod)
    if (isAway) logger.debug('pod worker waits for the container runtime', { pod })
    else if (error instanceof VolumesNotReadyError) this.#volumes.warnOfRemains(this.#pod, error.message)
    else logger.error('pod worker failed', { pod, error })
    const waitsLong = error instanceof SandboxError || error instanceof VolumesNotReadyError
    this.#wakeAt(clock.now() + (waitsLong ? startRetryMs : this.#passRetryMs))
    this.#passRetryMs = Math.min(2 * this.#passRetryMs, startRetryMs)
  }

  async #pass(): Promise<void> {
    if (!this.#asked) await this.#askForAdmission()
    this.#followClock()
    // A pod that is ending, or has ended, needs neither other resources nor volumes.
    const goesOn = () => this.#refusal === undefined && !this.#ending && !isOver(this.#pod)
    if (goesOn()) await this.#loadResizing()
    if (goesOn()) this.#resizing?.judge(this.#pod)
    if (goesOn()) {
      const refusal = await this.#volumes.mount(this.#pod)
      if (refusal !== undefined) this.#refuse(refusal)
    }
    const observation = await this.#observe()
    if (!this.#ending) await this.#resizing?.updateContainers(this.#pod, observation.runs)
    const plan = planPod(observation)
    const leavesUntilMs = this.#leaves(observation)
    if ((this.#cleanupAtMs ?? observation.nowMs) <= observation.nowMs) this.#cleanupAtMs = undefined
    const volumesUntilMs = this.#ending || isOver(this.#pod) ? undefined : this.#volumes.refreshAtMs
    const updateAtMs = earlier(this.#cleanupAtMs, earlier(this.#resizing?.retryAtMs, volumesUntilMs))
    this.#wakeAt(earlier(leavesUntilMs, earlier(plan.wakeAtMs, updateAtMs)))
    if (hasBackOffs(plan)) this.#troublesToNote().tellBackOffs(this.#context, observation, plan)
    this.#tellFailure(observation, plan)
    const status = this.#statusOnce(observation, plan)
    this.#showLoss(observation, plan, status)
    this.#showVolumes(status)
    if (await this.#perform(plan, observation, status)) this.#dirty = true
    else if (isOver(this.#pod) && observation.runs.every(({ state }) => state !== 'running'))
      await this.#volumes.release(this.#pod)
    // Where there is news already the next pass, which follows at once, writes what they make of the status.
    if (!this.#dirty && !this.#gone && !this.#deleted && leavesUntilMs === undefined) this.#writer.write(status())
  }

  /** Until when the pod is about to leave the API by itself: nothing is written of it that nobody can read. Undefined where it is not. */
  #leaves({ pod: { metadata }, nowMs }: PodObservation): number | undefined {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata
    if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== 0 || finalizers.length > 0) return undefined
    this.#leavesUntilMs ??= nowMs + removalMaxMs
    return nowMs < this.#leavesUntilMs ? this.#leavesUntilMs : undefined
  }

  /** A pod that has a sandbox already was taken on in an earlier life, which came to no more than that. */
  async #askForAdmission(): Promise<void> {
    const { admission, runtime } = this.#context
    const uid = podUidOf(this.#pod)
    const begun = (await runtime.listPodSandboxes(uid)).length > 0
    if (this.#gone) return
    if (begun) admission.count(uid, this.#pod)
    else this.#refusal = await admission.admit(uid, this.#pod, this.#endingSignal())
    this.#underWay = undefined
    if (this.#gone) admission.release(uid)
    this.#asked = true
    if (this.#refusal !== undefined) this.#refuse(this.#refusal)
  }

  /** The node does not take the pod on. */
  #refuse(refusal: WaitingReason): void {
    this.#refusal = refusal
    recordPodEvent(this.#context, this.#pod, 'Warning', refusal.reason, refusal.message)
  }

  /** Only a change of its spec may be one of its resources. */
  async #loadResizing(): Promise<void> {
    if (this.#resizing !== undefined || this.#pod.metadata.generation === this.#givenGeneration) return
    const { PodResizing } = await this.#context.environment.clock.hold(import('./pod-resizing.ts'))
    this.#resizing = new PodResizing(this.#context, this.#given, this.#givenGeneration, () => this.wake())
  }

  /** The pod as its node has taken it on. What is ending is judged no more. A change that comes while a pass is under way is judged in the next. */
  #asGiven(): Pod {
    if (this.#resizing !== undefined) return this.#resizing.asGiven(this.#pod, this.#ending)
    const isJudged = this.#ending || this.#pod.metadata.generation === this.#givenGeneration
    return isJudged ? this.#pod : withResourcesOf(this.#pod, this.#given.spec)
  }

  /** Those of its volumes that are on the node. */
  get volumes(): MountedVolumes {
    return this.#volumes.mounted
  }

  async #observe(): Promise<PodObservation> {
    const { runtime, environment, deadContainers } = this.#context
    const uid = podUidOf(this.#pod)
    const [sandboxes, runs] = await this.#telling('FailedSync', 'error determining status', () =>
      Promise.all([runtime.listPodSandboxes(uid), runtime.listContainers(uid)]),
    )
    this.#probes?.follow(this.#pod, currentSandbox({ sandboxes }), runs)
    for (const { name, state } of runs) if (state === 'running') this.#troubles?.forgetFailure(name)
    this.#stops?.observe(runs)
    const monotonicMs = this.#monotonicMs()
    return {
      pod: this.#asGiven(),
      resized: this.#resizing?.runsToEnd(this.#pod, runs) ?? noNames,
      gone: this.#gone,
      deletedForMs: this.#deletedAtMs === undefined ? undefined : monotonicMs - this.#deletedAtMs,
      sandboxes,
      runs,
      backOffs: this.#troubles?.backOffs ?? none,
      failures: this.#troubles?.failures ?? none,
      probes: this.#probes?.states ?? none,
      unhealthy: this.#probes?.unhealthy ?? none,
      restarting: this.#stops?.restarting ?? noNames,
      refused: this.#refusal !== undefined,
      preempted: this.#preempted,
      evicted: this.#evicted,
      ...(deadContainers === undefined ? {} : { deadContainers }),
      volumesRetryAtMs: this.#volumes.retryAtMs,
      startTimeMs: this.#startTimeMs,
      nowMs: environment.clock.now(),
      monotonicMs,
    }
  }

  /** What is waited for takes as long as was meant where the clock was set meanwhile. */
  #followClock(): void {
    const aheadMs = this.#context.environment.clock.now() - this.#monotonicMs()
    const setMs = aheadMs - this.#aheadMs
    this.#aheadMs = aheadMs
    if (Math.abs(setMs) < clockSetMinMs) return
    this.#volumes.followClock(setMs)
    if (this.#cleanupAtMs !== undefined) this.#cleanupAtMs += setMs
    this.#troubles?.followClock(setMs)
  }

  /** In whole milliseconds: what is added to a moment and taken from it again has to come to the same. */
  #monotonicMs(): number {
    return Math.floor(this.#context.environment.clock.monotonicMs())
  }

  /** The status, worked out when first asked for: of the passes that bring up or end a pod only the last shows one. */
  #statusOnce(observation: PodObservation, plan: PodPlan): () => OwnPodStatus {
    let status: OwnPodStatus | undefined
    return () => {
      status ??= this.#status = this.#statusFor(observation, plan)
      if (this.#startingSinceMs !== undefined && status.phase !== 'Pending') this.#noteStarted(status)
      const rests = observation.runs.every(({ state }) => state !== 'running')
      if (rests && (status.phase === 'Succeeded' || status.phase === 'Failed'))
        this.#context.admission.release(podUidOf(this.#pod))
      return status
    }
  }

  #noteStarted({ phase }: OwnPodStatus): void {
    const { metrics, environment } = this.#context
    if (phase === 'Running') metrics?.()?.podStarted(environment.clock.monotonicMs() - (this.#startingSinceMs ?? 0))
    this.#startingSinceMs = undefined
  }

  #statusFor(observation: PodObservation, plan: PodPlan): OwnPodStatus {
    const { pod, sandboxes, runs, probes, startTimeMs, nowMs } = observation
    if (this.#refusal !== undefined) return refusedStatus(pod, this.#refusal, startTimeMs, nowMs)
    return podStatus({
      pod,
      sandbox: latestSandbox(sandboxes),
      runs,
      waiting: plan.waiting,
      probes,
      // Stops of this pass included.
      restarting: this.#stops?.restarting ?? noNames,
      terminal: plan.terminal,
      ended: plan.ended,
      failure: plan.failure,
      resize: this.#resizing?.progress ?? noResize,
      startTimeMs,
      nodeAddress: this.#context.nodeAddress,
      runtimeName: this.#context.runtime.name,
      nowMs,
    })
  }

  /**
   * A pod that was ready and is not is shown at once: others send it requests, as they do not to one being deleted. Of one whose
   * containers have all ended for good only its sandbox is left to stop, and one write tells both.
   */
  #showLoss({ runs }: PodObservation, { terminal }: PodPlan, status: () => OwnPodStatus): void {
    if (this.#gone || this.#pod.metadata.deletionTimestamp !== undefined) return
    if (terminal && runs.every(({ state }) => state !== 'running')) return
    if (isReady(this.#pod.status) && !isReady(status())) this.#writer.write(status())
  }

  /** A pod that has its claims is shown to have them before its containers start: who looks after it next goes by that (`hadVolumes`). */
  #showVolumes(status: () => OwnPodStatus): void {
    const pod = this.#pod
    if (this.#gone || hadVolumes(pod.status) || claimsOfPod(pod).length === 0) return
    const now = status()
    if (hadVolumes(now)) this.#writer.write(now)
  }

  /** True where something was done that makes another look worthwhile. */
  async #perform(plan: PodPlan, observation: PodObservation, status: () => OwnPodStatus): Promise<boolean> {
    const waited: PodAction[] = []
    const isCleanup = isCleanupOf(observation)
    for (const action of plan.actions) {
      if (this.#cleanupAtMs !== undefined && isCleanup(action)) continue
      if (action.type === 'stop-container') this.#stopsToCome().stop(action, observation)
      else if (action.type === 'prepare-stop') this.#stopsToCome().prepare(action, observation)
      else if (action.type !== 'finish') waited.push(action)
    }
    if (waited.length > 0) {
      if (this.#wouldLoseTraces(observation, waited, status)) return false
      const slow = this.#context.environment.clock.setTimer(slowActionMs, () => {
        if (!this.#gone) this.#writer.write(status())
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
    const isLeft = !this.#gone && this.#leaves(observation) !== undefined
    if (!isLeft && plan.actions.some(({ type }) => type === 'finish')) await this.#finish(status)
    return false
  }

  /**
   * Containers start together, but for those that come after one with a postStart hook: they wait for that, which is how people have one
   * wait for another. Rejects where a start does, but not before all have come to their end: the next pass would begin with them again.
   */
  async #startAll(starts: readonly StartAction[], observation: PodObservation): Promise<void> {
    const all: Promise<void>[] = []
    let hook: Promise<void> | undefined
    for (const action of starts) {
      const start = () => this.#start(action, observation)
      const started = hook?.then(() => (this.#ending ? undefined : start())) ?? start()
      all.push(started)
      if (action.container.lifecycle?.postStart !== undefined) hook = started.catch(() => {})
    }
    const results = await Promise.allSettled(all)
    this.#underWay = undefined
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /**
   * Where all containers start anew those of before are removed, and what the API does not show of them by then is lost, such as that they
   * have run at all: that is written first.
   */
  #wouldLoseTraces({ pod, runs }: PodObservation, actions: readonly PodAction[], status: () => OwnPodStatus): boolean {
    this.#awaitsWrite = false
    if (this.#gone || !isRestartingAll(pod, runs) || !actions.some(({ type }) => type === 'remove-container'))
      return false
    if (this.#writer.shows(status())) return false
    this.#awaitsWrite = true
    return true
  }

  /** What is left of former runs may resist: the pod goes on all the same. */
  async #cleanUp(action: PodAction, observation: PodObservation): Promise<void> {
    const { clock, logger } = this.#context.environment
    try {
      await this.#performOne(action, observation)
    } catch (error) {
      logger.warn('what is left of former runs has to stay for now', { pod: podKey(this.#pod), error })
      this.#cleanupAtMs = clock.now() + startRetryMs
    }
  }

  async #performOne(action: PodAction, { sandboxes }: PodObservation): Promise<void> {
    const { runtime, environment } = this.#context
    environment.logger.debug(action.type, { pod: podKey(this.#pod), because: action.because })
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
    return this.#telling('FailedKillPod', 'error killing pod', () => this.#context.runtime.stopPodSandbox(id))
  }

  /** Does something, and tells once where the runtime refuses it; that it is away the node says. */
  async #telling<T>(reason: string, prefix: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const message = `${prefix}: ${error instanceof Error ? error.message : String(error)}`
      if (this.#gone || error instanceof RuntimeUnavailableError || this.#toldProblem === message) throw error
      this.#toldProblem = message
      recordPodEvent(this.#context, this.#pod, 'Warning', reason, message)
      throw error
    }
  }

  /** What is left of the sandbox before, such as its network, is taken down first. */
  async #runSandbox(attempt: number, former: PodSandboxStatus | undefined): Promise<void> {
    if (attempt > 0) {
      const message = 'Pod sandbox changed, it will be killed and re-created.'
      recordPodEvent(this.#context, this.#pod, 'Normal', 'SandboxChanged', message)
    }
    if (former !== undefined) await this.#stopSandbox(former.id)
    await startSandbox(this.#context, this.#pod, attempt)
  }

  async #start(action: StartAction, { sandboxes }: PodObservation): Promise<void> {
    const { container, attempt, backOff } = action
    const { environment } = this.#context
    const sandbox = sandboxes.find(({ id }) => id === action.sandboxId)
    if (sandbox === undefined) return
    environment.logger.debug('start container', {
      pod: podKey(this.#pod),
      container: container.name,
      attempt,
      because: action.because,
    })
    if (backOff !== undefined) this.#troublesToNote().noteBackOff(container.name, backOff)
    const failure = await startContainer(
      this.#context,
      this.#pod,
      sandbox,
      this.#volumes.mounted,
      container,
      attempt,
      this.#endingSignal(),
    )
    if (failure === undefined) this.#troubles?.forgetFailure(container.name)
    // Where the command could not be run there is an ended container, and the back-off sees to it. It may have taken long to fail.
    else this.#troublesToNote().noteFailure(container, failure, environment.clock.now())
  }

  #troublesToNote(): StartTroubles {
    this.#troubles ??= new StartTroubles()
    return this.#troubles
  }

  #stopsToCome(): ContainerStops {
    this.#stops ??= new ContainerStops(
      this.#context,
      () => this.#addressOf(),
      () => this.wake(),
    )
    return this.#stops
  }

  #endingSignal(): AbortSignal {
    this.#underWay ??= new AbortController()
    if (this.#ending) this.#underWay.abort(endingReason)
    return this.#underWay.signal
  }

  #beginEnding(): void {
    this.#ending = true
    this.#underWay?.abort(endingReason)
  }

  #addressOf(): string {
    return this.#status?.podIP ?? this.#pod.status?.podIP ?? this.#context.nodeAddress
  }

  #tellFailure({ pod }: PodObservation, { failure }: PodPlan): void {
    if (failure === undefined || this.#toldFailure || pod.status?.reason === failure.reason) return
    this.#toldFailure = true
    recordPodEvent(this.#context, pod, 'Normal', failure.reason, failure.message)
  }

  /** The last word about a pod is its final status; then it may go. */
  async #finish(statusNow: () => OwnPodStatus): Promise<void> {
    if (this.#gone) {
      await this.#context.unmountVolumes?.(podUidOf(this.#pod))
      return this.#end()
    }
    const status = statusNow()
    if (!this.#writer.shows(status)) return this.#writer.write(status)
    if (this.#deleted) return
    // Whoever waits for the pod to go may do something with its volumes then.
    await this.#volumes.release(this.#pod)
    const { name = '', namespace = '', uid } = this.#pod.metadata
    try {
      await this.#context.client.delete(
        pods,
        { namespace, name },
        {
          gracePeriodSeconds: 0,
          ...(uid === undefined ? {} : { preconditions: { uid } }),
          ...agentCause(this.#pod, 'its containers have ended, and its final status is written', undefined),
        },
      )
      this.#deleted = true
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !(hasReason(error, 'Conflict') && (await this.#isReplaced()))) throw error
      // The watch tells that it is gone.
      this.#deleted = true
    }
  }

  /** Whether the API has no such pod any more, or another of its name. Who refuses a deletion, such as a webhook, may call that a conflict, too. */
  async #isReplaced(): Promise<boolean> {
    const { name = '', namespace = '', uid } = this.#pod.metadata
    try {
      return (await this.#context.client.get(pods, { namespace, name })).metadata.uid !== uid
    } catch (error) {
      if (hasReason(error, 'NotFound')) return true
      throw error
    }
  }

  #end(): void {
    this.#context.admission.release(podUidOf(this.#pod))
    this.#stopWork()
    this.#onFinished()
  }

  #stopWork(): void {
    this.#closed = true
    this.#beginEnding()
    this.#timer?.cancel()
    this.#writer.close()
    this.#probes?.close()
    this.#stops?.close()
    this.#context.metrics?.()?.forgetProbes(this.#pod)
  }

  #wakeIfAwaited(): void {
    if (this.#awaitsWrite) this.wake()
    if (this.#pod.metadata.deletionTimestamp !== undefined && !this.#deleted) this.wake()
  }

  #wakeAt(timeMs: number | undefined): void {
    this.#timer?.cancel()
    if (timeMs === undefined || this.#closed) return
    const { clock } = this.#context.environment
    this.#timer = clock.setTimer(timeMs - clock.now(), () => this.wake())
  }
}

/**
 * Given to `abort`, which otherwise makes a DOMException with its stack each time: 7 % of what it took to end 1,000 pods
 * on simulated nodes.
 */
const endingReason = new Error('the pod is ending')

const noResize: ResizeProgress = { inProgress: false }
const none: ReadonlyMap<string, never> = new Map<string, never>()
const noNames: ReadonlySet<string> = new Set()

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** Tells what only makes room: of a pod that is there, and does not start anew as a whole. */
function isCleanupOf({ gone, pod, runs }: PodObservation): (action: PodAction) => boolean {
  return ({ type }) =>
    (type === 'remove-container' || type === 'remove-sandbox') && !gone && !isRestartingAll(pod, runs)
}

type StartAction = Extract<PodAction, { readonly type: 'start-container' }>

function isStart(action: PodAction): action is StartAction {
  return action.type === 'start-container'
}

const hasBackOffs = ({ waiting }: PodPlan): boolean =>
  waiting.values().some(({ reason }) => reason === 'CrashLoopBackOff')

function isReady(status: Pick<OwnPodStatus, 'conditions'> | undefined): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}

import type { Pod } from '@coracle/api'
import { compareVersions } from '@coracle/client'
import type { Timer } from '@coracle/environment'
import type { PodOperation } from '../metrics/agent-metrics.ts'
import { ProbeRunner } from '../probes/probe-runner.ts'
import { RuntimeUnavailableError } from '../runtimes/runtime.ts'
import type { OwnPodStatus } from '../status/pod-status.ts'
import { type MountedVolumes, VolumesNotReadyError } from '../volumes/claimed-volumes.ts'
import { type ResizeProgress, withResourcesOf, withResourcesOfStatus } from './given-resources.ts'
import { currentSandbox, isOver, type PodObservation, planPod } from './plan-pod.ts'
import { PodActions } from './pod-actions.ts'
import { PodAdmission } from './pod-admission.ts'
import { ClockWatch, monotonicWholeMs } from './pod-clock.ts'
import type { PodContext } from './pod-context.ts'
import { PodDisruption } from './pod-disruption.ts'
import { PodEnding } from './pod-ending.ts'
import { podKey, podUidOf } from './pod-name.ts'
import { PodRemoval } from './pod-removal.ts'
import { PodReports, type ReportHost } from './pod-reports.ts'
import type { PodResizing } from './pod-resizing.ts'
import { PodVolumes } from './pod-volumes.ts'
import { RuntimeProblems } from './runtime-problems.ts'
import { SandboxError } from './sandbox-starter.ts'
import { startRetryMs } from './start-troubles.ts'

/** Passes a worker makes in one go. A pod needs a few; more than this is a plan that never comes true. */
const passesMax = 100

/** Passes of all the pods of an agent that start in one turn of the event loop, if the pods of its nodes are many. */
export const passesPerTurnMax = 64

/** A pass that failed unexpectedly is tried again after this, which doubles each time up to upstream's backOffPeriod, `startRetryMs`. */
const passRetryFirstMs = 1_000

/**
 * Brings one pod of this node to what the API wants of it, and reports how it is. One pass at a time: observe the
 * runtime, plan, act, and look again if anything was done; then write the status. Whatever happens - the pod changes, a
 * container stops, a probe's answer changes, a back-off ends - only wakes it.
 */
export class PodWorker implements ReportHost {
  readonly context: PodContext
  readonly #onFinished: () => void
  readonly ending: PodEnding
  readonly #admission: PodAdmission
  /** Of pods with processes to probe. */
  readonly #probes: ProbeRunner | undefined
  readonly #volumes: PodVolumes
  readonly #reports: PodReports
  readonly #problems: RuntimeProblems
  readonly #actions: PodActions
  readonly #removal: PodRemoval
  readonly #clockWatch: ClockWatch
  /** Made when the node is to end the pod by itself: most never are. */
  #disruption: PodDisruption | undefined
  /** Made with the first change of the pod: most never have one. */
  #resizing: PodResizing | undefined
  #pod: Pod
  /** The pod with the resources that its node has given it, until the first change of it; the generation in which these are what is asked for. */
  readonly #given: Pod
  readonly #givenGeneration: number | undefined
  #isGone = false
  #isUpdated = false
  #dirty = false
  #passRetryMs = passRetryFirstMs
  #running: Promise<void> | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(context: PodContext, pod: Pod, onFinished: () => void) {
    this.context = context
    this.#pod = pod
    this.#onFinished = onFinished
    const { clock } = context.environment
    const given = pod.status?.startTime === undefined ? pod : withResourcesOfStatus(pod)
    this.#given = given
    this.#givenGeneration = given === pod ? pod.metadata.generation : undefined
    this.ending = new PodEnding(clock, pod.metadata)
    this.#admission = new PodAdmission(this, pod, given)
    this.#clockWatch = new ClockWatch(clock)
    // What counts is loaded by the time that there is something to count.
    context.metrics?.()
    this.#volumes = new PodVolumes(context)
    this.#problems = new RuntimeProblems(this)
    this.#reports = new PodReports(this, pod, this.#admission)
    const parts = { volumes: this.#volumes, reports: this.#reports, problems: this.#problems }
    this.#actions = new PodActions(this, parts)
    this.#removal = new PodRemoval(this, this.#volumes, this.#reports.writer)
    this.#probes = context.runtime.runsProcesses ? new ProbeRunner(context, () => this.wake()) : undefined
  }

  get pod(): Pod {
    return this.#pod
  }

  get isGone(): boolean {
    return this.#isGone
  }

  get resizeProgress(): ResizeProgress | undefined {
    return this.#resizing?.progress
  }

  get restarting(): ReadonlySet<string> {
    return this.#actions.restarting
  }

  /** The status last worked out; undefined before the first pass. */
  get status(): OwnPodStatus | undefined {
    return this.#reports.status
  }

  /** Those of its volumes that are on the node. */
  get volumes(): MountedVolumes {
    return this.#volumes.mounted
  }

  /** A pod of the same identity, from the watch or a write; older ones are ignored. */
  update(pod: Pod): void {
    const [mine, theirs] = [this.#pod.metadata.resourceVersion, pod.metadata.resourceVersion]
    if (mine !== undefined && theirs !== undefined && compareVersions(theirs, mine) <= 0) return
    const isDeleted = pod.metadata.deletionTimestamp !== undefined
    if (isDeleted && this.#pod.metadata.deletionTimestamp === undefined) this.ending.noteDeleted()
    this.#pod = pod
    this.#isUpdated = true
    if (isDeleted) this.ending.begin()
    this.wake()
  }

  /** What was to be written of the pod is written. */
  statusWritten(): void {
    if (this.#actions.awaitsWrite) this.wake()
    if (this.#pod.metadata.deletionTimestamp !== undefined && !this.#removal.isDone) this.wake()
  }

  /** The pod is no longer in the API: everything of it goes. */
  remove(): void {
    this.#isGone = true
    // Whoever took it out of the API may have put another in its place already.
    this.context.admission.release(podUidOf(this.#pod))
    this.ending.begin()
    this.wake()
  }

  /** The node needs the room of the pod for a critical one, which lacks so named a resource. */
  preempt(resource: string): void {
    this.#disruptionToNote().preempt(resource)
  }

  /** The node does not keep the pod, by upstream's name of the signal: it goes, with at most so long to end. False where it stays: the system itself depends on it, or it is on its way. */
  evict(message: string, graceMaxMs: number, signal: string): boolean {
    return this.#disruptionToNote().evict(message, graceMaxMs, signal)
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
    const { metrics, environment } = this.context
    const [operation, beganMs] = [this.#operation(), environment.clock.monotonicMs()]
    for (let passes = 1; this.#dirty && !this.#closed; passes++) {
      await this.context.turns.take()
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
    if (this.ending.isBegun) return 'kill'
    return this.status === undefined ? 'create' : isUpdated ? 'update' : 'sync'
  }

  #noteFailedPass(error: unknown): void {
    const { clock, logger } = this.context.environment
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
    await this.#admission.ask()
    this.#followClock()
    await this.#prepare()
    const observation = await this.#observe()
    if (!this.ending.isBegun) await this.#resizing?.updateContainers(this.#pod, observation.runs)
    const plan = planPod(observation)
    const leavesUntilMs = this.#removal.leavesUntilMs(observation)
    this.#wakeAt(earliest(leavesUntilMs, plan.wakeAtMs, this.#upkeepAtMs(observation.nowMs)))
    this.#actions.tellBackOffs(observation, plan)
    if (plan.failure !== undefined) this.#disruptionToNote().tellFailure(observation, plan)
    const status = this.#reports.statusOnce(observation, plan)
    this.#reports.showLoss(observation, plan, status)
    this.#reports.showVolumes(status)
    if (await this.#actions.carryOut(plan, observation, status)) this.#dirty = true
    else {
      const mayFinish = this.#isGone || leavesUntilMs === undefined
      if (mayFinish && plan.actions.some(({ type }) => type === 'finish')) await this.#finish(status)
      if (isOver(this.#pod) && observation.runs.every(({ state }) => state !== 'running'))
        await this.#volumes.release(this.#pod)
    }
    // Where there is news already the next pass, which follows at once, writes what they make of the status.
    if (!this.#dirty && !this.#isGone && !this.#removal.isDone && leavesUntilMs === undefined)
      this.#reports.writer.write(status())
  }

  /** Sees to the resources and the volumes of the pod. One that is ending, or has ended, needs neither. */
  async #prepare(): Promise<void> {
    const goesOn = () => this.#admission.refusal === undefined && !this.ending.isBegun && !isOver(this.#pod)
    if (goesOn()) await this.#loadResizing()
    if (goesOn()) this.#resizing?.judge(this.#pod)
    if (!goesOn()) return
    const refusal = await this.#volumes.mount(this.#pod)
    if (refusal !== undefined) this.#admission.refuse(refusal)
  }

  /** Only a change of its spec may be one of its resources. */
  async #loadResizing(): Promise<void> {
    if (this.#resizing !== undefined || this.#pod.metadata.generation === this.#givenGeneration) return
    const { PodResizing } = await this.context.environment.clock.hold(import('./pod-resizing.ts'))
    this.#resizing = new PodResizing(this.context, this.#given, this.#givenGeneration, () => this.wake())
  }

  /** The pod as its node has taken it on. What is ending is judged no more. A change that comes while a pass is under way is judged in the next. */
  #asGiven(): Pod {
    const isEnding = this.ending.isBegun
    if (this.#resizing !== undefined) return this.#resizing.asGiven(this.#pod, isEnding)
    const isJudged = isEnding || this.#pod.metadata.generation === this.#givenGeneration
    return isJudged ? this.#pod : withResourcesOf(this.#pod, this.#given.spec)
  }

  async #observe(): Promise<PodObservation> {
    const { runtime, environment, deadContainers } = this.context
    const uid = podUidOf(this.#pod)
    const [sandboxes, runs] = await this.#problems.telling('FailedSync', 'error determining status', () =>
      Promise.all([runtime.listPodSandboxes(uid), runtime.listContainers(uid)]),
    )
    this.#probes?.follow(this.#pod, currentSandbox({ sandboxes }), runs)
    this.#actions.observe(runs)
    const monotonicMs = monotonicWholeMs(environment.clock)
    return {
      pod: this.#asGiven(),
      resized: this.#resizing?.runsToEnd(this.#pod, runs) ?? noRuns,
      gone: this.#isGone,
      deletedForMs: this.ending.deletedForMs(monotonicMs),
      sandboxes,
      runs,
      ...this.#actions.observed,
      probes: this.#probes?.states ?? none,
      unhealthy: this.#probes?.unhealthy ?? none,
      refused: this.#admission.refusal !== undefined,
      ...this.#disruption?.observed,
      ...(deadContainers === undefined ? {} : { deadContainers }),
      volumesRetryAtMs: this.#volumes.retryAtMs,
      startTimeMs: this.#admission.startTimeMs,
      nowMs: environment.clock.now(),
      monotonicMs,
    }
  }

  /** What is waited for takes as long as was meant where the clock was set meanwhile. */
  #followClock(): void {
    const setMs = this.#clockWatch.look()
    if (setMs === 0) return
    this.#volumes.followClock(setMs)
    this.#actions.followClock(setMs)
  }

  /** When there is something to see to whatever the plan is. */
  #upkeepAtMs(nowMs: number): number | undefined {
    const volumesAtMs = this.ending.isBegun || isOver(this.#pod) ? undefined : this.#volumes.refreshAtMs
    return earliest(this.#actions.cleanupAtMs(nowMs), this.#resizing?.retryAtMs, volumesAtMs)
  }

  async #finish(status: () => OwnPodStatus): Promise<void> {
    if (!(await this.#removal.finish(status))) return
    this.context.admission.release(podUidOf(this.#pod))
    this.#stopWork()
    this.#onFinished()
  }

  #stopWork(): void {
    this.#closed = true
    this.ending.begin()
    this.#timer?.cancel()
    this.#reports.writer.close()
    this.#probes?.close()
    this.#actions.close()
    this.context.metrics?.()?.forgetProbes(this.#pod)
  }

  #disruptionToNote(): PodDisruption {
    this.#disruption ??= new PodDisruption(this)
    return this.#disruption
  }

  #wakeAt(timeMs: number | undefined): void {
    this.#timer?.cancel()
    if (timeMs === undefined || this.#closed) return
    const { clock } = this.context.environment
    this.#timer = clock.setTimer(timeMs - clock.now(), () => this.wake())
  }
}

const none: ReadonlyMap<string, never> = new Map<string, never>()
const noRuns: ReadonlySet<string> = new Set()

function earliest(...timesMs: readonly (number | undefined)[]): number | undefined {
  const known = timesMs.filter((timeMs) => timeMs !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

import {
  type Container,
  claimsOfPod,
  deepEqual,
  hasReason,
  type ObjectMeta,
  type Pod,
  type PodSpec,
  parseTime,
  pods,
  type ResourceRequirements,
  type Volume,
} from '@coracle/api'
import { compareVersions } from '@coracle/client'
import type { Timer } from '@coracle/environment'
import { isCritical } from '../admission/preemption.ts'
import { agentCause } from '../agent-cause.ts'
import type { IsolatingNode } from '../isolation/sandbox-isolation.ts'
import type { PodOperation } from '../metrics/agent-metrics.ts'
import { ProbeRunner } from '../probes/probe-runner.ts'
import {
  type ContainerRuntimeStatus,
  type PodSandboxStatus,
  RuntimeUnavailableError,
  type SandboxIsolation,
} from '../runtimes/runtime.ts'
import { runsOf, type WaitingReason } from '../status/container-statuses.ts'
import { type OwnPodStatus, podStatus, refusalOf, refusedStatus } from '../status/pod-status.ts'
import { hadVolumes, type MountedVolumes, VolumesNotReadyError } from '../volumes/claimed-volumes.ts'
import { needsVolumes } from '../volumes/mount-volumes.ts'
import { isMadeOfFiles } from '../volumes/volume-files.ts'
import type { BackOff } from './back-off.ts'
import { startContainer } from './container-starter.ts'
import { ContainerStops } from './container-stops.ts'
import { type ImageFailure, imagePullBackOff } from './image-pull.ts'
import {
  currentSandbox,
  isOver,
  latestSandbox,
  type PodAction,
  type PodObservation,
  type PodPlan,
  planPod,
  preempting,
  type StartFailure,
} from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent, recordPodEvent } from './pod-events.ts'
import { podHostname } from './pod-hostname.ts'
import { podKey, podText, podUidOf } from './pod-name.ts'
import {
  isResized,
  resizedInPlace,
  resizeText,
  restartedForResize,
  withResourcesOf,
  withResourcesOfStatus,
} from './pod-resize.ts'
import { ResourceUpdates } from './resource-updates.ts'
import { isRestartingAll } from './restart-all.ts'
import { StatusWriter, type StatusWriterHost } from './status-writer.ts'
import { deletedByTimestampMs } from './stop-containers.ts'

/** Passes a worker makes in one go. A pod needs a few; more than this is a plan that never comes true. */
const passesMax = 100

/** Passes of all the pods of an agent that start in one turn of the event loop, if the pods of its nodes are many. */
export const passesPerTurnMax = 64

/** A start that failed for its configuration is tried again after this: upstream's backOffPeriod. */
export const startRetryMs = 10_000
/** Volumes that are not there are looked for again after this, which doubles each time up to the longest. */
const volumesRetryFirstMs = 500
const volumesRetryMaxMs = 30_000
/** Volumes that show other objects are brought up to date as often as this: upstream's sync period. */
const volumesRefreshMs = 60_000
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
  /** Undefined until they are there. */
  #volumes: MountedVolumes | undefined
  #volumesRetryMs = volumesRetryFirstMs
  #volumesRetryAtMs: number | undefined
  #toldVolumes = ''
  #areVolumesReleased = false
  /** What of the pod its volumes show, and until when that is good. Undefined where nothing in them changes. */
  #volumesShow: VolumesShow | undefined
  readonly #startTimeMs: number
  /** Whether the pod is to end. */
  #ending: boolean
  /** When the pod was seen to be deleted, in whole milliseconds of the monotonic clock; undefined where it is not. */
  #deletedAtMs: number | undefined
  /** While the node is asked and while containers start: aborted when the pod is to end. See `endingReason`. */
  #underWay: AbortController | undefined
  #pod: Pod
  /** What the node has given the pod: of resources it may be less than what is asked for. */
  #givenSpec: PodSpec
  #judgedGeneration: number | undefined
  #resizeRefusal: WaitingReason | undefined
  /** Containers that are to start anew for their resources, by name. */
  #resizing: ReadonlyMap<string, RestartForResize> = none
  /** Made when containers that run are to have other resources: most pods never need it. */
  #updates: ResourceUpdates | undefined
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
    this.#givenSpec = given.spec
    this.#judgedGeneration = given === pod ? pod.metadata.generation : undefined
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
    else if (error instanceof VolumesNotReadyError) this.#warnOfVolumes(error.message)
    else logger.error('pod worker failed', { pod, error })
    const waitsLong = error instanceof SandboxError || error instanceof VolumesNotReadyError
    this.#wakeAt(clock.now() + (waitsLong ? startRetryMs : this.#passRetryMs))
    this.#passRetryMs = Math.min(2 * this.#passRetryMs, startRetryMs)
  }

  /** A driver may be away for long. */
  #warnOfVolumes(problem: string): void {
    if (this.#toldVolumes === problem) return
    this.#toldVolumes = problem
    const { logger } = this.#context.environment
    logger.warn('volumes of a pod have to stay for now', { pod: podKey(this.#pod), error: problem })
  }

  async #pass(): Promise<void> {
    if (!this.#asked) await this.#askForAdmission()
    this.#followClock()
    this.#resize()
    await this.#mountVolumes()
    const observation = await this.#observe()
    await this.#updateResources(observation.runs)
    const plan = planPod(observation)
    const leavesUntilMs = this.#leaves(observation)
    if ((this.#cleanupAtMs ?? observation.nowMs) <= observation.nowMs) this.#cleanupAtMs = undefined
    const volumesUntilMs = this.#ending || isOver(this.#pod) ? undefined : this.#volumesShow?.untilMs
    const updateAtMs = earlier(this.#cleanupAtMs, earlier(this.#updates?.retryAtMs, volumesUntilMs))
    this.#wakeAt(earlier(leavesUntilMs, earlier(plan.wakeAtMs, updateAtMs)))
    this.#tellBackOffs(observation, plan)
    this.#tellFailure(observation, plan)
    const status = this.#statusOnce(observation, plan)
    this.#showLoss(observation, plan, status)
    this.#showVolumes(status)
    if (await this.#perform(plan, observation, status)) this.#dirty = true
    else if (isOver(this.#pod) && observation.runs.every(({ state }) => state !== 'running'))
      await this.#releaseVolumes()
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

  /** Gives the pod the resources that are asked for, where the node can spare them. Each generation is judged once, and while it waits. */
  #resize(): void {
    const pod = this.#pod
    const { generation } = pod.metadata
    const isNew = this.#judgedGeneration !== generation
    if (!isNew && this.#resizeRefusal === undefined) return
    if (this.#refusal !== undefined || this.#ending || isOver(pod)) return
    const before = this.#givenSpec
    const isOther = isResized(pod.spec, before)
    const { admission } = this.#context
    if (!isOther) admission.withdraw(podUidOf(pod))
    const refusal = !isOther ? undefined : admission.resize(podUidOf(pod), pod, () => this.wake())
    const isKnown = !isNew && this.#resizeRefusal !== undefined
    this.#judgedGeneration = generation
    this.#resizeRefusal = refusal
    if (refusal !== undefined) {
      const { reason, message } = refusal
      const told = `Pod resize ${reason}: ${resizeText(pod.spec, generation, message)}`
      if (!isKnown) recordPodEvent(this.#context, pod, 'Warning', 'ResizeDeferred', told)
      return
    }
    this.#givenSpec = pod.spec
    if (!isOther) return
    for (const { name, resources = {} } of restartedForResize(pod.spec, before)) {
      const known = this.#resizing.get(name)
      this.#resizingToNote().set(name, { runId: undefined, before: known?.before ?? resources })
    }
    if (this.#updatesResources) {
      this.#updates ??= new ResourceUpdates()
      this.#updates.expect(resizedInPlace(pod.spec, before), before)
    }
    recordPodEvent(
      this.#context,
      pod,
      'Normal',
      'ResizeStarted',
      `Pod resize started: ${resizeText(pod.spec, generation)}`,
    )
    if (!this.#isResizing) this.#tellResized()
  }

  /** Whether containers that run have limits that can be changed. */
  get #updatesResources(): boolean {
    const { runtime, isolation } = this.#context
    return isolation !== undefined && runtime.updateContainerResources !== undefined
  }

  /** Whether the node has given the pod all that is asked for. A change that comes while a pass is under way is judged in the next. */
  get #isJudged(): boolean {
    return (
      this.#resizeRefusal === undefined && (this.#ending || this.#judgedGeneration === this.#pod.metadata.generation)
    )
  }

  get #isResizing(): boolean {
    return this.#resizing.size > 0 || this.#updates?.isDone === false
  }

  /** Gives containers that run and go on the resources that they are to have now, where the runtime limits them. */
  async #updateResources(runs: readonly ContainerRuntimeStatus[]): Promise<void> {
    const { runtime, isolation, environment } = this.#context
    const updates = this.#updates
    if (updates === undefined || updates.isDone || isolation === undefined || this.#ending) return
    const told = updates.error
    const pod = { ...this.#pod, spec: this.#givenSpec }
    await updates.carryOut(runtime, {
      pod,
      runs,
      nodeMemoryBytes: isolation.memoryBytes,
      nowMs: environment.clock.now(),
    })
    const { error } = updates
    if (error !== undefined && error !== told) {
      const text = resizeText(pod.spec, pod.metadata.generation, error)
      recordPodEvent(this.#context, this.#pod, 'Warning', 'ResizeError', `Pod resize error: ${text}`)
    }
    if (updates.isDone && !this.#isResizing) this.#tellResized()
  }

  #resizingToNote(): Map<string, RestartForResize> {
    if (this.#resizing === none) this.#resizing = new Map()
    return this.#resizing as Map<string, RestartForResize>
  }

  /** What containers run with that are to have something else, by name: until they have it, whoever looks after the pod next goes by that. */
  #actualResources(): ReadonlyMap<string, ResourceRequirements> | undefined {
    const updated = this.#updates?.actual
    if (this.#resizing.size === 0) return updated
    return new Map([...(updated ?? []), ...[...this.#resizing].map(([name, { before }]) => [name, before] as const)])
  }

  #tellResized(): void {
    const told = resizeText(this.#pod.spec, this.#pod.metadata.generation)
    recordPodEvent(this.#context, this.#pod, 'Normal', 'ResizeCompleted', `Pod resize completed: ${told}`)
  }

  /** The runs that have yet to end for their resources: what runs after them has the new ones. */
  #followResize(runs: readonly ContainerRuntimeStatus[]): ReadonlySet<string> {
    if (this.#resizing.size === 0) return noNames
    const resizing = this.#resizingToNote()
    const ending = new Set<string>()
    for (const [name, { runId, before }] of resizing) {
      const run = runsOf(name, runs).find(({ state }) => state === 'running')
      // One that does not run has what it is to have with its next start, if there is one.
      if (runId === undefined ? run === undefined : run !== undefined && run.id !== runId) resizing.delete(name)
      else if (run !== undefined) {
        resizing.set(name, { runId: run.id, before })
        ending.add(run.id)
      }
    }
    if (!this.#isResizing) this.#tellResized()
    return ending
  }

  /** Those of its volumes that are on the node. */
  get volumes(): MountedVolumes {
    return this.#volumes ?? noVolumes
  }

  /** Looks for the volumes of the pod until they are there. A pod that is ending, or has ended, needs none. */
  async #mountVolumes(): Promise<void> {
    if (this.#refusal !== undefined || this.#ending || isOver(this.#pod)) return
    if (this.#volumes !== undefined && !this.#areVolumesStale()) return
    if (!needsVolumes(this.#pod)) {
      this.#volumes = noVolumes
      return
    }
    const { environment, mountVolumes } = this.#context
    const nowMs = environment.clock.now()
    if (nowMs < (this.#volumesRetryAtMs ?? nowMs)) return
    try {
      this.#volumes = await mountVolumes(this.#pod, this.#volumes)
      this.#volumesRetryAtMs = undefined
      this.#noteVolumesMounted(nowMs)
    } catch (error) {
      if (!(error instanceof VolumesNotReadyError)) return this.#passOverStale(error, nowMs)
      if (error.refusal !== undefined) return this.#refuse({ reason: error.refusal, message: error.message })
      if (this.#volumes === undefined) {
        this.#volumesRetryAtMs = nowMs + this.#volumesRetryMs
        this.#volumesRetryMs = Math.min(2 * this.#volumesRetryMs, volumesRetryMaxMs)
      } else this.#noteVolumesMounted(nowMs)
      if (error.isWaiting || this.#toldVolumes === error.message) return
      this.#toldVolumes = error.message
      recordPodEvent(this.#context, this.#pod, 'Warning', error.reason, error.message)
    }
  }

  /** A pod goes on with the volumes that it has, such as while the API is away or the disk is full. Throws where it has yet to get them. */
  #passOverStale(error: unknown, nowMs: number): void {
    if (this.#volumes === undefined) throw error
    const { logger } = this.#context.environment
    logger.warn('volumes of a pod were not brought up to date, trying again', { pod: podKey(this.#pod), error })
    this.#noteVolumesMounted(nowMs)
  }

  /** Volumes that show what others may change are looked after from time to time, and where what they show of the pod has changed. */
  #noteVolumesMounted(nowMs: number): void {
    if (this.#context.unmountVolumes === undefined || !showsOthers(this.#pod)) return
    const { labels, annotations } = this.#pod.metadata
    this.#volumesShow = { labels, annotations, untilMs: nowMs + volumesRefreshMs }
  }

  #areVolumesStale(): boolean {
    if (this.#volumesShow === undefined || isOver(this.#pod)) return false
    const { labels, annotations, untilMs } = this.#volumesShow
    const { metadata } = this.#pod
    if (this.#context.environment.clock.now() >= untilMs) return true
    return !deepEqual(labels, metadata.labels) || !deepEqual(annotations, metadata.annotations)
  }

  async #observe(): Promise<PodObservation> {
    const { runtime, environment, deadContainers } = this.#context
    const uid = podUidOf(this.#pod)
    const [sandboxes, runs] = await this.#telling('FailedSync', 'error determining status', () =>
      Promise.all([runtime.listPodSandboxes(uid), runtime.listContainers(uid)]),
    )
    this.#probes?.follow(this.#pod, currentSandbox({ sandboxes }), runs)
    for (const { name, state } of runs) if (state === 'running') this.#troubles?.failures.delete(name)
    this.#stops?.observe(runs)
    const monotonicMs = this.#monotonicMs()
    return {
      pod: this.#isJudged ? this.#pod : withResourcesOf(this.#pod, this.#givenSpec),
      resized: this.#followResize(runs),
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
      volumesRetryAtMs: this.#volumesRetryAtMs,
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
    if (this.#volumesRetryAtMs !== undefined) this.#volumesRetryAtMs += setMs
    if (this.#cleanupAtMs !== undefined) this.#cleanupAtMs += setMs
    const { failures = none } = this.#troubles ?? {}
    for (const [name, failure] of failures)
      this.#troublesToNote().failures.set(name, { ...failure, retryAtMs: failure.retryAtMs + setMs })
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
      resize: {
        pending: this.#resizeRefusal,
        inProgress: this.#isResizing,
        error: this.#updates?.error,
        actual: this.#actualResources(),
      },
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

  /** A pod that has ended needs its volumes of drivers and those in memory no longer, however long it stays in the API. */
  async #releaseVolumes(): Promise<void> {
    if (this.#areVolumesReleased || this.#pod.spec.volumes?.some(isReleased) !== true) return
    await this.#context.releaseVolumes?.(podUidOf(this.#pod))
    this.#areVolumesReleased = true
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
    const { name = '', namespace = '' } = this.#pod.metadata
    const { spec, status } = this.#pod
    const { isolation } = this.#context
    const preferredAddress = status?.podIP
    if (attempt > 0) {
      const message = 'Pod sandbox changed, it will be killed and re-created.'
      recordPodEvent(this.#context, this.#pod, 'Normal', 'SandboxChanged', message)
    }
    if (former !== undefined) await this.#stopSandbox(former.id)
    try {
      await this.#context.runtime.runPodSandbox({
        podUid: podUidOf(this.#pod),
        podName: name,
        podNamespace: namespace,
        attempt,
        hostname: podHostname(this.#pod, isolation?.dns.domain),
        hostNetwork: spec.hostNetwork === true,
        ...(isolation === undefined ? {} : { isolation: await this.#isolation(isolation) }),
        ...(spec.hostUsers === false && isolation === undefined ? { ownUsers: true } : {}),
        ...(preferredAddress === undefined ? {} : { preferredAddress }),
      })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      recordPodEvent(
        this.#context,
        this.#pod,
        'Warning',
        'FailedCreatePodSandBox',
        `Failed to create pod sandbox: ${message}`,
      )
      throw isolation === undefined ? error : new SandboxError(message, { cause: error })
    }
    await this.#warnOfPullSecrets()
  }

  /** Loaded where pods are isolated. */
  async #isolation(node: IsolatingNode): Promise<SandboxIsolation> {
    const { sandboxIsolation } = await import('../isolation/sandbox-isolation.ts')
    const { dnsProblem, ...isolation } = await sandboxIsolation(this.#pod, node)
    if (dnsProblem !== undefined) recordPodEvent(this.#context, this.#pod, 'Warning', 'MissingClusterDNS', dnsProblem)
    return isolation
  }

  /** Images that need none of the secrets that are missing can be had all the same. */
  async #warnOfPullSecrets(): Promise<void> {
    const { metadata, spec } = this.#pod
    const missing: string[] = []
    for (const { name = '' } of spec.imagePullSecrets ?? []) {
      if (name === '') continue
      const secret = await this.#context.sources.secret(metadata.namespace ?? '', name).catch(() => undefined)
      if (secret === undefined) missing.push(name)
    }
    if (missing.length === 0) return
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`
    recordPodEvent(this.#context, this.#pod, 'Warning', 'FailedToRetrieveImagePullSecret', message)
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
    if (backOff !== undefined) this.#troublesToNote().backOffs.set(container.name, backOff)
    const failure = await startContainer(
      this.#context,
      this.#pod,
      sandbox,
      this.#volumes ?? noVolumes,
      container,
      attempt,
      this.#endingSignal(),
    )
    if (failure === undefined) this.#troubles?.failures.delete(container.name)
    // Where the command could not be run there is an ended container, and the back-off sees to it. It may have taken long to fail.
    else this.#noteFailure(container, failure, environment.clock.now())
  }

  #noteFailure(container: Container, failure: ImageFailure, nowMs: number): void {
    const { failures } = this.#troublesToNote()
    failures.set(
      container.name,
      imagePullBackOff(container, failure, failures.get(container.name), nowMs) ?? {
        ...failure,
        ...(container.image === undefined ? {} : { image: container.image }),
        retryAtMs: nowMs + startRetryMs,
        endsRun: endsRun.has(failure.reason),
      },
    )
  }

  #troublesToNote(): StartTroubles {
    this.#troubles ??= { backOffs: new Map(), failures: new Map(), toldBackOffs: new Map() }
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

  /** Tells of each wait once, not on every look. */
  #tellBackOffs({ pod, runs }: PodObservation, plan: PodPlan): void {
    for (const [name, { reason }] of plan.waiting) {
      const attempt = runsOf(name, runs)[0]?.attempt
      if (reason !== 'CrashLoopBackOff' || this.#troubles?.toldBackOffs.get(name) === attempt) continue
      this.#troublesToNote().toldBackOffs.set(name, attempt)
      const message = `Back-off restarting failed container ${name} in pod ${podText(pod)}`
      recordContainerEvent(this.#context, pod, { name }, 'Warning', 'BackOff', message)
    }
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
    await this.#releaseVolumes()
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

const noVolumes: MountedVolumes = new Map()
const none: ReadonlyMap<string, never> = new Map<string, never>()
const noNames: ReadonlySet<string> = new Set()

/** A container that is to start anew for its resources. */
interface RestartForResize {
  /** Its run until then; undefined until it is looked for. */
  readonly runId: string | undefined
  /** What it runs with until then. */
  readonly before: ResourceRequirements
}

interface VolumesShow {
  readonly labels: ObjectMeta['labels']
  readonly annotations: ObjectMeta['annotations']
  readonly untilMs: number
}

const isReleased = ({ emptyDir, csi, persistentVolumeClaim, ephemeral }: Volume): boolean =>
  emptyDir?.medium === 'Memory' || (csi ?? persistentVolumeClaim ?? ephemeral) !== undefined

const showsOthers = ({ spec }: Pod): boolean => spec.volumes?.some(isMadeOfFiles) === true

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** What did not go well with the starts of containers, by name. */
interface StartTroubles {
  readonly backOffs: Map<string, BackOff>
  readonly failures: Map<string, StartFailure>
  /** Back-offs that were told of: the run of each container that they follow. */
  readonly toldBackOffs: Map<string, number | undefined>
}

/** A sandbox could not be made, which takes a runtime that isolates pods some effort: it is tried again after a while. */
class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/** Failures that leave an ended container behind, unless the runtime has not come so far. */
const endsRun: ReadonlySet<string> = new Set(['RunContainerError', 'PostStartHookError'])

/** Tells what only makes room: of a pod that is there, and does not start anew as a whole. */
function isCleanupOf({ gone, pod, runs }: PodObservation): (action: PodAction) => boolean {
  return ({ type }) =>
    (type === 'remove-container' || type === 'remove-sandbox') && !gone && !isRestartingAll(pod, runs)
}

type StartAction = Extract<PodAction, { readonly type: 'start-container' }>

function isStart(action: PodAction): action is StartAction {
  return action.type === 'start-container'
}

function isReady(status: Pick<OwnPodStatus, 'conditions'> | undefined): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}

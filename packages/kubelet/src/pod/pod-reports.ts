import { type ContainerStateTerminated, claimsOfPod, type Pod } from '@coracle/api'
import type { ContainerType } from '../metrics/agent-metrics.ts'
import { type OwnPodStatus, podStatus, refusedStatus } from '../status/pod-status.ts'
import { hadVolumes } from '../volumes/claimed-volumes.ts'
import type { ResizeProgress } from './given-resources.ts'
import { latestSandbox, type PodObservation, type PodPlan } from './plan-pod.ts'
import type { PodAdmission } from './pod-admission.ts'
import type { PodHost } from './pod-host.ts'
import { podUidOf } from './pod-name.ts'
import { StatusWriter, type StatusWriterHost } from './status-writer.ts'

/** A worker whose pod's status is reported. */
export interface ReportHost extends PodHost, Pick<StatusWriterHost, 'update' | 'statusWritten'> {
  /** How far a change of the pod's resources is; undefined where there is none. */
  readonly resizeProgress: ResizeProgress | undefined
  /** Runs that start again however they end, by id: stops of the same pass included. */
  readonly restarting: ReadonlySet<string>
}

/** How one pod is: works its status out, and decides which is written at once. */
export class PodReports implements StatusWriterHost {
  readonly #host: ReportHost
  readonly #admission: PodAdmission
  readonly writer: StatusWriter
  #status: OwnPodStatus | undefined
  /** Since when a pod is on its way to run, where that is counted. */
  #startingSinceMs: number | undefined

  constructor(host: ReportHost, pod: Pod, admission: PodAdmission) {
    this.#host = host
    this.#admission = admission
    const { environment, metrics } = host.context
    this.writer = new StatusWriter(host.context, this)
    if (metrics !== undefined && (pod.status?.phase ?? 'Pending') === 'Pending')
      this.#startingSinceMs = environment.clock.monotonicMs()
  }

  get pod(): Pod {
    return this.#host.pod
  }

  update(pod: Pod): void {
    this.#host.update(pod)
  }

  /** Of two that are alike one is enough. */
  statusShown(status: OwnPodStatus): void {
    if (this.#status === status) this.#status = this.#host.pod.status
  }

  statusWritten(): void {
    this.#host.statusWritten()
  }

  /** The status last worked out; undefined before the first pass. */
  get status(): OwnPodStatus | undefined {
    return this.#status
  }

  /** The status, worked out when first asked for: of the passes that bring up or end a pod only the last shows one. */
  statusOnce(observation: PodObservation, plan: PodPlan): () => OwnPodStatus {
    let status: OwnPodStatus | undefined
    return () => {
      status ??= this.#workOut(observation, plan)
      if (this.#startingSinceMs !== undefined && status.phase !== 'Pending') this.#noteStarted(status)
      const rests = observation.runs.every(({ state }) => state !== 'running')
      if (rests && (status.phase === 'Succeeded' || status.phase === 'Failed'))
        this.#host.context.admission.release(podUidOf(this.#host.pod))
      return status
    }
  }

  #workOut(observation: PodObservation, plan: PodPlan): OwnPodStatus {
    const before = this.#status ?? this.#host.pod.status
    const status = this.#statusFor(observation, plan)
    this.#status = status
    const metrics = this.#host.context.metrics?.()
    if (metrics !== undefined)
      for (const [type, ended] of newlyEnded(before, status)) metrics.containerEnded(type, ended)
    return status
  }

  /**
   * A pod that was ready and is not is shown at once: others send it requests, as they do not to one being deleted. Of one whose
   * containers have all ended for good only its sandbox is left to stop, and one write tells both.
   */
  showLoss({ runs }: PodObservation, { terminal }: PodPlan, status: () => OwnPodStatus): void {
    const { pod, isGone } = this.#host
    if (isGone || pod.metadata.deletionTimestamp !== undefined) return
    if (terminal && runs.every(({ state }) => state !== 'running')) return
    if (isReady(pod.status) && !isReady(status())) this.writer.write(status())
  }

  /** A pod that has its claims is shown to have them before its containers start: who looks after it next goes by that (`hadVolumes`). */
  showVolumes(status: () => OwnPodStatus): void {
    const { pod, isGone } = this.#host
    if (isGone || hadVolumes(pod.status) || claimsOfPod(pod).length === 0) return
    const now = status()
    if (hadVolumes(now)) this.writer.write(now)
  }

  #statusFor({ pod, sandboxes, runs, probes, startTimeMs, nowMs }: PodObservation, plan: PodPlan): OwnPodStatus {
    const { refusal } = this.#admission
    if (refusal !== undefined) return refusedStatus(pod, refusal, startTimeMs, nowMs)
    const { nodeAddress, runtime } = this.#host.context
    return podStatus({
      pod,
      sandbox: latestSandbox(sandboxes),
      runs,
      waiting: plan.waiting,
      probes,
      restarting: this.#host.restarting,
      terminal: plan.terminal,
      ended: plan.ended,
      failure: plan.failure,
      resize: this.#host.resizeProgress ?? noResize,
      startTimeMs,
      nodeAddress,
      runtimeName: runtime.name,
      nowMs,
    })
  }

  #noteStarted({ phase }: OwnPodStatus): void {
    const { metrics, environment } = this.#host.context
    if (phase === 'Running') metrics?.()?.podStarted(environment.clock.monotonicMs() - (this.#startingSinceMs ?? 0))
    this.#startingSinceMs = undefined
  }
}

const statusesOf = {
  init_container: 'initContainerStatuses',
  container: 'containerStatuses',
  ephemeral_container: 'ephemeralContainerStatuses',
} as const

/** How containers have ended that had not before. */
function newlyEnded(
  before: Partial<OwnPodStatus> | undefined,
  now: OwnPodStatus,
): readonly (readonly [ContainerType, ContainerStateTerminated])[] {
  return (['init_container', 'container', 'ephemeral_container'] as const).flatMap((type) => {
    const statuses = statusesOf[type]
    return (now[statuses] ?? []).flatMap(({ name, state }) => {
      const ended = state?.terminated
      const isOld = before?.[statuses]?.some((each) => each.name === name && each.state?.terminated !== undefined)
      return ended === undefined || isOld === true ? [] : [[type, ended] as const]
    })
  })
}

const noResize: ResizeProgress = { inProgress: false }

function isReady(status: Pick<OwnPodStatus, 'conditions'> | undefined): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}

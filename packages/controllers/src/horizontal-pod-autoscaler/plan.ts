import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
  Pod,
  Resource,
  Scale,
} from '@coracle/api'
import { formatTime, quantityToNumber, type ScalingRules } from '@coracle/api'
import { type Action, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { type Limited, limit, limitByRules } from './limits.ts'
import { firstMemory, type Memory, upTo, withScaleEvent } from './memory.ts'
import { type Proposal, proposalOf } from './metric-proposals.ts'
import type { Reading } from './readings.ts'
import type { Tolerances } from './replica-calculator.ts'
import { downscaleStabilizationSeconds, type Stabilized, stabilize, stabilizeDown } from './stabilization.ts'
import { syncPeriodMs } from './turns.ts'

/** How far a metric may be off its target before anything changes, where the autoscaler does not say. */
export const toleranceDefault = 0.1

/** What is scaled: how many there are of it. */
export interface ScaleTarget {
  readonly resource: Resource
  readonly scale: Scale
}

/** The pods behind what is scaled, and what was read of each metric, in the order of the spec. */
export interface Workload {
  readonly pods: readonly Pod[]
  readonly readings: readonly Reading[]
}

/** Why it cannot be told which pods count. */
export interface SelectorProblem {
  readonly reason: 'InvalidSelector' | 'AmbiguousSelector'
  /** In the condition. */
  readonly message: string
  readonly event: { readonly reason: string; readonly message: string }
}

export interface ObservedAutoscaler {
  readonly autoscaler: HorizontalPodAutoscaler
  readonly target: ScaleTarget | { readonly error: string }
  /** Absent where the count does not depend on metrics, see `needsMetrics`; `steady` where whatever they are it is right. */
  readonly workload?: Workload | SelectorProblem | 'steady' | undefined
  /** Absent at the first look. */
  readonly memory?: Memory | undefined
}

export interface AutoscalerPlan extends Plan<HorizontalPodAutoscalerStatus> {
  /** What to remember; absent where nothing was learnt. */
  readonly memory?: Memory | undefined
  /** What to remember once the count is changed. */
  readonly memoryOnceScaled?: Memory | undefined
}

type MeasuredWorkload = Workload | SelectorProblem | undefined

/** Whether the count depends on metrics now: it is within its bounds, and scaling is not switched off by a count of zero. */
export function needsMetrics({ spec }: HorizontalPodAutoscaler, scale: Scale): boolean {
  const current = scale.spec?.replicas ?? 0
  return !isDisabled(spec, current) && current <= spec.maxReplicas && current >= minReplicasOf(spec)
}

type Spec = HorizontalPodAutoscaler['spec']
type Conditions = HorizontalPodAutoscalerStatus['conditions']

const minReplicasOf = ({ minReplicas }: Spec): number => minReplicas ?? 1

/** A count of zero switches an autoscaler off that is not to scale to zero itself. */
const isDisabled = (spec: Spec, current: number): boolean => current === 0 && minReplicasOf(spec) !== 0

/** Decides how many replicas there are to be, as upstream's reconcileAutoscaler does. Pure. */
export function planAutoscaler(observed: ObservedAutoscaler, nowMs: Time): AutoscalerPlan {
  const { autoscaler, target } = observed
  const draft = new Draft(autoscaler, nowMs)
  if ('error' in target) {
    const message = `the HPA controller was unable to get the target's current scale: ${target.error}`
    draft.warn('FailedGetScale', target.error)
    draft.set('AbleToScale', 'False', 'FailedGetScale', message)
    return { actions: draft.actions, status: draft.status({}), memory: observed.memory, requeueAfterMs: syncPeriodMs }
  }
  const succeeded = "the HPA controller was able to get the target's current scale"
  draft.set('AbleToScale', 'True', 'SucceededGetScale', succeeded)
  const { spec } = autoscaler
  const current = target.scale.spec?.replicas ?? 0
  const memory = observed.memory === undefined ? firstMemory(current, nowMs) : upTo(nowMs, observed.memory)
  if (isDisabled(spec, current)) {
    const message = 'scaling is disabled since the replica count of the target is zero'
    draft.set('ScalingActive', 'False', 'ScalingDisabled', message)
    return finish(draft, { target, memory, wanted: current, because: '', metrics: [] }, nowMs)
  }
  if (current > spec.maxReplicas) {
    const because = 'Current number of replicas above Spec.MaxReplicas'
    return finish(draft, { target, memory, wanted: spec.maxReplicas, because, metrics: [] }, nowMs)
  }
  if (current < minReplicasOf(spec)) {
    const because = 'Current number of replicas below Spec.MinReplicas'
    return finish(draft, { target, memory, wanted: minReplicasOf(spec), because, metrics: [] }, nowMs)
  }
  const { workload } = observed
  if (workload === 'steady') {
    const metrics = autoscaler.status?.currentMetrics ?? []
    return finish(draft, { target, memory, wanted: current, because: '', metrics }, nowMs)
  }
  return planByMetrics(draft, { autoscaler, workload }, target, memory, nowMs)
}

/** The status where the count could not be changed: what was decided did not come about. */
export function refusedStatus(
  { status }: HorizontalPodAutoscaler,
  planned: HorizontalPodAutoscalerStatus,
  error: string,
  nowMs: Time,
): HorizontalPodAutoscalerStatus {
  const message = `the HPA controller was unable to update the target scale: ${error}`
  const { lastScaleTime: _, desiredReplicas: __, ...rest } = planned
  return {
    ...rest,
    desiredReplicas: status?.desiredReplicas ?? 0,
    ...(status?.lastScaleTime === undefined ? {} : { lastScaleTime: status.lastScaleTime }),
    conditions: setCondition(
      planned.conditions,
      { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message },
      nowMs,
    ),
  }
}

function planByMetrics(
  draft: Draft,
  { autoscaler, workload }: { readonly autoscaler: HorizontalPodAutoscaler; readonly workload: MeasuredWorkload },
  target: ScaleTarget,
  memory: Memory,
  nowMs: Time,
): AutoscalerPlan {
  const { spec } = autoscaler
  const { scale } = target
  const current = scale.spec?.replicas ?? 0
  const wanted = wantedByMetrics(draft, autoscaler, scale, workload, nowMs)
  if ('error' in wanted) {
    draft.warn('FailedComputeMetricsReplicas', wanted.error)
    const status = draft.status({ currentReplicas: current, currentMetrics: wanted.metrics })
    return { actions: draft.actions, status, memory, requeueAfterMs: syncPeriodMs }
  }
  const because =
    wanted.replicas > current
      ? `${wanted.metric} above target`
      : wanted.replicas < current
        ? 'All metrics below target'
        : ''
  const stabilized = stabilizedCount(autoscaler, memory, current, wanted.replicas, nowMs)
  draft.setStabilized(current, wanted.replicas, stabilized.replicas)
  const limited = limitedCount(autoscaler, stabilized, current, nowMs)
  const isLimited = limited.replicas !== stabilized.replicas
  draft.set('ScalingLimited', isLimited ? 'True' : 'False', limited.reason, limited.message)
  const decision = { target, memory: stabilized.memory, wanted: limited.replicas, because, metrics: wanted.metrics }
  return finish(draft, decision, nowMs, spec)
}

type Wanted =
  | { readonly replicas: number; readonly metric: string; readonly metrics: readonly MetricStatus[] }
  | { readonly error: string; readonly metrics: readonly MetricStatus[] }

/** The most that any metric asks for. Where some cannot be had it may grow by the others, and does not shrink. */
function wantedByMetrics(
  draft: Draft,
  autoscaler: HorizontalPodAutoscaler,
  scale: Scale,
  workload: MeasuredWorkload,
  nowMs: Time,
): Wanted {
  if (workload === undefined) return { error: 'the metrics were not read', metrics: [] }
  if ('reason' in workload) {
    draft.warn(workload.event.reason, workload.event.message)
    draft.set('ScalingActive', 'False', workload.reason, workload.message)
    return { error: workload.event.message, metrics: [] }
  }
  const { spec, metadata } = autoscaler
  const replicas = scale.spec?.replicas ?? 0
  const basis = {
    replicas,
    statusReplicas: scale.status?.replicas ?? 0,
    pods: workload.pods,
    tolerances: tolerancesOf(spec),
    nowMs,
  }
  const proposals = (spec.metrics ?? []).map((metric, index) =>
    proposalOf(metric, workload.readings[index] ?? { error: 'it was not read' }, basis, metadata.namespace ?? ''),
  )
  const metrics = proposals.map((proposal): MetricStatus => ('error' in proposal ? { type: '' } : proposal.status))
  const failures = proposals.filter((proposal) => 'error' in proposal)
  for (const { reason, error } of failures) draft.warn(reason, error)
  const best = highest(proposals)
  const [failure] = failures
  if (best === undefined || (failure !== undefined && best.replicas < replicas)) {
    if (failure !== undefined) {
      const message = `the HPA was unable to compute the replica count: ${failure.error}`
      draft.set('ScalingActive', 'False', failure.reason, message)
    }
    const error = `invalid metrics (${failures.length} invalid out of ${proposals.length}), first error is: ${failure?.summary ?? ''}`
    return { error, metrics }
  }
  const message = `the HPA was able to successfully calculate a replica count from ${best.metric}`
  draft.set('ScalingActive', 'True', 'ValidMetricFound', message)
  return { replicas: best.replicas, metric: best.metric, metrics }
}

/** The first of those that ask for most; of those that ask for none the last, as upstream. */
function highest(proposals: readonly Proposal[]) {
  const valid = proposals.filter((proposal) => 'replicas' in proposal)
  return valid.reduce<(typeof valid)[number] | undefined>(
    (best, each) => (best === undefined || best.replicas === 0 || each.replicas > best.replicas ? each : best),
    undefined,
  )
}

function tolerancesOf({ behavior }: Spec): Tolerances {
  const tolerance = (rules: ScalingRules | undefined): number =>
    rules?.tolerance === undefined ? toleranceDefault : quantityToNumber(rules.tolerance)
  return { up: tolerance(behavior?.scaleUp), down: tolerance(behavior?.scaleDown) }
}

function stabilizedCount(
  { spec: { behavior } }: HorizontalPodAutoscaler,
  memory: Memory,
  current: number,
  wanted: number,
  nowMs: Time,
): Stabilized {
  if (behavior === undefined) return stabilizeDown(memory, wanted, nowMs)
  const windows = {
    up: behavior.scaleUp?.stabilizationWindowSeconds ?? 0,
    down: behavior.scaleDown?.stabilizationWindowSeconds ?? downscaleStabilizationSeconds,
  }
  return stabilize(memory, current, wanted, windows, nowMs)
}

function limitedCount(
  { spec }: HorizontalPodAutoscaler,
  { replicas: wanted, memory }: Stabilized,
  current: number,
  nowMs: Time,
): Limited {
  const bounds = { min: minReplicasOf(spec), max: spec.maxReplicas }
  if (spec.behavior === undefined) return limit(current, wanted, bounds)
  const { scaleUp = {}, scaleDown = {} } = spec.behavior
  return limitByRules(memory, { current, wanted }, bounds, { up: scaleUp, down: scaleDown }, nowMs)
}

interface Decision {
  readonly target: ScaleTarget
  readonly memory: Memory
  readonly wanted: number
  /** Why, for the event; it is not needed where nothing changes. */
  readonly because: string
  readonly metrics: readonly MetricStatus[]
}

/** Whoever has changed the target since it was read has not changed what it should count: the write is on no condition. */
function withCount({ metadata: { resourceVersion: _, ...metadata }, ...scale }: Scale, replicas: number): Scale {
  return { ...scale, metadata, spec: { ...scale.spec, replicas } }
}

/** Changes the count where it is another. */
function finish(draft: Draft, decision: Decision, nowMs: Time, spec?: Spec): AutoscalerPlan {
  const { target, memory, wanted, because, metrics } = decision
  const { resource, scale } = target
  const currentReplicas = scale.spec?.replicas ?? 0
  const counts = { currentReplicas, desiredReplicas: wanted, currentMetrics: metrics }
  if (wanted === currentReplicas) {
    return { actions: draft.actions, status: draft.status(counts), memory, requeueAfterMs: syncPeriodMs }
  }
  const message = `the HPA controller was able to update the target scale to ${wanted}`
  draft.set('AbleToScale', 'True', 'SucceededRescale', message)
  const rescaled = `New size: ${wanted}; reason: ${because}`
  const update: Action = {
    type: 'update',
    resource,
    subresource: 'scale',
    object: withCount(scale, wanted),
    because: because === '' ? `the autoscaler wants ${wanted} replicas` : because,
    events: {
      succeeded: { reason: 'SuccessfulRescale', message: rescaled },
      failed: { reason: 'FailedRescale', message: `${rescaled}; error: {error}` },
    },
  }
  const policies = { up: spec?.behavior?.scaleUp?.policies ?? [], down: spec?.behavior?.scaleDown?.policies ?? [] }
  return {
    actions: [...draft.actions, update],
    status: draft.status({ ...counts, lastScaleTime: formatTime(nowMs) }),
    memory,
    memoryOnceScaled: withScaleEvent(memory, wanted - currentReplicas, policies, nowMs),
    requeueAfterMs: syncPeriodMs,
  }
}

/** Events and conditions as they come up. */
class Draft {
  readonly actions: Action[] = []
  readonly #autoscaler: HorizontalPodAutoscaler
  readonly #nowMs: Time
  #conditions: Conditions

  constructor(autoscaler: HorizontalPodAutoscaler, nowMs: Time) {
    this.#autoscaler = autoscaler
    this.#nowMs = nowMs
    this.#conditions = autoscaler.status?.conditions
  }

  warn(reason: string, message: string): void {
    this.actions.push({ type: 'event', eventType: 'Warning', reason, message, because: message })
  }

  set(type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited', status: string, reason: string, message: string): void {
    this.#conditions = setCondition(this.#conditions, { type, status, reason, message }, this.#nowMs)
  }

  /** Says whether earlier recommendations hold the count. */
  setStabilized(current: number, wanted: number, stabilized: number): void {
    if (stabilized === wanted) {
      this.set('AbleToScale', 'True', 'ReadyForNewScale', 'recommended size matches current size')
    } else if (this.#autoscaler.spec.behavior !== undefined && wanted >= current) {
      const message = 'recent recommendations were lower than current one, applying the lowest recent recommendation'
      this.set('AbleToScale', 'True', 'ScaleUpStabilized', message)
    } else {
      const message = 'recent recommendations were higher than current one, applying the highest recent recommendation'
      this.set('AbleToScale', 'True', 'ScaleDownStabilized', message)
    }
  }

  /** The status with these counts; what is not given stays. */
  status(counts: Partial<HorizontalPodAutoscalerStatus>): HorizontalPodAutoscalerStatus {
    const { status: old } = this.#autoscaler
    const { currentMetrics, ...rest } = { ...old, ...counts }
    return {
      ...rest,
      desiredReplicas: rest.desiredReplicas ?? 0,
      ...(currentMetrics === undefined || currentMetrics.length === 0 ? {} : { currentMetrics }),
      ...(this.#conditions === undefined ? {} : { conditions: this.#conditions }),
    }
  }
}

import type { KubernetesObject } from '@coracle/api'
import type { ClusterState, StateReport } from '@coracle/cluster'
import type { Assumptions } from './assumptions.ts'
import { availabilityOf } from './availability.ts'
import { type ObjectName, objectNameOf } from './object-name.ts'
import { type ChangeOutcome, type Problem, problemsOf } from './problems.ts'
import { isUnderWay } from './progress.ts'
import { type QuotaContest, quotaContestsOf } from './quota-contests.ts'
import type { Rehearsed } from './rehearsal.ts'
import { type TimelineEvent, timelineOf } from './timeline.ts'

/**
 * What a change would do, as `coracle plan -o json` prints it. Times are seconds since the change, with milliseconds as fractions.
 * Fields are only ever added; one that changes its meaning gets another apiVersion.
 */
export interface PlanReport {
  readonly apiVersion: 'plan.coracle.dev/v1'
  readonly kind: 'Plan'
  /** `safe` where nothing is wrong but for warnings; `unsafe` where the change would break what is promised, be refused or not end. */
  readonly verdict: 'safe' | 'unsafe'
  /** How long after the change the last thing happens that comes of it. */
  readonly durationSeconds: number
  /** Errors first. */
  readonly problems: readonly ReportedProblem[]
  /** Workloads, Services and budgets whose numbers changed. */
  readonly availability: readonly ReportedAvailability[]
  readonly timeline: readonly ReportedEvent[]
  /** What was not as it was asked to be before the change, and what controllers did about the copy at once. */
  readonly underWay: { readonly objects: readonly ObjectName[]; readonly timeline: readonly ReportedEvent[] }
  readonly assumptions: {
    readonly seed: number
    readonly startDelaySeconds: number
    /** Absent: what is to end does not. */
    readonly runSeconds?: number
    readonly failRate: number
    /** Autoscalers whose load is taken to stay such that the number of pods they have, within their bounds, is right. */
    readonly steadyLoad: readonly ObjectName[]
    /** Quotas whose room several workloads ask for: who gets it is chance, of which the plan shows one outcome. */
    readonly contestedQuotas: readonly QuotaContest[]
  }
  readonly copy: {
    readonly revision: string
    /** RFC 3339. */
    readonly takenAt: string
    readonly objects: number
    /** Resources that could not be read. */
    readonly gaps: ClusterState['gaps']
    /** Resources that were read a little later than the others. */
    readonly later: readonly string[]
    readonly unknownKinds: StateReport['unknownKinds']
    readonly droppedFields: StateReport['droppedFields']
    readonly refusedObjects: StateReport['refusedObjects']
    /** Webhooks and other servers that are not asked. */
    readonly notAsked: readonly string[]
  }
}

export type ReportedProblem = Omit<Problem, 'atMs'> & { readonly at: number }
export type ReportedEvent = Omit<TimelineEvent, 'atMs'> & { readonly at: number }

export interface ReportedAvailability {
  readonly object: ObjectName
  readonly lowest: number
  /** Since when there were so few. */
  readonly at: number
  readonly promised: number
  readonly by: string
  /** Where it fell below what is promised: since when, with what there was. */
  readonly broken?: { readonly at: number; readonly ready: number; readonly promised: number }
  /** How many were ready from each of these times on, and how many were asked for. */
  readonly samples: readonly { readonly at: number; readonly ready: number; readonly desired?: number }[]
}

export interface ReportParts {
  readonly rehearsed: Rehearsed
  readonly outcome: ChangeOutcome
  readonly state: ClusterState
  readonly report: StateReport
  readonly notAsked: readonly string[]
  readonly seed: number
  readonly assumptions: Assumptions
  readonly takenAt: string
}

/** The report of a change that was played. Pure: the same run gives the same report. */
export function planReport({
  rehearsed,
  outcome,
  state,
  report,
  notAsked,
  seed,
  assumptions,
  takenAt,
}: ReportParts): PlanReport {
  const { startMs, before, underWay, changes, notes } = rehearsed
  const secondsOf = (atMs: number): number => (atMs - startMs) / 1000
  const reported = ({ atMs, ...event }: TimelineEvent): ReportedEvent => ({ at: secondsOf(atMs), ...event })
  const timeline = timelineOf(before, changes, notes)
  const availability = availabilityOf(before, changes, startMs)
  const problems = problemsOf(rehearsed, timeline, availability, outcome)
  const { startDelayMs, runMs, failRate } = assumptions
  return {
    apiVersion: 'plan.coracle.dev/v1',
    kind: 'Plan',
    verdict: problems.some(({ severity }) => severity === 'error') ? 'unsafe' : 'safe',
    durationSeconds: secondsOf(timeline.at(-1)?.atMs ?? startMs),
    problems: problems.map(({ atMs, ...problem }) => ({ at: secondsOf(atMs), ...problem })),
    availability: availability.map(({ object, samples, lowest, lowestAtMs, promised, by, broken }) => ({
      object,
      lowest,
      at: secondsOf(lowestAtMs),
      promised,
      by,
      ...(broken === undefined
        ? {}
        : { broken: { at: secondsOf(broken.atMs), ready: broken.ready, promised: broken.promised } }),
      samples: samples.map(({ atMs, ...sample }) => ({ at: secondsOf(atMs), ...sample })),
    })),
    timeline: timeline.map(reported),
    underWay: {
      objects: before.filter(isUnderWayByItself).map(objectNameOf),
      timeline: timelineOf(before, underWay).map(reported),
    },
    assumptions: {
      seed,
      startDelaySeconds: startDelayMs / 1000,
      ...(runMs === undefined ? {} : { runSeconds: runMs / 1000 }),
      failRate,
      steadyLoad: rehearsed.after.filter(({ kind }) => kind === 'HorizontalPodAutoscaler').map(objectNameOf),
      contestedQuotas: quotaContestsOf(before, underWay, changes),
    },
    copy: {
      revision: state.revision,
      takenAt,
      objects: report.written,
      gaps: state.gaps,
      later: state.later,
      unknownKinds: report.unknownKinds,
      droppedFields: report.droppedFields,
      refusedObjects: report.refusedObjects,
      notAsked,
    },
  }
}

const isUnderWayByItself = (object: KubernetesObject): boolean =>
  isUnderWay(object) && object.metadata.ownerReferences?.some(({ controller }) => controller === true) !== true

import { hasJobCondition, type Job, type Pod, parseTime } from '@coracle/api'
import { skewMaxMs } from '../scenario.ts'
import {
  type Change,
  controllerOf,
  type Invariant,
  isActive,
  isNew,
  labelOf,
  seenByWriter,
  type View,
} from '../view.ts'
import { includesIndex } from './jobs.ts'

/** What Jobs promise of how they end. */
export const jobEndingInvariants: readonly Invariant[] = [
  { name: 'a Job ends for a reason that holds', check: groundless },
  { name: 'a Job that has failed too often makes no more pods', check: goesOn },
  { name: 'an index that has failed is not run again', check: failedIndexAgain },
  { name: 'an index fails when it has failed too often', check: indexGoesOn },
  { name: 'a failure that a Job is to ignore is not counted', check: countsIgnored },
  { name: 'in the end no pod waits to be counted', finally: uncounted },
]

type Condition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

/** How a Job says that it ends: as soon as it knows, which is before its pods have ended. */
const endings: ReadonlySet<string> = new Set(['FailureTarget', 'SuccessCriteriaMet', 'Failed', 'Complete'])

function groundless({ old, object }: Change, view: View): string | undefined {
  if (object?.kind !== 'Job') return undefined
  const job = object as Job
  const before = old?.metadata.uid === job.metadata.uid ? (old as Job) : undefined
  const news = (job.status?.conditions ?? []).filter(
    ({ type, status }) => status === 'True' && endings.has(type) && !hasJobCondition(before?.status, type),
  )
  for (const condition of news) {
    const lacking = lackingFor(job, condition, view)
    if (lacking !== undefined) return `${labelOf(job)} is ${condition.type} by ${condition.reason}, and ${lacking}`
  }
  return undefined
}

/** What does not bear out the reason that a Job gives; undefined where all does. */
function lackingFor(job: Job, { type, reason = '' }: Condition, view: View): string | undefined {
  const { spec, status = {} } = job
  const { completedIndexes, failedIndexes, failed = 0, succeeded = 0 } = status
  const { completions, backoffLimit = 6, maxFailedIndexes = 0 } = spec
  switch (reason) {
    case 'BackoffLimitExceeded': {
      // Pods that run on count by their restarts; and what is to be counted yet counts.
      const waiting = status.uncountedTerminatedPods?.failed?.length ?? 0
      const mayRestart = spec.template.spec.restartPolicy === 'OnFailure'
      return mayRestart || failed + waiting > backoffLimit || hasFailedPods(job, view)
        ? undefined
        : `${failed} pods have failed of ${backoffLimit} that may`
    }
    case 'MaxFailedIndexesExceeded':
      return indexesIn(failedIndexes).length > maxFailedIndexes
        ? undefined
        : `indexes ${failedIndexes} have failed of ${maxFailedIndexes} that may`
    case 'FailedIndexes': {
      const over = indexesIn(failedIndexes).length + indexesIn(completedIndexes).length
      return indexesIn(failedIndexes).length > 0 && over >= (completions ?? 0)
        ? undefined
        : `${over} indexes of ${completions} are over`
    }
    case 'PodFailurePolicy':
      return view.podsOf(job.metadata.uid ?? '').some((pod) => verdictOn(job, pod) === 'FailJob') || type === 'Failed'
        ? undefined
        : 'no pod has failed so'
    case 'DeadlineExceeded': {
      const sinceMs = view.nowMs - parseTime(status.startTime ?? '')
      return spec.activeDeadlineSeconds !== undefined &&
        sinceMs + skewMaxMs >= Number(spec.activeDeadlineSeconds) * 1000
        ? undefined
        : `it has run for ${sinceMs / 1000} s`
    }
    case 'SuccessPolicy':
      return hasSucceeded(job) ? undefined : `of its indexes ${completedIndexes} are complete`
    default:
      return type === 'Complete' && completions !== undefined && succeeded !== completions && !isOfSuccessPolicy(job)
        ? `${succeeded} of ${completions} have succeeded`
        : undefined
  }
}

const isOfSuccessPolicy = ({ status }: Job): boolean =>
  status?.conditions?.some(({ reason }) => reason === 'SuccessPolicy') === true

/** Whether pods that have failed are about to be counted, as the controller has seen them, are too many. */
function hasFailedPods(job: Job, view: View): boolean {
  const uncounted = view
    .podsOf(job.metadata.uid ?? '')
    .filter(({ metadata, status }) => status?.phase === 'Failed' || metadata.deletionTimestamp !== undefined)
    .filter(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking') === true)
  return (job.status?.failed ?? 0) + uncounted.length > (job.spec.backoffLimit ?? 6)
}

/** Whether some rule for its success is met. */
function hasSucceeded({ spec, status }: Job): boolean {
  const complete = indexesIn(status?.completedIndexes)
  return (spec.successPolicy?.rules ?? []).some(({ succeededIndexes, succeededCount }) => {
    const of =
      succeededIndexes === undefined ? complete : complete.filter((each) => includesIndex(succeededIndexes, each))
    const needed =
      succeededCount ?? (succeededIndexes === undefined ? (spec.completions ?? 0) : indexesIn(succeededIndexes).length)
    return of.length >= needed
  })
}

/** The indexes that a text such as `0,2-4` names: there are few here. */
function indexesIn(text: string | undefined): readonly number[] {
  const indexes = Array.from({ length: 20 }, (_, index) => index)
  return indexes.filter((index) => includesIndex(text, index))
}

/** What the first rule that fits a failed pod says: rules here are about the exit code of its only container. */
export function verdictOn({ spec }: Job, { status }: Pod): string | undefined {
  if (status?.phase !== 'Failed') return undefined
  const exitCode = status.containerStatuses?.[0]?.state?.terminated?.exitCode ?? 0
  return spec.podFailurePolicy?.rules.find(({ onExitCodes, onPodConditions }) =>
    onExitCodes === undefined
      ? status.conditions?.some(({ type, status: holds }) =>
          onPodConditions?.some((each) => each.type === type && (each.status ?? 'True') === holds),
        )
      : exitCode !== 0 && onExitCodes.values.includes(exitCode) === (onExitCodes.operator === 'In'),
  )?.action
}

interface Made {
  readonly pod: Pod
  readonly versions: readonly Job[]
}

function podMade(change: Change, view: View): Made | undefined {
  if (change.object?.kind !== 'Pod' || !isNew(change)) return undefined
  const owner = controllerOf(change.object)
  if (owner?.kind !== 'Job') return undefined
  const versions = seenByWriter(view.recent<Job>(owner.uid), view)
  return versions.length === 0 ? undefined : { pod: change.object as Pod, versions }
}

function goesOn(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  return made?.versions.every(({ spec, status }) => (status?.failed ?? 0) > (spec.backoffLimit ?? 6)) === true
    ? `${labelOf(made.pod)} is made after ${made.versions.at(-1)?.status?.failed} failures`
    : undefined
}

/** An index that is said to have failed has no pod that runs, and gets none. */
function failedIndexAgain(change: Change, view: View): string | undefined {
  if (change.object?.kind === 'Job') return failedAndRunning(change.object as Job, view)
  const made = podMade(change, view)
  const index = made?.pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index']
  if (made === undefined || index === undefined) return undefined
  return made.versions.every(({ status }) => includesIndex(status?.failedIndexes, Number(index)))
    ? `${labelOf(made.pod)} runs index ${index}, which has failed`
    : undefined
}

function failedAndRunning(job: Job, view: View): string | undefined {
  const { metadata, status } = job
  if (status?.failedIndexes === undefined || !view.isCalm) return undefined
  const running = view.podsOf(metadata.uid ?? '').filter(isActive)
  const again = running.find((pod) => includesIndex(status.failedIndexes, indexOf(pod)))
  return again === undefined ? undefined : `${labelOf(again)} runs, and its index has failed (${labelOf(job)})`
}

const indexOf = ({ metadata }: Pod): number =>
  Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? Number.NaN)

/** A pod says how often its index has failed before it. */
function indexGoesOn(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  const limit = made?.versions.at(-1)?.spec.backoffLimitPerIndex
  const failures = Number(made?.pod.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'] ?? 0)
  return made !== undefined && limit !== undefined && failures > limit
    ? `${labelOf(made.pod)} is made after ${failures} failures of its index, of ${limit} that may be`
    : undefined
}

/** A pod whose failure does not count is not among those that are about to be counted. */
function countsIgnored({ object }: Change, view: View): string | undefined {
  if (object?.kind !== 'Job') return undefined
  const job = object as Job
  const counted = job.status?.uncountedTerminatedPods?.failed ?? []
  if (counted.length === 0 || job.spec.podFailurePolicy === undefined) return undefined
  const ignored = view
    .podsOf(job.metadata.uid ?? '')
    .find((pod) => counted.includes(pod.metadata.uid ?? '') && verdictOn(job, pod) === 'Ignore')
  return ignored === undefined ? undefined : `${labelOf(job)} counts ${labelOf(ignored)}, which it is to ignore`
}

function uncounted(view: View): readonly string[] {
  return view.list<Job>('Job').flatMap((job) => {
    const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {}
    const count = succeeded.length + failed.length
    return count === 0 ? [] : [`${labelOf(job)} has ${count} pods that are not counted yet`]
  })
}

import {
  dependenciesOf,
  hasJobCondition,
  isJobFinished,
  type Job,
  jobs,
  type Pod,
  pods,
  selectorFromLabelSelector,
  waitingCondition,
} from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isControlledBy, isGoing } from '../owners.ts'
import { refusedByEvents, troubledPods, underWay } from './replicas.ts'

type JobFacts = Facts<Job>

export const jobRules: KindRules<Job> = {
  reads: (job) => {
    const { namespace } = job.metadata
    const labelSelector = selectorFromLabelSelector(job.spec.selector).toString()
    return [
      ...(labelSelector === '' ? [] : [{ resource: pods, namespace, labelSelector }]),
      ...(dependenciesOf(job).length === 0 ? [] : [{ resource: jobs, namespace }]),
    ]
  },
  rules: [suspended, managedElsewhere, waitsForJobs, refusedPods, failed, backingOff],
  leads: (facts) => [...dependencies(facts), ...unfinishedPods(facts)],
  behind: running,
}

function suspended({ object }: JobFacts): Diagnosis | undefined {
  if (object.spec.suspend !== true || isJobFinished(object)) return undefined
  return {
    reason: 'Suspended',
    what: 'it does not run',
    because: 'it is suspended',
    remedy: `set spec.suspend to false: \`coracle patch job/${object.metadata.name} -p '{"spec":{"suspend":false}}'\``,
  }
}

function managedElsewhere({ object }: JobFacts): Diagnosis | undefined {
  const { managedBy = '' } = object.spec
  if (managedBy === '' || managedBy === 'kubernetes.io/job-controller' || isJobFinished(object)) return undefined
  return {
    reason: 'ManagedElsewhere',
    what: 'the Job controller leaves it alone',
    because: `spec.managedBy is ${managedBy}`,
    remedy: `see that ${managedBy} runs: it alone makes the pods`,
    state: 'hint',
  }
}

/** The Jobs that it names, as far as they are not complete. */
function dependencies({ object, some }: JobFacts): readonly Job[] {
  if (conditionOf(object, waitingCondition)?.status !== 'True' && !hasFailedBy(object, 'DependencyFailed')) return []
  const names = new Set(dependenciesOf(object))
  return some(jobs).filter(
    ({ metadata, status }) => names.has(metadata.name ?? '') && !hasJobCondition(status, 'Complete'),
  )
}

function waitsForJobs({ object, all }: JobFacts): Diagnosis | undefined {
  const condition = conditionOf(object, waitingCondition)
  if (condition?.status !== 'True' || object.spec.suspend === true) return undefined
  const known = all(jobs)
  const missing =
    known === undefined
      ? undefined
      : dependenciesOf(object).find((name) => !known.some(({ metadata }) => metadata.name === name))
  return {
    reason: missing === undefined ? 'WaitsForJob' : 'JobMissing',
    what: 'it has not begun',
    because: saidBy(condition),
    remedy:
      missing === undefined
        ? 'it begins when those Jobs are complete: ask why they are not'
        : `create job/${missing}, or take it out of the annotation coracle.dev/depends-on`,
    ...(missing === undefined ? { isSymptom: true, state: 'waiting' } : {}),
  }
}

function refusedPods(facts: JobFacts): Diagnosis | undefined {
  return isJobFinished(facts.object) ? undefined : refusedByEvents(facts)
}

const hasFailedBy = (job: Job, reason: string): boolean => {
  const condition = conditionOf(job, 'Failed') ?? conditionOf(job, 'FailureTarget')
  return condition?.status === 'True' && condition.reason === reason
}

/** Reasons that are about pods that have failed: those say more. */
const byPods: ReadonlySet<string> = new Set([
  'BackoffLimitExceeded',
  'FailedIndexes',
  'MaxFailedIndexesExceeded',
  'PodFailurePolicy',
])

const failureRemedies: Readonly<Record<string, string>> = {
  DeadlineExceeded: 'give it more time (spec.activeDeadlineSeconds) and create it again, or see what takes so long',
  DependencyFailed: 'create the Job it waits for again, and then this one',
}

function failed({ object }: JobFacts): Diagnosis | undefined {
  const condition = [conditionOf(object, 'Failed'), conditionOf(object, 'FailureTarget')].find(
    (each) => each?.status === 'True',
  )
  if (condition === undefined) return undefined
  const { reason = 'JobFailed', message } = condition
  return {
    reason,
    what: 'it has failed',
    because: message === undefined || message === '' ? reason : `${reason}: ${message}`,
    remedy: failureRemedies[reason] ?? 'a Job that has failed does not run again: mend what failed, and create another',
    ...(byPods.has(reason) ? { isSymptom: true } : {}),
  }
}

/** Pods that have failed say why, and those that run hold it up. Of those that failed the latest says most. */
function unfinishedPods(facts: JobFacts): readonly Pod[] {
  const { object, some } = facts
  if (hasJobCondition(object.status, 'Complete')) return []
  const failures = some(pods)
    .filter((pod) => isControlledBy(pod, object) && pod.status?.phase === 'Failed')
    .toSorted((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
  if (isJobFinished(object)) return failures.slice(0, 1)
  const others = troubledPods(facts).filter(({ status }) => status?.phase !== 'Failed')
  return [...others, ...(others.length === 0 ? failures.slice(0, 1) : [])]
}

/** Pods have failed, and the next comes after a while. */
function backingOff({ object, some }: JobFacts): Diagnosis | undefined {
  const { status, spec } = object
  if (isJobFinished(object) || spec.suspend === true || (status?.failed ?? 0) === 0 || (status?.active ?? 0) > 0)
    return undefined
  // Its status may be of before: a pod that has come since is at work.
  const isAtWork = (pod: Pod) =>
    isControlledBy(pod, object) && !isGoing(pod) && !['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')
  if (isGoing(object) || some(pods).some(isAtWork)) return undefined
  return {
    reason: 'BackingOff',
    what: 'no pod of it runs at the moment',
    because:
      spec.backoffLimitPerIndex === undefined
        ? `${status?.failed} of its pods have failed, of ${(spec.backoffLimit ?? 6) + 1} that may`
        : `${status?.failed} of its pods have failed, and ${spec.backoffLimitPerIndex + 1} of each index may`,
    remedy: 'the next pod comes after a while that doubles each time, up to 10 minutes',
    state: 'waiting',
    isSymptom: true,
  }
}

function running({ object }: JobFacts): Diagnosis | undefined {
  const { status = {}, spec } = object
  if (isJobFinished(object) || isGoing(object)) return undefined
  const { active = 0, succeeded = 0 } = status
  const of = spec.completions === undefined ? '' : ` of ${spec.completions}`
  return underWay(`its status counts ${succeeded}${of} pods as succeeded`, `${active} are counted as running`)
}

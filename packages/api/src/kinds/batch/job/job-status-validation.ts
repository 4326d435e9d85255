/** Upstream's ValidateJobUpdateStatus (pkg/apis/batch/validation): a Job that is over stays as it ended. */
import { deepEqual } from '../../../equality.ts'
import { duplicateField, type FieldError, invalidField, requiredField, unshownValue } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { parseTime } from '../../../time.ts'
import { checkCounts } from '../../validation.ts'
import { hasJobCondition } from './job-conditions.ts'
import { checkIndexes, type IndexInterval, parseIndexes } from './job-indexes.ts'
import type { Job, JobSpec, JobStatus } from './job-schema.ts'

const statusPath = FieldPath.of('status')
const conditionsPath = statusPath.field('conditions')

/**
 * What an update of the status may not do. A rule is looked at where something that it is about has changed: who changes one field
 * need not mend another, and a change of the spec may leave the status behind for a while (registry/batch/job).
 */
export function validateJobStatusUpdate(job: Job, old: Job): readonly FieldError[] {
  const { status = {} } = job
  const counts = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const
  const change = changeOf(job, old)
  return [
    ...checkCounts(status, counts, statusPath),
    ...uncountedErrors(status),
    ...finishErrors(change),
    ...podErrors(change),
    ...indexErrors(change),
    ...policyErrors(change),
    ...disabledErrors(change),
    ...counterErrors(change),
    ...timeErrors(change),
    ...criteriaErrors(change),
  ]
}

/** An update of a status, and what it is about. */
interface StatusChange {
  readonly spec: JobSpec
  readonly status: JobStatus
  readonly old: JobStatus
  /** Whether a condition holds now. */
  is(type: string): boolean
  /** Whether a condition held before. */
  was(type: string): boolean
  readonly isFinished: boolean
  readonly finishes: boolean
  /** Whether one of these conditions has come or gone, or one of these fields is another. */
  changes(...what: readonly (TerminalCondition | keyof JobStatus)[]): boolean
}

const terminalConditions = ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'] as const
type TerminalCondition = (typeof terminalConditions)[number]
const isCondition = (what: string): boolean => (terminalConditions as readonly string[]).includes(what)

function changeOf({ spec, status = {} }: Job, { status: old = {} }: Job): StatusChange {
  const is = (type: string): boolean => hasJobCondition(status, type)
  const was = (type: string): boolean => hasJobCondition(old, type)
  const isFinished = is('Complete') || is('Failed')
  return {
    spec,
    status,
    old,
    is,
    was,
    isFinished,
    finishes: isFinished !== (was('Complete') || was('Failed')),
    changes(...what) {
      for (const each of what) {
        const isOther = isCondition(each)
          ? is(each) !== was(each)
          : !deepEqual(status[each as keyof JobStatus], old[each as keyof JobStatus])
        if (isOther) return true
      }
      return false
    },
  }
}

/** Upstream leaves the value out of these messages. */
const wrongConditions = (why: string): FieldError => invalidField(conditionsPath, unshownValue, why)

function uncountedErrors({ uncountedTerminatedPods = {} }: JobStatus): readonly FieldError[] {
  const seen = new Set<string>()
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (uncountedTerminatedPods[list] ?? []).flatMap((uid, index) => {
      const path = statusPath.field('uncountedTerminatedPods').field(list).index(index)
      if (uid === '') return [invalidField(path, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicateField(path, uid)]
      seen.add(uid)
      return []
    }),
  )
}

/** How a Job may be over, and what it says then. */
function finishErrors({ status, is, isFinished, finishes, changes, spec }: StatusChange): readonly FieldError[] {
  const { startTime, completionTime, active = 0, uncountedTerminatedPods = {} } = status
  const [startPath, completionPath] = [statusPath.field('startTime'), statusPath.field('completionTime')]
  const completionChanges = changes('Complete', 'completionTime')
  const uncounted = [...(uncountedTerminatedPods.succeeded ?? []), ...(uncountedTerminatedPods.failed ?? [])]
  const errors: FieldError[] = []
  if (changes('Complete', 'Failed') && is('Complete') && is('Failed'))
    errors.push(wrongConditions('cannot set Complete=True and Failed=true conditions'))
  if (changes('Complete', 'FailureTarget') && is('Complete') && is('FailureTarget'))
    errors.push(wrongConditions('cannot set Complete=True and FailureTarget=true conditions'))
  if (completionChanges && completionTime !== undefined && !is('Complete')) {
    const why = 'cannot set completionTime when there is no Complete=True condition'
    errors.push(invalidField(completionPath, completionTime, why))
  }
  if (completionChanges && completionTime === undefined && is('Complete'))
    errors.push(requiredField(completionPath, 'completionTime is required for Complete jobs'))
  if (
    changes('startTime', 'completionTime') &&
    startTime !== undefined &&
    completionTime !== undefined &&
    parseTime(completionTime) < parseTime(startTime)
  )
    errors.push(invalidField(completionPath, completionTime, 'must be equal to or after `startTime`'))
  if (changes('Failed', 'failedIndexes') && is('Failed') && !is('FailureTarget'))
    errors.push(wrongConditions('cannot set Failed=True condition without the FailureTarget=true condition'))
  if (changes('Complete', 'SuccessCriteriaMet') && is('Complete') && !is('SuccessCriteriaMet'))
    errors.push(wrongConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  if ((finishes || changes('active')) && isFinished && active > 0)
    errors.push(invalidField(statusPath.field('active'), active, 'active>0 is invalid for finished job'))
  const hasNothingToDo = spec.suspend === true && spec.completions === 0
  if ((finishes || changes('startTime')) && !hasNothingToDo && isFinished && startTime === undefined)
    errors.push(requiredField(startPath, 'startTime is required for finished job'))
  if ((finishes || changes('uncountedTerminatedPods')) && isFinished && uncounted.length > 0) {
    const path = statusPath.field('uncountedTerminatedPods')
    const { succeeded = null, failed = null } = uncountedTerminatedPods
    errors.push(invalidField(path, { Succeeded: succeeded, Failed: failed }, 'must be empty for finished job'))
  }
  return errors
}

/** Indexes that have succeeded or failed are some that the Job has, and none both. */
function indexErrors({ spec, status, changes }: StatusChange): readonly FieldError[] {
  const { completions, completionMode, backoffLimitPerIndex } = spec
  const { completedIndexes = '', failedIndexes } = status
  const [completedPath, failedPath] = [statusPath.field('completedIndexes'), statusPath.field('failedIndexes')]
  const [completedChange, failedChange] = [changes('completedIndexes'), changes('failedIndexes')]
  const errors: FieldError[] = []
  const checkFormat = (what: string, text: string, path: FieldPath): void => {
    const problem = completions === undefined ? 0 : checkIndexes(text, completions)
    if (typeof problem === 'string') errors.push(invalidField(path, text, `error parsing ${what}: ${problem}`))
  }
  if (completedChange) checkFormat('completedIndexes', completedIndexes, completedPath)
  if (failedChange && failedIndexes !== undefined && backoffLimitPerIndex !== undefined)
    checkFormat('failedIndexes', failedIndexes, failedPath)
  if (completedChange && completedIndexes !== '' && completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    errors.push(invalidField(completedPath, completedIndexes, why))
  }
  if (failedIndexes === undefined) return errors
  if (failedChange && backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    errors.push(invalidField(failedPath, failedIndexes, why))
  }
  if ((failedChange || completedChange) && completions !== undefined) {
    const both = firstCommonIndex(parseIndexes(completedIndexes, completions), parseIndexes(failedIndexes, completions))
    if (both !== undefined)
      errors.push(
        invalidField(failedPath, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${both}`),
      )
  }
  return errors
}

/** The first index that is in both. Both are in ascending order. */
function firstCommonIndex(one: readonly IndexInterval[], other: readonly IndexInterval[]): number | undefined {
  let [at, otherAt] = [0, 0]
  while (at < one.length && otherAt < other.length) {
    const [[first, last], [otherFirst, otherLast]] = [one[at] as IndexInterval, other[otherAt] as IndexInterval]
    if (first <= otherLast && otherFirst <= last) return Math.max(first, otherFirst)
    if (first <= otherFirst) at += 1
    else otherAt += 1
  }
  return undefined
}

function podErrors({ status, isFinished, finishes, changes }: StatusChange): readonly FieldError[] {
  const { active = 0, ready, terminating } = status
  const errors: FieldError[] = []
  if ((finishes || changes('terminating')) && isFinished && terminating !== undefined && terminating > 0)
    errors.push(invalidField(statusPath.field('terminating'), terminating, 'terminating>0 is invalid for finished job'))
  if (changes('ready', 'active') && ready !== undefined && ready > active)
    errors.push(invalidField(statusPath.field('ready'), ready, 'cannot set more ready pods than active'))
  return errors
}

function policyErrors({ spec, is }: StatusChange): readonly FieldError[] {
  const errors: FieldError[] = []
  if (is('SuccessCriteriaMet') && is('Failed'))
    errors.push(wrongConditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
  if (is('SuccessCriteriaMet') && is('FailureTarget'))
    errors.push(wrongConditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  if (spec.successPolicy !== undefined && !is('SuccessCriteriaMet') && is('Complete'))
    errors.push(wrongConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
  return errors
}

const disabledErrors = ({ is, was }: StatusChange): readonly FieldError[] =>
  ['Failed', 'Complete', 'FailureTarget']
    .filter((type) => was(type) && !is(type))
    .map((type) => wrongConditions(`cannot disable the terminal ${type}=True condition`))

/** Pods that have been counted stay counted, but where an indexed Job can be made smaller. */
function counterErrors({ spec, status, old }: StatusChange): readonly FieldError[] {
  const { failed = 0, succeeded = 0 } = status
  const errors: FieldError[] = []
  if (failed < (old.failed ?? 0))
    errors.push(invalidField(statusPath.field('failed'), failed, 'cannot decrease the failed counter'))
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!isElastic && succeeded < (old.succeeded ?? 0))
    errors.push(invalidField(statusPath.field('succeeded'), succeeded, 'cannot decrease the succeeded counter'))
  return errors
}

function timeErrors({ spec, status, old, was }: StatusChange): readonly FieldError[] {
  const { startTime, completionTime } = status
  const errors: FieldError[] = []
  if (completionTime !== undefined && old.completionTime !== undefined && completionTime !== old.completionTime)
    errors.push(invalidField(statusPath.field('completionTime'), completionTime, 'field is immutable'))
  const resumes =
    was('Suspended') && (status.conditions ?? []).some((each) => each.type === 'Suspended' && each.status === 'False')
  if (old.startTime !== undefined && startTime !== old.startTime && spec.suspend !== true && !resumes) {
    const why = 'field is immutable for unsuspended job once set'
    errors.push(invalidField(statusPath.field('startTime'), startTime, why))
  }
  return errors
}

function criteriaErrors({ is, was }: StatusChange): readonly FieldError[] {
  const errors: FieldError[] = []
  if (was('SuccessCriteriaMet') && !is('SuccessCriteriaMet'))
    errors.push(wrongConditions('cannot disable the SuccessCriteriaMet=True condition'))
  if (was('Complete') && !was('SuccessCriteriaMet') && is('SuccessCriteriaMet'))
    errors.push(wrongConditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  return errors
}

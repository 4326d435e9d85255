/** Upstream's ValidateJobUpdateStatus (pkg/apis/batch/validation): a Job that is over stays as it ended. */
import { deepEqual } from '../../../equality.ts'
import { duplicateField, type FieldError, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { checkCounts } from '../../validation.ts'
import type { Job, JobStatus } from './job-schema.ts'

const statusPath = FieldPath.of('status')
const conditionsPath = statusPath.field('conditions')

/** Whether a condition of that type holds. */
export function hasJobCondition(status: JobStatus | undefined, type: string): boolean {
  return (status?.conditions ?? []).some((each) => each.type === type && each.status === 'True')
}

/** Whether a Job is over: nothing of it will run again. */
export function isJobFinished({ status }: Pick<Job, 'status'>): boolean {
  return hasJobCondition(status, 'Complete') || hasJobCondition(status, 'Failed')
}

export function validateJobStatusUpdate(job: Job, old: Job): readonly FieldError[] {
  const { status = {} } = job
  const counts = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const
  return [
    ...checkCounts(status, counts, statusPath),
    ...uncountedErrors(status),
    ...conditionErrors(status, old.status ?? {}),
    ...(isJobFinished(job) ? finishedErrors(status) : unfinishedErrors(status)),
    ...timeErrors(job, old),
  ]
}

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

function conditionErrors(status: JobStatus, old: JobStatus): readonly FieldError[] {
  const has = (type: string) => hasJobCondition(status, type)
  const errors: FieldError[] = []
  const refuse = (isWrong: boolean, why: string): void => {
    // Upstream leaves the value out of these messages.
    if (isWrong)
      errors.push({ type: 'FieldValueInvalid', field: conditionsPath.toString(), message: `Invalid value: ${why}` })
  }
  refuse(has('Complete') && has('Failed'), 'cannot set Complete=True and Failed=true conditions')
  refuse(has('Complete') && has('FailureTarget'), 'cannot set Complete=True and FailureTarget=true conditions')
  refuse(has('Failed') && has('SuccessCriteriaMet'), 'cannot set Failed=True and SuccessCriteriaMet=true conditions')
  refuse(
    has('SuccessCriteriaMet') && has('FailureTarget'),
    'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
  )
  refuse(
    !hasJobCondition(old, 'Failed') && has('Failed') && !has('FailureTarget'),
    'cannot set Failed=True condition without the FailureTarget=true condition',
  )
  refuse(
    !hasJobCondition(old, 'Complete') && has('Complete') && !has('SuccessCriteriaMet'),
    'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  )
  for (const type of ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet']) {
    refuse(hasJobCondition(old, type) && !has(type), `cannot disable the terminal ${type}=True condition`)
  }
  return errors
}

function finishedErrors(status: JobStatus): readonly FieldError[] {
  const { active = 0, startTime, completionTime, uncountedTerminatedPods = {} } = status
  const errors: FieldError[] = []
  const isComplete = hasJobCondition(status, 'Complete')
  const uncounted = [...(uncountedTerminatedPods.succeeded ?? []), ...(uncountedTerminatedPods.failed ?? [])]
  if (active > 0) {
    errors.push(invalidField(statusPath.field('active'), active, 'active>0 is invalid for finished job'))
  }
  if (uncounted.length > 0) {
    const why = 'uncountedTerminatedPods needs to be empty for finished job'
    errors.push(invalidField(statusPath.field('uncountedTerminatedPods'), uncountedTerminatedPods, why))
  }
  if (isComplete && startTime === undefined) {
    errors.push(requiredField(statusPath.field('startTime'), 'startTime is required for finished job'))
  }
  if (isComplete && completionTime === undefined) {
    errors.push(requiredField(statusPath.field('completionTime'), 'completionTime is required for Complete jobs'))
  }
  return isComplete || completionTime === undefined ? errors : [...errors, wrongCompletionTime(completionTime)]
}

const unfinishedErrors = ({ completionTime }: JobStatus): readonly FieldError[] =>
  completionTime === undefined ? [] : [wrongCompletionTime(completionTime)]

const wrongCompletionTime = (time: string): FieldError =>
  invalidField(
    statusPath.field('completionTime'),
    time,
    'cannot set completionTime when there is no Complete=True condition',
  )

function timeErrors({ spec, status = {} }: Job, old: Job): readonly FieldError[] {
  const { startTime, completionTime } = old.status ?? {}
  const errors: FieldError[] = []
  if (startTime !== undefined && spec.suspend !== true && status.startTime === undefined) {
    errors.push(requiredField(statusPath.field('startTime'), 'startTime cannot be removed for unsuspended job'))
  }
  if (completionTime !== undefined && !deepEqual(completionTime, status.completionTime)) {
    errors.push(invalidField(statusPath.field('completionTime'), status.completionTime, 'field is immutable'))
  }
  return errors
}

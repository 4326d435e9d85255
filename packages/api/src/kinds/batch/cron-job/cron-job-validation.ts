/** Upstream's ValidateCronJob (pkg/apis/batch/validation). */
import { CronError, parseCron } from '../../../cron/cron-schedule.ts'
import { utc } from '../../../cron/time-zone.ts'
import { isZoneName } from '../../../cron/zone-names.ts'
import { type FieldError, invalidField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { checkNonNegative } from '../../validation.ts'
import { validateDependencies } from '../job/job-dependencies.ts'
import { validateJobSpec } from '../job/job-validation.ts'
import type { CronJob, CronJobSpec } from './cron-job-schema.ts'

const specPath = FieldPath.of('spec')

/** Jobs are called after the CronJob and the minute: eleven letters more, of 63. */
const nameLengthMax = 52

export function validateCronJob({ spec }: CronJob): readonly FieldError[] {
  const { jobTemplate } = spec
  const templatePath = specPath.field('jobTemplate')
  const jobPath = templatePath.field('spec')
  const { selector, manualSelector } = jobTemplate.spec
  const dependenciesPath = templatePath.field('metadata').field('annotations')
  return [
    ...checkNonNegative(spec.startingDeadlineSeconds, specPath.field('startingDeadlineSeconds')),
    ...validateJobSpec(jobTemplate.spec, jobPath),
    ...(selector === undefined
      ? []
      : [
          invalidField(
            jobPath.field('selector'),
            structValue('metav1.LabelSelector', selector),
            '`selector` will be auto-generated',
          ),
        ]),
    ...(manualSelector === true
      ? [unsupportedField(jobPath.field('manualSelector'), manualSelector, ['nil', 'false'])]
      : []),
    ...validateDependencies(jobTemplate.metadata ?? {}, undefined, dependenciesPath),
    ...checkNonNegative(spec.successfulJobsHistoryLimit, specPath.field('successfulJobsHistoryLimit')),
    ...checkNonNegative(spec.failedJobsHistoryLimit, specPath.field('failedJobsHistoryLimit')),
  ]
}

export function validateNewCronJob({ metadata: { name = '' }, spec }: CronJob): readonly FieldError[] {
  const tooLong = name.length > nameLengthMax
  return [
    ...scheduleErrors(spec),
    ...zoneErrors(spec),
    ...(tooLong
      ? [invalidField(FieldPath.of('metadata', 'name'), name, `must be no more than ${nameLengthMax} characters`)]
      : []),
  ]
}

/** A zone that the database has lost, and a schedule that was allowed once, may stay. */
export function validateCronJobUpdate({ spec }: CronJob, { spec: old }: CronJob): readonly FieldError[] {
  return [
    ...(spec.schedule === old.schedule && spec.timeZone === old.timeZone ? [] : scheduleErrors(spec, old)),
    ...(spec.timeZone === old.timeZone ? [] : zoneErrors(spec)),
  ]
}

function scheduleErrors(
  { schedule = '', timeZone: zone }: Partial<CronJobSpec> = {},
  old?: CronJobSpec,
): readonly FieldError[] {
  const path = specPath.field('schedule')
  // A schedule that is missing is told by the schema.
  if (schedule === '') return []
  const problems = [cronProblem(schedule), zoneInSchedule(schedule, zone, old?.schedule)]
  return problems.flatMap((why) => (why === undefined ? [] : [invalidField(path, schedule, why)]))
}

/** A schedule may begin with its zone. */
const leadingZone = /^(?:CRON_)?TZ=(\S*)\s*/

function cronProblem(schedule: string): string | undefined {
  const [prefix = '', zone] = leadingZone.exec(schedule) ?? []
  if (zone !== undefined && zone !== '' && !isZoneName(zone)) {
    return `provided bad location ${zone}: unknown time zone ${zone}`
  }
  try {
    parseCron(schedule.slice(prefix.length), utc)
    return undefined
  } catch (error) {
    if (error instanceof CronError) return error.message
    throw error
  }
}

/** Where a schedule names a zone that it may not name. One that did so before may go on. */
function zoneInSchedule(schedule: string, zone: string | undefined, before = ''): string | undefined {
  if (!schedule.includes('TZ')) return undefined
  if (!before.includes('TZ')) return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  return zone === undefined ? undefined : 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
}

function zoneErrors({ timeZone: zone }: CronJobSpec): readonly FieldError[] {
  const path = specPath.field('timeZone')
  if (zone === undefined) return []
  if (zone === '') return [invalidField(path, zone, 'timeZone must be nil or non-empty string')]
  const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
  const isLocal = zone.toLowerCase() === 'local'
  return [
    ...(isLocal ? [invalidField(path, zone, explicit)] : []),
    // Go knows a zone by the name Local.
    ...(zone === 'Local' || isZoneName(zone) ? [] : [invalidField(path, zone, `unknown time zone ${zone}`)]),
  ]
}

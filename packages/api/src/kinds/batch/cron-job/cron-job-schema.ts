import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  boolean,
  enumOf,
  exactInt64,
  int32,
  object,
  optional,
  pointer,
  required,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { objectReference } from '../../core/common.ts'
import { emptyTemplate } from '../../core/pod/pod-template.ts'
import { batchV1 } from '../../meta/names.ts'
import { type JobSpec, type JobTemplateSpec, jobTemplateSpec } from '../job/job-schema.ts'

/** What upstream has where a template must be but is not given. */
const emptyJobTemplate: JobTemplateSpec = { spec: { template: emptyTemplate } as JobSpec }

export interface CronJobSpec extends Infer<typeof cronJobSpec> {}
export const cronJobSpec = object(
  `${batchV1}.CronJobSpec`,
  'When Jobs are made, and what they look like.',
  {
    schedule: required(
      string(),
      'When Jobs are made: minute, hour, day of the month, month and day of the week, or a macro such as @daily.',
    ),
    timeZone: pointer(string(), 'The zone of the schedule, such as Europe/Berlin; that of the controller unless set.'),
    startingDeadlineSeconds: pointer(
      exactInt64(),
      'Seconds after its time at which a Job that could not be made is given up. It is made up for unless set.',
    ),
    concurrencyPolicy: optional(
      enumOf('Allow', 'Forbid', 'Replace'),
      'What if the last Job still runs: Allow both, Forbid the new one, or Replace the old one. Allow unless set.',
      { default: 'Allow' },
    ),
    suspend: pointer(boolean, 'Whether no Jobs are to be made for now. False unless set.', { default: false }),
    jobTemplate: required(jobTemplateSpec, 'What the Jobs look like.', { byValue: true, default: emptyJobTemplate }),
    successfulJobsHistoryLimit: pointer(int32(), 'How many Jobs that succeeded are kept; 3 unless set.', {
      default: 3,
    }),
    failedJobsHistoryLimit: pointer(int32(), 'How many Jobs that failed are kept; 1 unless set.', { default: 1 }),
  },
  {
    checkedOrder: [
      'schedule',
      'startingDeadlineSeconds',
      'timeZone',
      'concurrencyPolicy',
      'jobTemplate',
      'successfulJobsHistoryLimit',
      'failedJobsHistoryLimit',
    ],
  },
)

export interface CronJobStatus extends Infer<typeof cronJobStatus> {}
export const cronJobStatus = object(`${batchV1}.CronJobStatus`, 'What has been made of the schedule.', {
  active: optional(atomicList(objectReference), 'Jobs that are not over yet.'),
  lastScheduleTime: optional(time, 'The time for which a Job was last made.'),
  lastSuccessfulTime: optional(time, 'When a Job last succeeded.'),
})

/** Makes Jobs at certain times. */
export interface CronJob extends Infer<typeof cronJobSchema> {}
export const cronJobSchema = kindSchema(`${batchV1}.CronJob`, 'Makes Jobs at the times of a schedule.', {
  spec: required(cronJobSpec, 'When, and what.', { default: { schedule: '', jobTemplate: emptyJobTemplate } }),
  status: optional(cronJobStatus, 'What has been made of it. Written by the controller.', { default: {} }),
})

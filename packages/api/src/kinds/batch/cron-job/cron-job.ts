import { FieldPath } from '../../../field-path.ts'
import { withFields } from '../../../schema/with-fields.ts'
import { formatSelector } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, timeSince, wideColumn } from '../../columns.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { nameWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import { batchChecks } from '../batch-checks.ts'
import { jobSpec, jobTemplateSpec } from '../job/job-schema.ts'
import { jobSpecWarnings } from '../job/job-warnings.ts'
import { type CronJob, cronJobSchema, cronJobSpec } from './cron-job-schema.ts'

/** The defaults of Jobs come to them when they are made. */
function withDefaults(cronJob: CronJob): CronJob {
  const { jobTemplate } = cronJob.spec
  const template = podTemplateDefaults(jobTemplate.spec.template)
  const spec = withFields(cronJobSpec, cronJob.spec, {
    jobTemplate: withFields(jobTemplateSpec, jobTemplate, {
      spec: withFields(jobSpec, jobTemplate.spec, { template }),
    }),
  })
  return withFields(cronJobSchema, cronJob, { spec })
}

/** A word, though the column says that it is a truth. */
function suspendText({ spec: { suspend } }: CronJob): string {
  if (suspend === undefined) return '<unset>'
  return suspend ? 'True' : 'False'
}

/** A CronJob whose template of Jobs makes pods without the fields that are off. */
function withEnabledTemplate(cronJob: CronJob, old?: CronJob): CronJob {
  const { jobTemplate } = cronJob.spec
  const enabled = withoutDisabledTemplateFields(jobTemplate, old?.spec.jobTemplate)
  return enabled === jobTemplate ? cronJob : { ...cronJob, spec: { ...cronJob.spec, jobTemplate: enabled } }
}

/** `batch/v1` cronjobs. */
export const cronJobs = kind<CronJob>(cronJobSchema, {
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  columns: [
    nameColumn,
    column('Schedule', ({ spec }) => spec.schedule, { field: 'spec.schedule' }),
    column('Timezone', ({ spec }) => spec.timeZone ?? '<none>', { field: 'spec.timeZone' }),
    column('Suspend', suspendText, { field: 'spec.suspend' }),
    column('Active', ({ status }) => status?.active?.length ?? 0, {
      type: 'integer',
      description: 'How many Jobs are not over yet.',
    }),
    column(
      'Last Schedule',
      ({ status }, nowMs) =>
        status?.lastScheduleTime === undefined ? '<none>' : timeSince(status.lastScheduleTime, nowMs),
      { field: 'status.lastScheduleTime' },
    ),
    ageColumn,
    ...containerColumns<CronJob>(({ spec }) => spec.jobTemplate.spec.template),
    wideColumn('Selector', ({ spec }) => formatSelector(spec.jobTemplate.spec.selector), {
      field: 'spec.jobTemplate.spec.selector',
    }),
  ],
  defaults: withDefaults,
  countsGenerations: true,
  prepareForCreate: (cronJob) => ({ ...withEnabledTemplate(cronJob), status: {} }),
  prepareForUpdate: withEnabledTemplate,
  load: batchChecks.load,
  validate: (cronJob) => batchChecks.get().validateCronJob(cronJob),
  validateCreate: (cronJob) => batchChecks.get().validateNewCronJob(cronJob),
  validateUpdate: (cronJob, old) => batchChecks.get().validateCronJobUpdate(cronJob, old),
  warnings: (cronJob, old) => [
    ...nameWarnings(cronJob, old, 'Pod names and hostnames'),
    ...jobSpecWarnings(cronJob.spec.jobTemplate.spec, FieldPath.of('spec', 'jobTemplate', 'spec'), cronJob, old),
  ],
})

import { FieldPath } from '../../../field-path.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { nameWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import { batchChecks } from '../batch-checks.ts'
import { jobColumns } from './job-columns.ts'
import { jobDefaults } from './job-defaults.ts'
import { type Job, jobSchema } from './job-schema.ts'
import { withGeneratedSelector } from './job-selector.ts'
import { jobSpecWarnings } from './job-warnings.ts'

/** `batch/v1` jobs. */
export const jobs = kind<Job>(jobSchema, {
  plural: 'jobs',
  categories: ['all'],
  columns: jobColumns,
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  // Orphaning was the default before there was a garbage collector, and this version keeps to it.
  rules: {
    dependents: 'orphaned',
    dependentsWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  defaults: jobDefaults,
  countsGenerations: true,
  prepareForCreate: (job) => withGeneratedSelector({ ...withoutDisabledTemplateFields(job), status: {} }),
  prepareForUpdate: withoutDisabledTemplateFields,
  load: batchChecks.load,
  validate: (job) => batchChecks.get().validateJob(job),
  validateUpdate: (job, old) => batchChecks.get().validateJobUpdate(job, old),
  validateStatusUpdate: (job, old) => batchChecks.get().validateJobStatusUpdate(job, old),
  warnings: (job, old) => [
    ...nameWarnings(job, old, 'Pod names and hostnames'),
    ...jobSpecWarnings(job.spec, FieldPath.of('spec'), job, old),
  ],
})

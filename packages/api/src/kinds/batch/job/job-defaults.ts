import { withFields } from '../../../schema/with-fields.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { type Job, type JobSpec, jobSchema, jobSpec } from './job-schema.ts'

export const backoffLimitDefault = 6
const int32Max = 2 ** 31 - 1

/** batch/v1 SetDefaults_Job. */
export function jobDefaults(job: Job): Job {
  const labels = job.spec.template.metadata?.labels
  const takesLabels = labels !== undefined && Object.keys(job.metadata.labels ?? {}).length === 0
  return withFields(jobSchema, job, {
    ...(takesLabels ? { metadata: { ...job.metadata, labels } } : {}),
    spec: jobSpecDefaults(job.spec),
  })
}

function jobSpecDefaults(spec: JobSpec): JobSpec {
  const isSingle = spec.completions === undefined && spec.parallelism === undefined
  return withFields(jobSpec, spec, {
    ...(isSingle ? { completions: 1 } : {}),
    parallelism: spec.parallelism ?? 1,
    backoffLimit: spec.backoffLimit ?? (spec.backoffLimitPerIndex === undefined ? backoffLimitDefault : int32Max),
    completionMode: spec.completionMode ?? 'NonIndexed',
    suspend: spec.suspend ?? false,
    manualSelector: spec.manualSelector ?? false,
    podReplacementPolicy:
      spec.podReplacementPolicy ?? (spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'),
    template: podTemplateDefaults(spec.template),
  })
}

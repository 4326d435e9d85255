import type { FieldPath } from '../../../field-path.ts'
import type { KubernetesObject } from '../../../meta.ts'
import { podTemplateWarnings } from '../../core/pod/pod-warnings.ts'
import type { JobSpec } from './job-schema.ts'

/** So many indexes, of so many pods at once, may fail in more ways than a status can tell. */
const completionsWarnedOf = 100_000
const parallelismWarnedOf = 10_000

/** What is hardly meant in the spec of a Job, or of a template of Jobs, whenever `owner` changes (api/job WarningsForJobSpec). */
export function jobSpecWarnings(
  spec: JobSpec,
  path: FieldPath,
  owner: KubernetesObject,
  old: KubernetesObject | undefined,
): readonly string[] {
  if (old !== undefined && old.metadata.generation === owner.metadata.generation) return []
  const { completionMode, completions = 0, parallelism = 0 } = spec
  const isTooMuch = completions > completionsWarnedOf && parallelism > parallelismWarnedOf
  return [
    ...(completionMode === 'Indexed' && isTooMuch
      ? [
          `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...podTemplateWarnings(spec.template, path.field('template'), owner, old),
  ]
}

/** Upstream's ValidateReplicationController (pkg/apis/core/validation). */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { selectorFromMap } from '../../../selectors.ts'
import { checkNonNegative } from '../../validation.ts'
import type { PodTemplateSpec } from '../pod/pod-template.ts'
import { validatePodTemplateSpec } from '../pod/pod-validation.ts'
import type {
  ReplicationController,
  ReplicationControllerSpec,
  ReplicationControllerStatus,
} from './replication-controller-schema.ts'

/** What is wrong with the spec of a replication controller. */
export function validateReplicationController({ spec }: ReplicationController): readonly FieldError[] {
  const path = FieldPath.of('spec')
  return [
    ...checkNonNegative(spec.minReadySeconds, path.field('minReadySeconds')),
    ...(isEmpty(spec.selector) ? [requiredField(path.field('selector'))] : []),
    ...(spec.replicas === undefined ? [requiredField(path.field('replicas'))] : []),
    ...checkNonNegative(spec.replicas, path.field('replicas')),
    ...validateTemplate(spec, path.field('template')),
  ]
}

/** What is wrong with the counts in the status of a replication controller. */
export function validateReplicationControllerStatus({ status }: ReplicationController): readonly FieldError[] {
  if (status === undefined) return []
  const path = FieldPath.of('status')
  const { replicas, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const errors: FieldError[] = countFields.flatMap((field) => checkNonNegative(status[field], path.field(field)))
  const atMost = (field: string, count: number, limit: number, limitName: string): void => {
    if (count > limit) errors.push(invalidField(path.field(field), count, `cannot be greater than ${limitName}`))
  }
  atMost('fullyLabeledReplicas', fullyLabeledReplicas, replicas, 'status.replicas')
  atMost('readyReplicas', readyReplicas, replicas, 'status.replicas')
  atMost('availableReplicas', availableReplicas, replicas, 'status.replicas')
  atMost('availableReplicas', availableReplicas, readyReplicas, 'readyReplicas')
  return errors
}

const countFields = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const satisfies readonly (keyof ReplicationControllerStatus)[]

const isEmpty = (map: Readonly<Record<string, string>> | undefined): boolean => Object.keys(map ?? {}).length === 0

function validateTemplate(spec: ReplicationControllerSpec, path: FieldPath): readonly FieldError[] {
  const { template, selector } = spec
  if (template === undefined) return [requiredField(path)]
  const labels = template.metadata?.labels
  const mismatch = !isEmpty(selector) && !selectorFromMap(selector).matches(labels)
  return [
    ...(mismatch
      ? [
          invalidField(
            path.field('metadata').field('labels'),
            labels ?? noLabels,
            '`selector` does not match template `labels`',
          ),
        ]
      : []),
    ...validatePodTemplateSpec(template, path),
    ...validateLongRunning(template, path.field('spec')),
  ]
}

/** Shown as null: upstream has an empty map there, which is not the same as a value that is missing. */
const noLabels = { toJSON: () => null }

/** Pods of a replication controller never end by themselves: one that did would be replaced at once. */
function validateLongRunning({ spec }: PodTemplateSpec, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = []
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== 'Always') {
    errors.push(unsupportedField(path.field('restartPolicy'), spec.restartPolicy, ['Always']))
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const why = 'activeDeadlineSeconds in ReplicationController is not Supported'
    errors.push(forbiddenField(path.field('activeDeadlineSeconds'), why))
  }
  return errors
}

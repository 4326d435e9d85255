/** Upstream's ValidateReplicationController (pkg/apis/core/validation). */
import { type FieldError, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { selectorFromMap } from '../../../selectors.ts'
import { checkNonNegative, validateReplicaCounts } from '../../validation.ts'
import { validateReplicatedTemplate } from '../pod/replicated-template.ts'
import type { ReplicationController, ReplicationControllerSpec } from './replication-controller-schema.ts'

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
  return validateReplicaCounts(status, path)
}

const isEmpty = (map: Readonly<Record<string, string>> | undefined): boolean => Object.keys(map ?? {}).length === 0

function validateTemplate(spec: ReplicationControllerSpec, path: FieldPath): readonly FieldError[] {
  const { template, selector } = spec
  if (template === undefined) return [requiredField(path)]
  return validateReplicatedTemplate(template, selectorFromMap(selector), path, 'ReplicationController')
}

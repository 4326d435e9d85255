/** Upstream's ValidateReplicaSet (pkg/apis/apps/validation). */
import type { FieldError } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { emptyTemplate } from '../../core/pod/pod-template.ts'
import { checkRequiredSelector, validateSelectedTemplate } from '../../core/pod/replicated-template.ts'
import { checkNonNegative, checkUnchanged, validateReplicaCounts } from '../../validation.ts'
import type { ReplicaSet } from './replica-set-schema.ts'

const specPath = FieldPath.of('spec')

export function validateReplicaSet({ spec }: ReplicaSet): readonly FieldError[] {
  const { selector, template = emptyTemplate } = spec
  return [
    ...checkNonNegative(spec.replicas, specPath.field('replicas')),
    ...checkNonNegative(spec.minReadySeconds, specPath.field('minReadySeconds')),
    // A selector that is missing is told by the schema. The message says deployment upstream as well.
    ...(selector === undefined ? [] : checkRequiredSelector(selector, specPath.field('selector'), 'deployment')),
    ...validateSelectedTemplate(template, selector, specPath, 'ReplicaSet', 'invalid label selector'),
  ]
}

export function validateReplicaSetUpdate({ spec }: ReplicaSet, old: ReplicaSet): readonly FieldError[] {
  return checkUnchanged(spec.selector, old.spec.selector, specPath.field('selector'), 'metav1.LabelSelector')
}

export function validateReplicaSetStatus({ status }: ReplicaSet): readonly FieldError[] {
  return validateReplicaCounts(status ?? {}, FieldPath.of('status'))
}

/** Upstream's ValidateDeployment (pkg/apis/apps/validation). */
import {
  addErrors,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { checkRequiredSelector, validateSelectedTemplate } from '../../core/pod/replicated-template.ts'
import { shownUpdateStrategy } from '../../shown-values.ts'
import {
  checkAtMostAll,
  checkCountAtMost,
  checkCounts,
  checkIntOrPercent,
  checkNonNegative,
  checkNotDecremented,
  checkUnchanged,
  isNone,
} from '../../validation.ts'
import type { Deployment, DeploymentStrategy, RollingUpdateDeployment } from './deployment-schema.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

export function validateDeployment({ spec }: Deployment): readonly FieldError[] {
  const { selector, template, strategy = {}, minReadySeconds = 0, progressDeadlineSeconds } = spec
  const errors: FieldError[] = [
    ...checkNonNegative(spec.replicas, specPath.field('replicas')),
    // A selector that is missing is told by the schema.
    ...(selector === undefined ? [] : checkRequiredSelector(selector, specPath.field('selector'), 'deployment')),
    ...validateSelectedTemplate(template, selector, specPath, 'ReplicaSet', 'invalid label selector'),
    ...checkStrategy(strategy, specPath.field('strategy')),
    ...checkNonNegative(minReadySeconds, specPath.field('minReadySeconds')),
    ...checkNonNegative(spec.revisionHistoryLimit, specPath.field('revisionHistoryLimit')),
  ]
  if (progressDeadlineSeconds !== undefined) {
    const path = specPath.field('progressDeadlineSeconds')
    addErrors(errors, checkNonNegative(progressDeadlineSeconds, path))
    if (progressDeadlineSeconds <= minReadySeconds) {
      errors.push(invalidField(path, progressDeadlineSeconds, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

export function validateDeploymentUpdate({ spec }: Deployment, old: Deployment): readonly FieldError[] {
  return checkUnchanged(spec.selector, old.spec.selector, specPath.field('selector'), 'metav1.LabelSelector')
}

export function validateDeploymentStatusUpdate({ status = {} }: Deployment, old: Deployment): readonly FieldError[] {
  const within = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const
  const { replicas, readyReplicas, availableReplicas } = status
  const others = ['unavailableReplicas', 'terminatingReplicas', 'collisionCount'] as const
  return [
    ...checkCounts(status, ['observedGeneration', 'replicas', ...within, ...others], statusPath),
    ...within.flatMap((name) => checkCountAtMost(status[name], replicas, statusPath.field(name), 'status.replicas')),
    ...checkCountAtMost(availableReplicas, readyReplicas, statusPath.field('availableReplicas'), 'readyReplicas'),
    ...checkNotDecremented(status.collisionCount, old.status?.collisionCount, statusPath.field('collisionCount')),
  ]
}

function checkStrategy(strategy: DeploymentStrategy, path: FieldPath): readonly FieldError[] {
  const { type, rollingUpdate } = strategy
  switch (type) {
    case 'Recreate':
      if (rollingUpdate === undefined) return []
      return [forbiddenField(path.field('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'")]
    case 'RollingUpdate':
      if (rollingUpdate !== undefined) return checkRollingUpdate(rollingUpdate, path.field('rollingUpdate'))
      return [requiredField(path.field('rollingUpdate'), 'this should be defaulted and never be nil')]
    default:
      return [unsupportedField(path, shownUpdateStrategy(strategy), ['Recreate', 'RollingUpdate'])]
  }
}

function checkRollingUpdate(
  { maxUnavailable, maxSurge }: RollingUpdateDeployment,
  path: FieldPath,
): readonly FieldError[] {
  const [unavailablePath, surgePath] = [path.field('maxUnavailable'), path.field('maxSurge')]
  return [
    ...checkIntOrPercent(maxUnavailable, unavailablePath),
    ...checkIntOrPercent(maxSurge, surgePath),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalidField(unavailablePath, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...checkAtMostAll(maxUnavailable, unavailablePath),
  ]
}

/** Upstream's ValidateDaemonSet (pkg/apis/apps/validation). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { checkRequiredSelector, matcherOf, validateReplicatedTemplate } from '../../core/pod/replicated-template.ts'
import { shownUpdateStrategy } from '../../shown-values.ts'
import {
  checkAtMostAll,
  checkCounts,
  checkIntOrPercent,
  checkNonNegative,
  checkNotDecremented,
  checkUnchanged,
  isNone,
} from '../../validation.ts'
import type { DaemonSet, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from './daemon-set-schema.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

export function validateDaemonSet({ spec }: DaemonSet): readonly FieldError[] {
  const { selector, template, updateStrategy = {} } = spec
  return [
    // A selector that is missing selects no template, and nothing else is said of it.
    ...(selector === undefined ? [] : checkRequiredSelector(selector, specPath.field('selector'), 'daemonset')),
    ...validateReplicatedTemplate(template, matcherOf(selector), specPath.field('template'), 'DaemonSet'),
    ...checkNonNegative(spec.minReadySeconds, specPath.field('minReadySeconds')),
    ...checkUpdateStrategy(updateStrategy, specPath.field('updateStrategy')),
    ...checkNonNegative(spec.revisionHistoryLimit, specPath.field('revisionHistoryLimit')),
  ]
}

export function validateDaemonSetUpdate({ spec }: DaemonSet, old: DaemonSet): readonly FieldError[] {
  return checkUnchanged(spec.selector, old.spec.selector, specPath.field('selector'), 'metav1.LabelSelector')
}

const countNames = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const

export function validateDaemonSetStatusUpdate({ status }: DaemonSet, old: DaemonSet): readonly FieldError[] {
  if (status === undefined) return []
  return [
    ...checkCounts(status, countNames, statusPath),
    ...checkNotDecremented(status.collisionCount, old.status?.collisionCount, statusPath.field('collisionCount')),
  ]
}

function checkUpdateStrategy(strategy: DaemonSetUpdateStrategy, path: FieldPath): readonly FieldError[] {
  switch (strategy.type) {
    case 'OnDelete':
      return []
    case 'RollingUpdate':
      if (strategy.rollingUpdate === undefined) return [requiredField(path.field('rollingUpdate'))]
      return checkRollingUpdate(strategy.rollingUpdate, path.field('rollingUpdate'))
    default:
      return [unsupportedField(path, shownUpdateStrategy(strategy), ['RollingUpdate', 'OnDelete'])]
  }
}

function checkRollingUpdate(
  { maxUnavailable, maxSurge }: RollingUpdateDaemonSet,
  path: FieldPath,
): readonly FieldError[] {
  const [unavailablePath, surgePath] = [path.field('maxUnavailable'), path.field('maxSurge')]
  const errors = [
    ...checkIntOrPercent(maxUnavailable, unavailablePath),
    ...checkIntOrPercent(maxSurge, surgePath),
    ...checkAtMostAll(maxUnavailable, unavailablePath),
    ...checkAtMostAll(maxSurge, surgePath),
  ]
  if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    errors.push(invalidField(surgePath, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  }
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    errors.push(requiredField(unavailablePath, 'cannot be 0 when maxSurge is 0'))
  }
  return errors
}

import { type FieldError, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { checkLabelSelector } from '../../core/pod/validation/checks.ts'
import { checkConditions } from '../../meta/condition.ts'
import { checkNonNegative } from '../../validation.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from './schema.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

export function validatePodDisruptionBudget({ spec }: PodDisruptionBudget): readonly FieldError[] {
  if (spec === undefined) return []
  const { minAvailable, maxUnavailable, selector } = spec
  const errors: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalidField(specPath, spec, 'minAvailable and maxUnavailable cannot be both set'))
  }
  return [
    ...errors,
    ...checkIntOrPercent(minAvailable, specPath.field('minAvailable')),
    ...checkIntOrPercent(maxUnavailable, specPath.field('maxUnavailable')),
    ...checkLabelSelector(selector, specPath.field('selector')),
  ]
}

export function validatePodDisruptionBudgetStatus({ status }: PodDisruptionBudget): readonly FieldError[] {
  if (status === undefined) return []
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const
  return [
    ...checkConditions(status.conditions, statusPath.field('conditions')),
    ...counts.flatMap((name) => checkNonNegative(countOf(status, name), statusPath.field(name))),
  ]
}

const countOf = (
  status: PodDisruptionBudgetStatus,
  name: 'disruptionsAllowed' | 'currentHealthy' | 'desiredHealthy' | 'expectedPods',
): number => status[name]

/** A number that is not negative, or a percentage up to 100 (apps/validation). */
function checkIntOrPercent(value: number | string | undefined, path: FieldPath): readonly FieldError[] {
  if (value === undefined) return []
  if (typeof value === 'number') return checkNonNegative(value, path)
  if (!/^[0-9]+%$/.test(value)) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
    return [invalidField(path, value, why)]
  }
  return Number(value.slice(0, -1)) > 100 ? [invalidField(path, value, 'must not be greater than 100%')] : []
}

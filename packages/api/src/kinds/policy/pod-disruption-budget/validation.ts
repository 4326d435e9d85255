import { type FieldError, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { checkLabelSelector } from '../../core/pod/validation/checks.ts'
import { checkConditions } from '../../meta/condition.ts'
import { shownSelector } from '../../shown-values.ts'
import { checkAtMostAll, checkIntOrPercent, checkNonNegative } from '../../validation.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from './schema.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

const shownSpec = (spec: PodDisruptionBudgetSpec): unknown => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: shownSelector(spec.selector) ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
})

export function validatePodDisruptionBudget({ spec }: PodDisruptionBudget): readonly FieldError[] {
  if (spec === undefined) return []
  const { minAvailable, maxUnavailable, selector } = spec
  const errors: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalidField(specPath, shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set'))
  }
  return [
    ...errors,
    ...checkIntOrPercent(minAvailable, specPath.field('minAvailable')),
    ...checkAtMostAll(minAvailable, specPath.field('minAvailable')),
    ...checkIntOrPercent(maxUnavailable, specPath.field('maxUnavailable')),
    ...checkAtMostAll(maxUnavailable, specPath.field('maxUnavailable')),
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

/** What is wrong with the policies of a Job (pkg/apis/batch/validation). */
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  tooLongField,
  tooManyField,
  unsupportedField,
} from '../../../field-error.ts'
import type { FieldPath } from '../../../field-path.ts'
import { repeatedAt } from '../../../finder.ts'
import { checkTextOrEmpty } from '../../core/pod/validation/checks.ts'
import { checkNonNegative } from '../../validation.ts'
import { checkIndexes } from './job-indexes.ts'
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from './job-schema.ts'

const rulesMax = 20
const conditionPatternsMax = 20
const exitCodesMax = 255
const succeededIndexesLengthMax = 64 * 1024

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

/** A value of a list that must be there, in the words that upstream has for these. */
function checkChoice(value: string, choices: readonly string[], path: FieldPath): readonly FieldError[] {
  if (value === '') return [requiredField(path, `valid values: ${goList(choices)}`)]
  return choices.includes(value) ? [] : [unsupportedField(path, value, choices)]
}

const goList = (texts: readonly string[]): string => `[${texts.map((each) => JSON.stringify(each)).join(' ')}]`

export function checkPodFailurePolicy(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? []
  const rulesPath = path.field('rules')
  const { containers = [], initContainers = [] } = spec.template.spec
  const names = new Set([...containers, ...initContainers].map(({ name }) => name))
  return [
    ...(rules.length > rulesMax ? [tooManyField(rulesPath, rules.length, rulesMax)] : []),
    ...rules.flatMap((rule, index) => checkRule(rule, spec, names, rulesPath.index(index))),
  ]
}

function checkRule(
  { action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  spec: JobSpec,
  names: ReadonlySet<string>,
  path: FieldPath,
): readonly FieldError[] {
  const needsLimit = action === 'FailIndex' && spec.backoffLimitPerIndex === undefined
  const both = onExitCodes !== undefined && onPodConditions.length > 0
  const neither = onExitCodes === undefined && onPodConditions.length === 0
  return [
    ...checkChoice(action, actions, path.field('action')),
    ...(needsLimit ? [invalidField(path.field('action'), action, 'requires the backoffLimitPerIndex to be set')] : []),
    ...(onExitCodes === undefined ? [] : checkExitCodes(onExitCodes, names, path.field('onExitCodes'))),
    ...checkPatterns(onPodConditions, path.field('onPodConditions')),
    ...(both ? [invalidRule(path, 'specifying both OnExitCodes and OnPodConditions is not supported')] : []),
    ...(neither ? [invalidRule(path, 'specifying one of OnExitCodes and OnPodConditions is required')] : []),
  ]
}

/** Upstream leaves the value out of these messages. */
const invalidRule = (path: FieldPath, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: path.toString(),
  message: `Invalid value: ${why}`,
})

function checkExitCodes(
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  names: ReadonlySet<string>,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [...checkChoice(operator, operators, path.field('operator'))]
  if (containerName !== undefined && !names.has(containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template'
    errors.push(invalidField(path.field('containerName'), containerName, why))
  }
  const valuesPath = path.field('values')
  if (values.length === 0) errors.push(invalidField(valuesPath, values, 'at least one value is required'))
  if (values.length > exitCodesMax) errors.push(tooManyField(valuesPath, values.length, exitCodesMax))
  const repeated = repeatedAt(values, String)
  for (const [index, value] of values.entries()) {
    const at = valuesPath.index(index)
    if (operator === 'In' && value === 0) errors.push(invalidField(at, value, 'must not be 0 for the In operator'))
    if (repeated.has(index)) errors.push(duplicateField(at, value))
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value)
  return isOrdered ? errors : [...errors, invalidField(valuesPath, values, 'must be ordered')]
}

function checkPatterns(
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
  path: FieldPath,
): readonly FieldError[] {
  const tooMany =
    patterns.length > conditionPatternsMax ? [tooManyField(path, patterns.length, conditionPatternsMax)] : []
  const each = patterns.flatMap(({ type, status = '' }, index) => [
    ...checkTextOrEmpty('qualified-name', type, path.index(index).field('type')),
    ...checkChoice(status, statuses, path.index(index).field('status')),
  ])
  return [...tooMany, ...each]
}

export function checkSuccessPolicy(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const rules = spec.successPolicy?.rules ?? []
  const rulesPath = path.field('rules')
  if (rules.length === 0) {
    return [requiredField(rulesPath, 'at least one rules must be specified when the successPolicy is specified')]
  }
  return [
    ...(rules.length > rulesMax ? [tooManyField(rulesPath, rules.length, rulesMax)] : []),
    ...rules.flatMap((rule, index) => checkSuccessRule(rule, spec.completions ?? 0, rulesPath.index(index))),
  ]
}

function checkSuccessRule(
  { succeededIndexes, succeededCount }: SuccessPolicyRule,
  completions: number,
  path: FieldPath,
): readonly FieldError[] {
  if (succeededIndexes === undefined && succeededCount === undefined) {
    return [requiredField(path, 'at least one of succeededCount or succeededIndexes must be specified')]
  }
  const errors: FieldError[] = []
  const indexesPath = path.field('succeededIndexes')
  const countPath = path.field('succeededCount')
  if (succeededIndexes !== undefined && Buffer.byteLength(succeededIndexes) > succeededIndexesLengthMax) {
    errors.push(tooLongField(indexesPath, succeededIndexesLengthMax))
  }
  const total = succeededIndexes === undefined ? completions : checkIndexes(succeededIndexes, completions)
  if (typeof total === 'string') {
    errors.push(invalidField(indexesPath, succeededIndexes, `error parsing succeededIndexes: ${total}`))
  }
  if (succeededCount === undefined) return errors
  errors.push(...checkNonNegative(succeededCount, countPath))
  if (succeededCount > completions) {
    const why = `must be less than or equal to ${completions} (the number of specified completions)`
    errors.push(invalidField(countPath, succeededCount, why))
  }
  const named = typeof total === 'string' ? 0 : total
  if (succeededIndexes !== undefined && succeededCount > named) {
    const why = `must be less than or equal to ${named} (the number of indexes in the specified succeededIndexes field)`
    errors.push(invalidField(countPath, succeededCount, why))
  }
  return errors
}

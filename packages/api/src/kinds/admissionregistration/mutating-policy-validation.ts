/** What is wrong with a mutating policy, in the words of upstream's validation of admissionregistration. */
import { compileMutation } from '../../admission/index.ts'
import { expressionError } from '../../cel/expression-error.ts'
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import type { MutatingAdmissionPolicy, Mutation } from './mutating-admission-policy-schema.ts'
import {
  changedOperationErrors,
  constraintErrors,
  paramKindErrors,
  type Surroundings,
  variableErrors,
} from './policy-validation.ts'
import { validateMatchConditions } from './rule-validation.ts'

const specPath = FieldPath.of('spec')

export function validateMutatingPolicy({ spec = {} }: MutatingAdmissionPolicy): readonly FieldError[] {
  const { paramKind, matchConstraints, matchConditions = [], variables = [], mutations = [] } = spec
  const hasParams = paramKind !== undefined
  const around: Surroundings = { hasParams, variables: new Map() }
  return [
    ...(paramKind === undefined ? [] : paramKindErrors(paramKind, specPath.field('paramKind'))),
    ...constraintErrors(matchConstraints, specPath.field('matchConstraints')),
    ...changedOperationErrors(matchConstraints, specPath.field('matchConstraints')),
    ...validateMatchConditions(matchConditions, specPath.field('matchConditions'), hasParams),
    ...variables.flatMap((each, index) => variableErrors(each, around, specPath.field('variables').index(index))),
    ...(mutations.length === 0
      ? [requiredField(specPath.field('mutations'), 'mutations must contain at least one item')]
      : mutations.flatMap((each, index) => mutationErrors(each, around, specPath.field('mutations').index(index)))),
    ...reinvocationErrors(spec.reinvocationPolicy ?? '', specPath.field('reinvocationPolicy')),
  ]
}

const patchFields = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

function mutationErrors(mutation: Mutation, around: Surroundings, path: FieldPath): readonly FieldError[] {
  const { patchType } = mutation
  if (patchType === '') return [requiredField(path.field('patchType'))]
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch') {
    return [unsupportedField(path.field('patchType'), patchType, Object.keys(patchFields))]
  }
  const errors: FieldError[] = []
  const [own, other] =
    patchType === 'ApplyConfiguration'
      ? (['applyConfiguration', 'jsonPatch'] as const)
      : (['jsonPatch', 'applyConfiguration'] as const)
  if (mutation[other] !== undefined) {
    const why = `must not be specified when patchType is ${patchType}`
    errors.push(invalidField(path.field(other), `{${other}}`, why))
  }
  const given = mutation[own]
  if (given === undefined) {
    errors.push(requiredField(path.field(own), `must be specified when patchType is ${patchType}`))
    return errors
  }
  const at = path.field(own).field('expression')
  const expression = (given.expression ?? '').trim()
  if (expression === '') return [...errors, requiredField(at)]
  const options = { ...around, hasAuthorizer: true }
  const compiled = compileMutation(expression, patchType, options)
  return 'problem' in compiled ? [...errors, expressionError(at, expression, compiled)] : errors
}

function reinvocationErrors(policy: string, path: FieldPath): readonly FieldError[] {
  if (policy === '') return [requiredField(path)]
  return policy === 'Never' || policy === 'IfNeeded' ? [] : [unsupportedField(path, policy, ['IfNeeded', 'Never'])]
}

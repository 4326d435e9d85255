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
  const [own, other] =
    patchType === 'ApplyConfiguration'
      ? (['applyConfiguration', 'jsonPatch'] as const)
      : (['jsonPatch', 'applyConfiguration'] as const)
  const errors = patchErrors(mutation[own], patchType, around, path.field(own))
  if (mutation[other] === undefined) return errors
  const why = `must not be specified when patchType is ${patchType}`
  return [...errors, invalidField(path.field(other), `{${other}}`, why)]
}

function patchErrors(
  given: Mutation['jsonPatch'] | Mutation['applyConfiguration'],
  patchType: keyof typeof patchFields,
  around: Surroundings,
  path: FieldPath,
): readonly FieldError[] {
  if (given === undefined) return [requiredField(path, `must be specified when patchType is ${patchType}`)]
  const at = path.field('expression')
  const expression = (given.expression ?? '').trim()
  if (expression === '') return [requiredField(at)]
  const compiled = compileMutation(expression, patchType, { ...around, hasAuthorizer: true })
  return 'problem' in compiled ? [expressionError(at, expression, compiled)] : []
}

function reinvocationErrors(policy: string, path: FieldPath): readonly FieldError[] {
  if (policy === '') return [requiredField(path)]
  return policy === 'Never' || policy === 'IfNeeded' ? [] : [unsupportedField(path, policy, ['IfNeeded', 'Never'])]
}

/** What is wrong with the binding of a policy, in the words of upstream's validation of admissionregistration. */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { checkFormat, checkPathSegment } from '../../string-formats.ts'
import { checkLabelSelector } from '../core/pod/validation/checks.ts'
import type {
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingSpec,
} from './mutating-admission-policy-binding.ts'
import { changedOperationErrors, validateMatchResources } from './policy-validation.ts'
import type { ParamRef, ValidatingAdmissionPolicyBinding } from './validating-admission-policy-binding.ts'

const specPath = FieldPath.of('spec')
const actions = ['Audit', 'Deny', 'Warn']

export function validateBinding({ spec }: ValidatingAdmissionPolicyBinding): readonly FieldError[] {
  return [...boundErrors(spec), ...actionErrors(spec.validationActions, specPath.field('validationActions'))]
}

export const validateMutatingBinding = ({ spec = {} }: MutatingAdmissionPolicyBinding): readonly FieldError[] => [
  ...boundErrors(spec),
  ...changedOperationErrors(spec.matchResources, specPath.field('matchResources')),
]

/** What bindings of both sorts of policies say. */
function boundErrors({
  policyName = '',
  paramRef,
  matchResources,
}: MutatingAdmissionPolicyBindingSpec): readonly FieldError[] {
  return [
    ...policyNameErrors(policyName),
    ...(paramRef === undefined ? [] : paramRefErrors(paramRef, specPath.field('paramRef'))),
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, specPath.field('matchResources'))),
  ]
}

function policyNameErrors(name: string): readonly FieldError[] {
  const path = specPath.field('policyName')
  if (name === '') return [requiredField(path)]
  return checkFormat('dns1123-subdomain', name).map((problem) => invalidField(path, name, problem))
}

function paramRefErrors(
  { name = '', selector, parameterNotFoundAction = '' }: ParamRef,
  path: FieldPath,
): readonly FieldError[] {
  const exclusive = 'name and selector are mutually exclusive'
  const both = name !== '' && selector !== undefined
  return [
    ...(name === '' ? [] : checkPathSegment(name).map((problem) => invalidField(path.field('name'), name, problem))),
    ...(both ? [forbiddenField(path.field('name'), exclusive)] : []),
    ...checkLabelSelector(selector, path.field('selector')),
    ...(both ? [forbiddenField(path.field('selector'), exclusive)] : []),
    ...(name === '' && selector === undefined
      ? [requiredField(path, 'one of name or selector must be specified')]
      : []),
    ...notFoundActionErrors(parameterNotFoundAction, path.field('parameterNotFoundAction')),
  ]
}

function notFoundActionErrors(action: string, path: FieldPath): readonly FieldError[] {
  if (action === '') return [requiredField(path)]
  return action === 'Allow' || action === 'Deny' ? [] : [unsupportedField(path, action, ['Deny', 'Allow'])]
}

function actionErrors(given: readonly string[], path: FieldPath): readonly FieldError[] {
  if (given.length === 0) return [requiredField(path, 'at least one validation action is required')]
  const errors = given.flatMap((action, index) =>
    actions.includes(action) ? [] : [unsupportedField(path.index(index), action, actions)],
  )
  if (!given.includes('Deny') || !given.includes('Warn')) return errors
  const detail =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
  return [...errors, invalidField(path, given, detail)]
}

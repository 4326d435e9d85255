import { type FieldError, forbiddenField, requiredField, tooLongField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { checkDomainPrefixedPath } from '../../string-formats.ts'
import { checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { checkUnchanged } from '../validation.ts'
import type { IngressClass, IngressClassParametersReference } from './ingress-class.ts'
import { validateReference } from './ingress-validation.ts'

const specPath = FieldPath.of('spec')
const controllerLengthMax = 250

/** What is wrong with a class (networking/validation ValidateIngressClass). */
export function validateIngressClass({ spec = {} }: IngressClass): readonly FieldError[] {
  const { controller = '', parameters } = spec
  const path = specPath.field('controller')
  return [
    ...(Buffer.byteLength(controller) > controllerLengthMax ? [tooLongField(path, controllerLengthMax)] : []),
    ...checkDomainPrefixedPath(controller, path),
    ...(parameters === undefined ? [] : validateParameters(parameters, specPath.field('parameters'))),
  ]
}

export const validateIngressClassUpdate = (
  { spec }: IngressClass,
  { spec: old }: IngressClass,
): readonly FieldError[] => checkUnchanged(spec?.controller ?? '', old?.controller ?? '', specPath.field('controller'))

const scopes: readonly string[] = ['Cluster', 'Namespace']

function validateParameters(parameters: IngressClassParametersReference, path: FieldPath): readonly FieldError[] {
  const { scope = '', namespace } = parameters
  const at = path.field('namespace')
  const errors = validateReference(parameters, path)
  if (!scopes.includes(scope)) return [...errors, unsupportedField(path.field('scope'), scope, scopes)]
  if (scope === 'Namespace' && namespace === undefined) {
    return [...errors, requiredField(at, "`parameters.scope` is set to 'Namespace'")]
  }
  if (scope === 'Cluster' && namespace !== undefined) {
    return [...errors, forbiddenField(at, "`parameters.scope` is set to 'Cluster'")]
  }
  return namespace === undefined ? errors : [...errors, ...checkTextOrEmpty('dns1123-label', namespace, at)]
}

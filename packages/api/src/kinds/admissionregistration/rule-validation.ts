/** What is wrong with rules and match conditions, in the words of upstream's validation of admissionregistration. */
import { compileAdmissionExpression } from '../../admission/index.ts'
import { expressionError } from '../../cel/expression-error.ts'
import { type FieldError, invalidField, requiredField, tooManyField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { checkText } from '../core/pod/validation/checks.ts'
import type { AdmissionRule, MatchCondition } from './rule-schema.ts'

/** Match conditions that one webhook or policy may have. */
export const matchConditionsMax = 64

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export function validateRule(rule: AdmissionRule, path: FieldPath): readonly FieldError[] {
  const { apiVersions = [], scope } = rule
  return [
    ...listErrors(rule.operations, 'operations', path.field('operations')),
    ...(rule.operations ?? []).flatMap((each, index) =>
      operations.includes(each) ? [] : [unsupportedField(path.field('operations').index(index), each, operations)],
    ),
    ...listErrors(rule.apiGroups, 'API groups', path.field('apiGroups')),
    ...listErrors(apiVersions, 'API versions', path.field('apiVersions')),
    ...emptyErrors(apiVersions, path.field('apiVersions')),
    ...resourceErrors(rule.resources ?? [], path.field('resources')),
    ...(scope === undefined || scopes.includes(scope) ? [] : [unsupportedField(path.field('scope'), scope, scopes)]),
  ]
}

/** A list must name something, and a wildcard stands alone. */
function listErrors(list: readonly string[] = [], what: string, path: FieldPath): readonly FieldError[] {
  if (list.length === 0) return [requiredField(path)]
  if (list.length === 1 || !list.includes('*')) return []
  return [invalidField(path, list, `if '*' is present, must not specify other ${what}`)]
}

const emptyErrors = (list: readonly string[], path: FieldPath): readonly FieldError[] =>
  list.flatMap((each, index) => (each === '' ? [requiredField(path.index(index))] : []))

/** Wildcards must not name what another entry names. */
function resourceErrors(resources: readonly string[], path: FieldPath): readonly FieldError[] {
  if (resources.length === 0) return [requiredField(path)]
  const errors = [...emptyErrors(resources, path)]
  const withAllSubresources = new Set<string>()
  const subresourcesOfAll = new Set<string>()
  resources.forEach((each, index) => {
    const [resource = '', ...rest] = each.split('/')
    if (rest.length === 0) return
    const subresource = rest.join('/')
    const overlaps = (wildcard: string) =>
      errors.push(invalidField(path.index(index), each, `if '${wildcard}' is present, must not specify ${each}`))
    if (withAllSubresources.has(resource)) overlaps(`${resource}/*`)
    if (subresourcesOfAll.has(subresource)) overlaps(`*/${subresource}`)
    if (subresource === '*') withAllSubresources.add(resource)
    if (resource === '*') subresourcesOfAll.add(subresource)
  })
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidField(path, resources, "if '*/*' is present, must not specify other resources"))
  }
  // Of those without a subresource the last decides, as upstream.
  const lastResource = resources.findLast((each) => each !== '' && !each.includes('/')) ?? '*'
  if (resources.includes('*') && lastResource !== '*') {
    const detail = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalidField(path, resources, detail))
  }
  return errors
}

/** `hasParams`: the conditions may ask about the parameters of a policy. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: FieldPath,
  hasParams = false,
): readonly FieldError[] {
  return [
    ...(conditions.length > matchConditionsMax ? [tooManyField(path, conditions.length, matchConditionsMax)] : []),
    ...conditions.flatMap(({ name, expression }, index) => {
      const at = path.index(index)
      const errors: FieldError[] = []
      if (expression.trim() === '') errors.push(requiredField(at.field('expression')))
      else {
        const variables = { hasParams, hasAuthorizer: true }
        const compiled = compileAdmissionExpression(expression.trim(), ['bool'], variables)
        if ('problem' in compiled) errors.push(expressionError(at.field('expression'), expression.trim(), compiled))
      }
      // That there is a name, and only once, the schema says.
      if (name !== '') errors.push(...checkText('qualified-name', name, at.field('name')))
      return errors
    }),
  ]
}

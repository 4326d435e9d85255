/** What is wrong with a policy, in the words of upstream's validation of admissionregistration. */

import { compileAdmissionExpression } from '../../admission/index.ts'
import { expressionError } from '../../cel/expression-error.ts'
import { type CelType, types } from '../../cel/types.ts'
import { duplicateField, type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { structValue } from '../../internal-structs/struct-value.ts'
import { JsonPathError, parseJsonPath } from '../../jsonpath/index.ts'
import { checkFormat, checkPathSegment } from '../../string-formats.ts'
import { checkLabelSelector, checkText } from '../core/pod/validation/checks.ts'
import { checkConditions } from '../meta/condition.ts'
import type { MatchResources, NamedAdmissionRule } from './match-resources-schema.ts'
import { validateMatchConditions, validateRule } from './rule-validation.ts'
import type {
  AuditAnnotation,
  ParamKind,
  ValidatingAdmissionPolicy,
  Validation,
  Variable,
} from './validating-admission-policy-schema.ts'

/** What a policy may note about a request, and how long the expression of one may be. */
export const auditAnnotationsMax = 20
export const valueExpressionBytesMax = 5 * 1024

const specPath = FieldPath.of('spec')

export function validatePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): readonly FieldError[] {
  const { paramKind, matchConstraints, matchConditions = [], variables = [], validations = [] } = spec
  const hasParams = paramKind !== undefined
  // Where there are no variables nobody has heard of any.
  const options: Surroundings = { hasParams, ...(variables.length === 0 ? {} : { variables: new Map() }) }
  const annotations = spec.auditAnnotations ?? []
  const nothing = 'validations or auditAnnotations must contain at least one item'
  return [
    ...(paramKind === undefined ? [] : paramKindErrors(paramKind, specPath.field('paramKind'))),
    ...constraintErrors(matchConstraints, specPath.field('matchConstraints')),
    ...validateMatchConditions(matchConditions, specPath.field('matchConditions'), hasParams),
    ...variables.flatMap((each, index) => variableErrors(each, options, specPath.field('variables').index(index))),
    ...(validations.length === 0 && annotations.length === 0
      ? [
          requiredField(specPath.field('validations'), nothing),
          requiredField(specPath.field('auditAnnotations'), nothing),
        ]
      : []),
    ...validations.flatMap((each, index) =>
      validationErrors(each, options, specPath.field('validations').index(index)),
    ),
    ...annotationErrors(annotations, metadata.name ?? '', options, specPath.field('auditAnnotations')),
  ]
}

export function validatePolicyStatus({ status }: ValidatingAdmissionPolicy): readonly FieldError[] {
  const warningsPath = FieldPath.of('status', 'typeChecking', 'expressionWarnings')
  return [
    ...(status?.typeChecking?.expressionWarnings ?? []).flatMap(({ warning, fieldRef }, index) => [
      ...(warning === '' ? [requiredField(warningsPath.index(index).field('warning'))] : []),
      ...fieldRefErrors(fieldRef.trim(), warningsPath.index(index).field('fieldRef')),
    ]),
    ...checkConditions(status?.conditions, FieldPath.of('status', 'conditions')),
  ]
}

/** Where an expression is, as a JSONPath. */
function fieldRefErrors(fieldRef: string, path: FieldPath): readonly FieldError[] {
  if (fieldRef === '') return [requiredField(path)]
  // A path may begin with a name: it is not evaluated.
  const text = /^\w/.test(fieldRef) ? `.${fieldRef}` : fieldRef
  try {
    parseJsonPath(`{${text}}`)
    return []
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error
    return [invalidField(path, fieldRef, `invalid JSONPath: ${error.message}`)]
  }
}

export function constraintErrors(constraints: MatchResources | undefined, path: FieldPath): readonly FieldError[] {
  if (constraints === undefined) return [requiredField(path)]
  const errors = validateMatchResources(constraints, path)
  return (constraints.resourceRules ?? []).length === 0
    ? [...errors, requiredField(path.field('resourceRules'))]
    : errors
}

export function validateMatchResources(given: MatchResources, path: FieldPath): readonly FieldError[] {
  const rules = (name: 'resourceRules' | 'excludeResourceRules') =>
    (given[name] ?? []).flatMap((rule, index) => namedRuleErrors(rule, path.field(name).index(index)))
  return [
    ...checkLabelSelector(given.namespaceSelector, path.field('namespaceSelector')),
    ...checkLabelSelector(given.objectSelector, path.field('objectSelector')),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ]
}

function namedRuleErrors(rule: NamedAdmissionRule, path: FieldPath): readonly FieldError[] {
  const { resourceNames: names = [] } = rule
  const at = path.field('resourceNames')
  const repeated = repeatedAt(names)
  return [
    ...names.flatMap((name, index) => [
      ...checkPathSegment(name).map((problem) => invalidField(at.index(index), name, problem)),
      ...(repeated.has(index) ? [duplicateField(at.index(index), name)] : []),
    ]),
    ...validateRule(rule, path),
  ]
}

export function paramKindErrors({ apiVersion = '', kind = '' }: ParamKind, path: FieldPath): readonly FieldError[] {
  return [...apiVersionErrors(apiVersion, path.field('apiVersion')), ...kindErrors(kind, path.field('kind'))]
}

function apiVersionErrors(apiVersion: string, path: FieldPath): readonly FieldError[] {
  if (apiVersion === '') return [requiredField(path)]
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalidField(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.reverse()
  const problems = group === '' ? [] : checkFormat('dns1123-subdomain', group)
  return [
    ...(problems.length === 0 ? [] : [invalidField(path, group, problems.join(','))]),
    ...(version === ''
      ? [invalidField(path, apiVersion, 'version must be specified')]
      : checkFormat('dns1035-label', version).map((problem) => invalidField(path, version, problem))),
  ]
}

function kindErrors(kind: string, path: FieldPath): readonly FieldError[] {
  if (kind === '') return [requiredField(path)]
  const problems = checkFormat('dns1035-label', kind.toLowerCase())
  if (problems.length === 0) return []
  return [invalidField(path, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

/** What the expressions of a policy have in common. */
export interface Surroundings {
  readonly hasParams: boolean
  /** The types of the variables so far. */
  readonly variables?: Map<string, CelType>
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

export function variableErrors(
  { name = '', expression }: Partial<Pick<Variable, 'name'>> & Omit<Variable, 'name'>,
  around: Surroundings,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = []
  // That there is a name the schema says, unless there is nothing but spaces.
  if (name !== '' && name.trim() === '') errors.push(requiredField(path.field('name'), 'name is not specified'))
  else if (name !== '' && (!identifier.test(name) || reserved.has(name))) {
    errors.push(invalidField(path.field('name'), name, 'must be a valid CEL identifier'))
  }
  const at = path.field('expression')
  if (expression.trim() === '') return [...errors, requiredField(at, 'expression is not specified')]
  const compiled = compileAdmissionExpression(expression, [], { ...around, hasAuthorizer: true })
  // What is made of one that is wrong is not wrong for that.
  around.variables?.set(name, 'problem' in compiled ? types.dyn : compiled.program.type)
  if ('problem' in compiled) return [...errors, expressionError(at, expression, compiled)]
  return errors
}

function validationErrors(
  { expression, message = '', messageExpression = '' }: Validation,
  around: Surroundings,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (expression.trim() === '') errors.push(requiredField(path.field('expression'), 'expression is not specified'))
  else
    errors.push(...expressionErrors(expression, ['bool'], { ...around, hasAuthorizer: true }, path.field('expression')))
  if (messageExpression !== '') {
    const at = path.field('messageExpression')
    if (messageExpression.trim() === '')
      errors.push(invalidField(at, messageExpression, 'must be non-empty if specified'))
    else errors.push(...expressionErrors(messageExpression, ['string'], { ...around, hasAuthorizer: false }, at))
  }
  const at = path.field('message')
  if (message !== '' && message.trim() === '') {
    errors.push(invalidField(at, message, 'must be non-empty if specified'))
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidField(at, message, 'must not contain line breaks'))
  }
  return errors
}

function annotationErrors(
  annotations: readonly AuditAnnotation[],
  policy: string,
  around: Surroundings,
  path: FieldPath,
): readonly FieldError[] {
  const repeated = repeatedAt(annotations.map(({ key }) => key))
  const tooMany = `must not have more than ${auditAnnotationsMax} auditAnnotations`
  return [
    ...(annotations.length > auditAnnotationsMax
      ? [invalidField(path, structValue('admissionregistration.AuditAnnotation', annotations), tooMany)]
      : []),
    ...annotations.flatMap(({ key, valueExpression }, index) => {
      const at = path.index(index)
      return [
        ...checkText('qualified-name', `${policy}/${key}`, at.field('key')),
        ...valueErrors(valueExpression, around, at.field('valueExpression')),
        ...(repeated.has(index) ? [duplicateField(at.field('key'), key)] : []),
      ]
    }),
  ]
}

function valueErrors(expression: string, around: Surroundings, path: FieldPath): readonly FieldError[] {
  const source = expression.trim()
  if (source === '') return [requiredField(path, 'valueExpression is not specified')]
  if (Buffer.byteLength(source) > valueExpressionBytesMax) {
    return [requiredField(path, `must not exceed ${valueExpressionBytesMax} bytes in length`)]
  }
  const compiled = compileAdmissionExpression(source, ['string', 'null'], { ...around, hasAuthorizer: true })
  // It is judged without the spaces around it, and told with them.
  return 'problem' in compiled ? [expressionError(path, expression, compiled)] : []
}

function expressionErrors(
  source: string,
  wanted: readonly ('bool' | 'string' | 'null')[],
  options: Surroundings & { readonly hasAuthorizer: boolean },
  path: FieldPath,
): readonly FieldError[] {
  const compiled = compileAdmissionExpression(source, wanted, options)
  return 'problem' in compiled ? [expressionError(path, source, compiled)] : []
}

const changedOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** Of a delete there is nothing to change. Upstream names the list of all rules. */
export function changedOperationErrors(
  constraints: MatchResources | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.field('resourceRules').field('operations')
  return (constraints?.resourceRules ?? [])
    .flatMap(({ operations = [] }): readonly string[] => operations)
    .filter((operation) => !changedOperations.includes(operation))
    .map((operation) => unsupportedField(at, operation, changedOperations))
}

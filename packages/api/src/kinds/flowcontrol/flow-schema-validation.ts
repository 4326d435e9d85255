import { deepEqual } from '../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { structValue } from '../../internal-structs/struct-value.ts'
import { checkFormat } from '../../string-formats.ts'
import { checkFlowConditions } from './condition-checks.ts'
import type {
  FlowSchema,
  FlowSchemaSpec,
  FlowSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from './flow-schema-schema.ts'
import { exemptName, mandatoryFlowSchemas } from './required-objects.ts'

const matchingPrecedenceMax = 10_000
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const distinguishers = ['ByNamespace', 'ByUser']
const specPath = FieldPath.of('spec')
const wildcard = '*'

/** pkg/apis/flowcontrol/validation ValidateFlowSchema. */
export function validateFlowSchema({ metadata: { name = '' }, spec, status }: FlowSchema): readonly FieldError[] {
  const given: FlowSchemaSpec = spec ?? { priorityLevelConfiguration: { name: '' }, matchingPrecedence: 0 }
  const mandatory = mandatoryFlowSchemas.find((each) => each.metadata.name === name)
  const isOther = mandatory !== undefined && !deepEqual(given, mandatory.spec)
  return [
    ...checkSpec(name, given),
    ...(isOther
      ? [
          invalidField(
            specPath,
            structValue('flowcontrol.FlowSchemaSpec', given),
            `spec of '${name}' must equal the fixed value`,
          ),
        ]
      : []),
    ...checkFlowConditions(status?.conditions, FieldPath.of('status', 'conditions')),
  ]
}

/** What is wrong with the status alone. */
export const validateFlowSchemaStatus = ({ status }: FlowSchema): readonly FieldError[] =>
  checkFlowConditions(status?.conditions, FieldPath.of('status', 'conditions'))

function checkSpec(name: string, spec: FlowSchemaSpec): readonly FieldError[] {
  const {
    matchingPrecedence: precedence = 0,
    distinguisherMethod,
    priorityLevelConfiguration: level,
    rules = [],
  } = spec
  const invalidPrecedence = (isWrong: boolean, why: string): readonly FieldError[] =>
    isWrong ? [invalidField(specPath.field('matchingPrecedence'), precedence, why)] : []
  const levelPath = specPath.field('priorityLevelConfiguration').field('name')
  return [
    ...invalidPrecedence(precedence <= 0, 'must be a positive value'),
    ...invalidPrecedence(precedence > matchingPrecedenceMax, `must not be greater than ${matchingPrecedenceMax}`),
    ...invalidPrecedence(
      precedence === 1 && name !== exemptName,
      "only the schema named 'exempt' may have matchingPrecedence 1",
    ),
    ...(distinguisherMethod === undefined || distinguishers.includes(distinguisherMethod.type)
      ? []
      : [
          unsupportedField(
            specPath.field('distinguisherMethod').field('type'),
            { Type: distinguisherMethod.type },
            distinguishers,
          ),
        ]),
    ...(level.name === ''
      ? [requiredField(levelPath, 'must reference a priority level')]
      : checkFormat('dns1123-subdomain', level.name).map((why) => invalidField(levelPath, level.name, why))),
    ...rules.flatMap((rule, index) => checkRules(rule, specPath.field('rules').index(index))),
  ]
}

function checkRules(rule: PolicyRulesWithSubjects, path: FieldPath): readonly FieldError[] {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule
  return [
    ...(subjects.length === 0
      ? [requiredField(path.field('subjects'), 'subjects must contain at least one value')]
      : subjects.flatMap((subject, index) => checkSubject(subject, path.field('subjects').index(index)))),
    ...(resourceRules.length + nonResourceRules.length === 0
      ? [requiredField(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resourceRules.flatMap((each, index) => checkResourceRule(each, path.field('resourceRules').index(index))),
    ...nonResourceRules.flatMap((each, index) =>
      checkNonResourceRule(each, path.field('nonResourceRules').index(index)),
    ),
  ]
}

const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const
const orderOfForbidden = ['serviceAccount', 'user', 'group'] as const
const kindOfField = { serviceAccount: 'ServiceAccount', user: 'User', group: 'Group' } as const

function checkSubject(subject: FlowSubject, path: FieldPath): readonly FieldError[] {
  const { kind } = subject
  if (kind !== 'ServiceAccount' && kind !== 'User' && kind !== 'Group')
    return [unsupportedField(path.field('kind'), kind, Object.keys(subjectFields).toSorted())]
  const wanted = subjectFields[kind]
  const others = orderOfForbidden.filter((field) => field !== wanted && subject[field] !== undefined)
  return [
    ...checkNamed(subject, wanted, path.field(wanted)),
    ...others.map((field) =>
      forbiddenField(path.field(field), `${field} is forbidden when subject kind is not '${kindOfField[field]}'`),
    ),
  ]
}

function checkNamed(subject: FlowSubject, field: 'serviceAccount' | 'user' | 'group', path: FieldPath) {
  const named = subject[field]
  if (named === undefined)
    return [requiredField(path, `${field} is required when subject kind is '${kindOfField[field]}'`)]
  const missing = named.name === '' ? [requiredField(path.field('name'))] : []
  if (field !== 'serviceAccount' || subject.serviceAccount === undefined) return missing
  const { name, namespace } = subject.serviceAccount
  return [
    ...missing,
    ...(name === '' || name === wildcard
      ? []
      : checkFormat('dns1123-subdomain', name).map((why) => invalidField(path.field('name'), name, why))),
    ...(namespace === ''
      ? [requiredField(path.field('namespace'), 'must specify namespace for service account')]
      : checkFormat('dns1123-label', namespace).map((why) => invalidField(path.field('namespace'), namespace, why))),
  ]
}

function checkVerbs(given: readonly string[], path: FieldPath): readonly FieldError[] {
  if (given.length === 0) return [requiredField(path, 'verbs must contain at least one value')]
  if (given.includes(wildcard))
    return given.length > 1 ? [invalidField(path, given, "if '*' is present, must not specify other verbs")] : []
  return given.every((verb) => verbs.includes(verb)) ? [] : [unsupportedField(path, given, verbs)]
}

function checkNonResourceRule(rule: NonResourcePolicyRule, path: FieldPath): readonly FieldError[] {
  const { nonResourceURLs: urls } = rule
  const at = path.field('nonResourceURLs')
  const errors = [...checkVerbs(rule.verbs, path.field('verbs'))]
  if (urls.length === 0) return [...errors, requiredField(at, 'nonResourceURLs must contain at least one value')]
  if (urls.includes(wildcard)) {
    const why = "if '*' is present, must not specify other non-resource URLs"
    return urls.length > 1 ? [...errors, invalidField(at, urls, why)] : errors
  }
  return [
    ...errors,
    ...urls.flatMap((url, index) => {
      const why = problemOfUrl(url)
      return why === undefined ? [] : [invalidField(at.index(index), url, why)]
    }),
  ]
}

/** ValidateNonResourceURLPath. */
function problemOfUrl(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const wildcards = url.split(wildcard).length - 1
  return wildcards > 1 || (wildcards === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

function checkResourceRule(rule: ResourcePolicyRule, path: FieldPath): readonly FieldError[] {
  const { apiGroups, resources, namespaces = [], clusterScope = false } = rule
  return [
    ...checkVerbs(rule.verbs, path.field('verbs')),
    ...checkAlone(apiGroups, path.field('apiGroups'), 'api group'),
    ...checkAlone(resources, path.field('resources'), 'resource'),
    ...checkNamespaces(namespaces, clusterScope, path.field('namespaces')),
  ]
}

/** Something is named, and a wildcard by itself. */
function checkAlone(given: readonly string[], path: FieldPath, what: string): readonly FieldError[] {
  if (given.length === 0) return [requiredField(path, `resource rules must supply at least one ${what}`)]
  if (given.length === 1 || !given.includes(wildcard)) return []
  return [invalidField(path, given, `if '*' is present, must not specify other ${what}s`)]
}

function checkNamespaces(given: readonly string[], clusterScope: boolean, path: FieldPath): readonly FieldError[] {
  if (given.length === 0 && !clusterScope) {
    const why = 'resource rules that are not cluster scoped must supply at least one namespace'
    return [requiredField(path, why)]
  }
  if (given.includes(wildcard))
    return given.length > 1 ? [invalidField(path, given, "if '*' is present, must not specify other namespaces")] : []
  return given.flatMap((namespace, index) =>
    checkFormat('dns1123-label', namespace).map((why) =>
      invalidField(path.index(index), namespace, `each member of this list must be '*' or a DNS-1123 label; ${why}`),
    ),
  )
}

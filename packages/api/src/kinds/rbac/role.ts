import { type FieldError, invalidField, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { createdAtColumn, nameColumn } from '../columns.ts'
import { labelSelector } from '../core/common.ts'
import { checkLabelSelector } from '../core/pod/validation/checks.ts'
import { kind } from '../kind.ts'
import { rbacV1 } from './names.ts'

export interface PolicyRule extends Infer<typeof policyRule> {}
export const policyRule = object(`${rbacV1}.PolicyRule`, 'What may be done with what.', {
  verbs: required(atomicList(string()), 'What may be done, such as get or create; * is everything.', { default: [] }),
  apiGroups: optional(atomicList(string()), 'API groups of the resources; "" is the core group, * every group.'),
  resources: optional(atomicList(string()), 'Resources, as in URLs, with their subresources; * is every resource.'),
  resourceNames: optional(atomicList(string()), 'Names of the objects that are meant; all unless set.'),
  nonResourceURLs: optional(
    atomicList(string()),
    'Paths outside the API’s resources, which may end in *. Not together with resources, and in ClusterRoles only.',
  ),
})

/** What may be done in one namespace. */
export interface Role extends Infer<typeof roleSchema> {}
export const roleSchema = kindSchema(
  `${rbacV1}.Role`,
  'A set of permissions in one namespace. Bindings give it to somebody.',
  { rules: optional(atomicList(policyRule), 'What may be done.', { alwaysWritten: true }) },
)

export interface AggregationRule extends Infer<typeof aggregationRule> {}
export const aggregationRule = object(`${rbacV1}.AggregationRule`, 'How a role is put together from others.', {
  clusterRoleSelectors: optional(
    atomicList(labelSelector),
    'ClusterRoles whose rules it gets: those that any of these picks.',
  ),
})

/** What may be done in all namespaces, and outside of them. */
export interface ClusterRole extends Infer<typeof clusterRoleSchema> {}
export const clusterRoleSchema = kindSchema(
  `${rbacV1}.ClusterRole`,
  'A set of permissions in all namespaces and outside of them, or in one where a RoleBinding gives it there.',
  {
    rules: optional(atomicList(policyRule), 'What may be done.', { alwaysWritten: true }),
    aggregationRule: optional(aggregationRule, 'Other roles whose rules it gets. A controller then keeps its rules.'),
  },
)

const rulesPath = FieldPath.of('rules')
const selectorsPath = FieldPath.of('aggregationRule', 'clusterRoleSelectors')

function validateRule(rule: PolicyRule, isNamespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs: urls = [] } = rule
  const missing = (field: 'verbs' | 'apiGroups' | 'resources', why: string): readonly FieldError[] =>
    (rule[field] ?? []).length === 0 ? [requiredField(path.field(field), why)] : []
  const verbErrors = verbs.length > 0 ? [] : missing('verbs', 'verbs must contain at least one value')
  if (urls.length === 0) {
    return [
      ...verbErrors,
      ...missing('apiGroups', 'resource rules must supply at least one api group'),
      ...missing('resources', 'resource rules must supply at least one resource'),
    ]
  }
  const invalid = (why: string): FieldError => invalidField(path.field('nonResourceURLs'), urls, why)
  const isMixed = apiGroups.length + resources.length + resourceNames.length > 0
  return [
    ...verbErrors,
    ...(isNamespaced ? [invalid('namespaced rules cannot apply to non-resource URLs')] : []),
    ...(isMixed ? [invalid('rules cannot apply to both regular resources and non-resource URLs')] : []),
  ]
}

const validateRules = (rules: readonly PolicyRule[] | undefined, isNamespaced: boolean): readonly FieldError[] =>
  (rules ?? []).flatMap((rule, index) => validateRule(rule, isNamespaced, rulesPath.index(index)))

function validateAggregation({ clusterRoleSelectors = [] }: AggregationRule): readonly FieldError[] {
  if (clusterRoleSelectors.length === 0) {
    return [requiredField(selectorsPath, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return clusterRoleSelectors.flatMap((each, index) => {
    const path = selectorsPath.index(index)
    const errors = checkLabelSelector(each, path)
    // What it shows is the selector that could not be made.
    return errors.length === 0 ? errors : [...errors, invalidField(path, null, 'invalid label selector.')]
  })
}

/** `rbac.authorization.k8s.io/v1` roles. */
export const roles = kind<Role>(roleSchema, {
  plural: 'roles',
  nameFormat: 'path-segment',
  columns: [nameColumn, createdAtColumn],
  rules: { createsOnUpdate: true },
  validate: ({ rules }) => validateRules(rules, true),
})

/** `rbac.authorization.k8s.io/v1` clusterroles. */
export const clusterRoles = kind<ClusterRole>(clusterRoleSchema, {
  plural: 'clusterroles',
  namespaced: false,
  nameFormat: 'path-segment',
  columns: [nameColumn, createdAtColumn],
  rules: { createsOnUpdate: true },
  validate: ({ rules, aggregationRule: aggregation }) => [
    ...validateRules(rules, false),
    ...(aggregation === undefined ? [] : validateAggregation(aggregation)),
  ],
})

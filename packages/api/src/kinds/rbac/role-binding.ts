import { deepEqual } from '../../equality.ts'
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat, checkPathSegment } from '../../string-formats.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { rbacGroup, rbacV1 } from './names.ts'

export interface Subject extends Infer<typeof subject> {}
export const subject = object(
  `${rbacV1}.Subject`,
  'Who gets a role.',
  {
    kind: required(string(), 'User, Group or ServiceAccount.', { default: '' }),
    apiGroup: optional(string(), 'API group of the kind: filled in for users and groups, empty for service accounts.'),
    name: required(string(), 'Name of the user, the group or the service account.'),
    namespace: optional(string(), 'Namespace of the service account.'),
  },
  { mapType: 'atomic', checkedOrder: ['name', 'kind', 'apiGroup', 'namespace'] },
)

export interface RoleRef extends Infer<typeof roleRef> {}
export const roleRef = object(
  `${rbacV1}.RoleRef`,
  'The role that is given.',
  {
    apiGroup: optional(string(), 'API group of the role.', { default: rbacGroup }),
    kind: required(string(), 'Role or ClusterRole.', { default: '' }),
    name: required(string(), 'Name of the role.'),
  },
  { mapType: 'atomic' },
)

const roleRefField = () =>
  required(roleRef, 'The role that they get. It cannot be changed: delete the binding and make another.', {
    default: { kind: '', name: '' },
    byValue: true,
  })

/** Gives a role to somebody, in one namespace. */
export interface RoleBinding extends Infer<typeof roleBindingSchema> {}
export const roleBindingSchema = kindSchema(
  `${rbacV1}.RoleBinding`,
  'Gives the permissions of a role to somebody, in one namespace.',
  { subjects: optional(atomicList(subject), 'Who gets the role.'), roleRef: roleRefField() },
  { checkedOrder: ['metadata', 'roleRef', 'subjects'] },
)

/** Gives a role to somebody, everywhere. */
export interface ClusterRoleBinding extends Infer<typeof clusterRoleBindingSchema> {}
export const clusterRoleBindingSchema = kindSchema(
  `${rbacV1}.ClusterRoleBinding`,
  'Gives the permissions of a ClusterRole to somebody, in all namespaces and outside of them.',
  { subjects: optional(atomicList(subject), 'Who gets the role.'), roleRef: roleRefField() },
  { checkedOrder: ['metadata', 'roleRef', 'subjects'] },
)

type Binding = Pick<RoleBinding, 'subjects' | 'roleRef'>

/** Users and groups belong to an API group, which need not be said. */
function withGroups<T extends Binding>(binding: T): T {
  const { subjects = [] } = binding
  const filled = subjects.map((each) =>
    (each.apiGroup ?? '') === '' && (each.kind === 'User' || each.kind === 'Group')
      ? { ...each, apiGroup: rbacGroup }
      : each,
  )
  return filled.every((each, index) => each === subjects[index]) ? binding : { ...binding, subjects: filled }
}

const roleRefPath = FieldPath.of('roleRef')

function validateBinding(binding: Binding, kinds: readonly string[], isNamespaced: boolean): readonly FieldError[] {
  const { apiGroup = '', kind: roleKind, name = '' } = binding.roleRef
  return [
    ...(apiGroup === rbacGroup ? [] : [unsupportedField(roleRefPath.field('apiGroup'), apiGroup, [rbacGroup])]),
    ...(kinds.includes(roleKind) ? [] : [unsupportedField(roleRefPath.field('kind'), roleKind, kinds)]),
    ...checkPathSegment(name).map((why) => invalidField(roleRefPath.field('name'), name, why)),
    ...(binding.subjects ?? []).flatMap((each, index) =>
      validateSubject(each, isNamespaced, FieldPath.of('subjects').index(index)),
    ),
  ]
}

const subjectKinds = ['ServiceAccount', 'User', 'Group']

function validateSubject(each: Subject, isNamespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { kind: subjectKind, apiGroup = '', name = '', namespace = '' } = each
  const group = path.field('apiGroup')
  switch (subjectKind) {
    case 'ServiceAccount': {
      const problems = name === '' ? [] : checkFormat('dns1123-subdomain', name)
      return [
        ...problems.map((why) => invalidField(path.field('name'), name, why)),
        ...(apiGroup === '' ? [] : [unsupportedField(group, apiGroup, [''])]),
        ...(!isNamespaced && namespace === '' ? [requiredField(path.field('namespace'))] : []),
      ]
    }
    case 'User':
    case 'Group':
      return apiGroup === rbacGroup ? [] : [unsupportedField(group, apiGroup, [rbacGroup])]
    default:
      return [unsupportedField(path.field('kind'), subjectKind, subjectKinds)]
  }
}

function validateUpdate(next: Binding, old: Binding): readonly FieldError[] {
  if (deepEqual(next.roleRef, old.roleRef)) return []
  const { apiGroup = '', kind, name = '' } = next.roleRef
  return [invalidField(roleRefPath, { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')]
}

const subjectsOf = ({ subjects = [] }: Binding, wanted: string): string =>
  subjects
    .filter((each) => each.kind === wanted)
    .map(({ name, namespace = '' }) => (wanted === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ')

const bindingColumns = [
  nameColumn,
  column<Binding>('Role', (binding) => `${binding.roleRef.kind}/${binding.roleRef.name}`, 'The role that is given.'),
  ageColumn,
  wideColumn<Binding>('Users', (binding) => subjectsOf(binding, 'User'), 'Users who get the role.'),
  wideColumn<Binding>('Groups', (binding) => subjectsOf(binding, 'Group'), 'Groups that get the role.'),
  wideColumn<Binding>(
    'ServiceAccounts',
    (binding) => subjectsOf(binding, 'ServiceAccount'),
    'Service accounts that get the role.',
  ),
]

/** `rbac.authorization.k8s.io/v1` rolebindings. */
export const roleBindings = kind<RoleBinding>(roleBindingSchema, {
  plural: 'rolebindings',
  nameFormat: 'path-segment',
  columns: bindingColumns,
  rules: { createsOnUpdate: true },
  defaults: withGroups,
  validate: (binding) => validateBinding(binding, ['Role', 'ClusterRole'], true),
  validateUpdate,
})

/** `rbac.authorization.k8s.io/v1` clusterrolebindings. */
export const clusterRoleBindings = kind<ClusterRoleBinding>(clusterRoleBindingSchema, {
  plural: 'clusterrolebindings',
  namespaced: false,
  nameFormat: 'path-segment',
  columns: bindingColumns,
  rules: { createsOnUpdate: true },
  defaults: withGroups,
  validate: (binding) => validateBinding(binding, ['ClusterRole'], false),
  validateUpdate,
})

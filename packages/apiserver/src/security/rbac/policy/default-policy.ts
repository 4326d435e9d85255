import {
  aggregatedRules,
  type ClusterRole,
  type ClusterRoleBinding,
  deepFreeze,
  type Role,
  type RoleBinding,
  type Subject,
} from '@coracle/api'
import { componentRoles, type DefaultClusterRole } from './component-roles.ts'
import { controllerRolePrefix, controllerRoles } from './controller-roles.ts'
import { type DefaultClusterRoleBinding, defaultBindings } from './default-bindings.ts'
import { type DefaultRole, namespacedRoles } from './namespaced-roles.ts'
import { ownBindings, ownNamespacedRoles, ownRoles } from './own-roles.ts'
import { rulesOf } from './rule-lines.ts'

/** The roles and bindings that every cluster has, as they are before they are stored: frozen, and without uids. */
export interface DefaultPolicy {
  readonly clusterRoles: readonly ClusterRole[]
  readonly clusterRoleBindings: readonly ClusterRoleBinding[]
  readonly roles: readonly Role[]
  readonly roleBindings: readonly RoleBinding[]
}

let made: DefaultPolicy | undefined

/** Made once in a process: all its clusters share it. */
export function defaultPolicy(): DefaultPolicy {
  made ??= deepFreeze(makePolicy())
  return made
}

function makePolicy(): DefaultPolicy {
  return {
    clusterRoles: withAggregatedRules([...componentRoles, ...controllerRoles, ...ownRoles].map(clusterRole)),
    clusterRoleBindings: [
      ...defaultBindings,
      ...controllerRoles.map(({ name }) => ({ name, accounts: [name.slice(controllerRolePrefix.length)] })),
      ...ownBindings,
    ].map(clusterRoleBinding),
    roles: [...namespacedRoles, ...ownNamespacedRoles].map(namespacedRole),
    roleBindings: [...namespacedRoles, ...ownNamespacedRoles].map(roleBinding),
  }
}

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

const metadataOf = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  name,
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
})

const aggregationLabel = (name: string): Readonly<Record<string, string>> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true',
})

function clusterRole({ name, into, from, rules = [] }: DefaultClusterRole): ClusterRole {
  const metadata = metadataOf(name, into === undefined ? {} : aggregationLabel(into))
  if (from === undefined) return { apiVersion, kind: 'ClusterRole', metadata, rules: rulesOf(rules) }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: aggregationLabel(from) }] }
  return { apiVersion, kind: 'ClusterRole', metadata, aggregationRule }
}

/** Roles put together from others begin with what their controller would make of them: nobody has to wait for it. */
function withAggregatedRules(given: readonly ClusterRole[]): readonly ClusterRole[] {
  let roles = given
  // Some are put together from those that are themselves: admin of edit, edit of view.
  for (const _ of ['view', 'edit', 'admin']) {
    roles = roles.map((role) => {
      const rules = aggregatedRules(role, roles)
      return rules === undefined ? role : { ...role, rules }
    })
  }
  return roles
}

const subjectsOf = (kind: 'User' | 'Group', names: readonly string[] = []): readonly Subject[] =>
  names.map((name) => ({ kind, apiGroup, name }))

const accountsOf = (names: readonly string[] = []): readonly Subject[] =>
  names.map((name) => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' }))

function clusterRoleBinding(binding: DefaultClusterRoleBinding): ClusterRoleBinding {
  const { name, role = name, users, groups, accounts } = binding
  const subjects = [...subjectsOf('Group', groups), ...accountsOf(accounts), ...subjectsOf('User', users)]
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: metadataOf(name),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    ...(subjects.length === 0 ? {} : { subjects }),
  }
}

function namespacedRole({ namespace, name, rules }: DefaultRole): Role {
  return { apiVersion, kind: 'Role', metadata: { ...metadataOf(name), namespace }, rules: rulesOf(rules) }
}

function roleBinding({ namespace, name, bindingName = name, users, accounts }: DefaultRole): RoleBinding {
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { ...metadataOf(bindingName), namespace },
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [...subjectsOf('User', users), ...accountsOf(accounts)],
  }
}

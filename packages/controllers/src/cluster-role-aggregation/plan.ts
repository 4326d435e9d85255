import {
  type ClusterRole,
  clusterRoles,
  compareText,
  deepEqual,
  type PolicyRule,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/**
 * Gives a role the rules of all roles that its aggregation rule selects, each once, in the order of the roles' names; what it had of
 * its own goes. Pure. (https://docs.k8s.io/reference/access-authn-authz/rbac/#aggregated-clusterroles)
 */
export function planAggregation(role: ClusterRole, roles: readonly ClusterRole[]): Plan<never> {
  const { aggregationRule } = role
  if (aggregationRule === undefined) return { actions: [] }
  const selectors = (aggregationRule.clusterRoleSelectors ?? []).map(selectorFromLabelSelector)
  const rules: PolicyRule[] = []
  // By selector, then by name, as upstream: the order tells whoever reads the rules nothing, but it must not change.
  for (const selector of selectors) {
    const selected = roles.filter(
      ({ metadata }) => metadata.name !== role.metadata.name && selector.matches(metadata.labels),
    )
    for (const { rules: given = [] } of selected.sort(byName)) {
      for (const rule of given) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule)
    }
  }
  if (deepEqual(role.rules ?? [], rules)) return { actions: [] }
  const object: ClusterRole = { ...role, rules }
  const because = 'the roles it is put together from have changed'
  return { actions: [{ type: 'update', resource: clusterRoles, object, because }] }
}

const byName = (a: ClusterRole, b: ClusterRole): number => compareText(a.metadata.name ?? '', b.metadata.name ?? '')

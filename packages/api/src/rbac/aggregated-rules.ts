import { compareText } from '../compare-text.ts'
import { deepEqual } from '../equality.ts'
import type { ClusterRole, PolicyRule } from '../kinds/rbac/role.ts'
import { selectorFromLabelSelector } from '../selectors.ts'

/**
 * The rules of a role that is put together from others: those of all `roles` that its aggregation rule selects, each once, by
 * selector and then in the order of the roles' names. Undefined where it is put together from none.
 * (https://docs.k8s.io/reference/access-authn-authz/rbac/#aggregated-clusterroles)
 */
export function aggregatedRules(role: ClusterRole, roles: readonly ClusterRole[]): readonly PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined
  const selectors = (role.aggregationRule.clusterRoleSelectors ?? []).map(selectorFromLabelSelector)
  const rules: PolicyRule[] = []
  for (const selector of selectors) {
    const selected = roles.filter(
      ({ metadata }) => metadata.name !== role.metadata.name && selector.matches(metadata.labels),
    )
    for (const { rules: given = [] } of selected.sort(byName)) {
      for (const rule of given) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule)
    }
  }
  return rules
}

const byName = (a: ClusterRole, b: ClusterRole): number => compareText(a.metadata.name ?? '', b.metadata.name ?? '')

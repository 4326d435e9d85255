import { aggregatedRules, apiVersionOf, type ClusterRole, clusterRoles, deepEqual } from '@coracle/api'
import type { ApplyConfiguration } from '@coracle/client'
import type { Plan } from '@coracle/controller-runtime'

/**
 * Gives a role the rules of all roles that its aggregation rule selects. They are applied: rules that it had before go as soon as there are
 * some to take their place, and stay where none are selected. Pure.
 */
export function planAggregation(role: ClusterRole, roles: readonly ClusterRole[]): Plan<never> {
  const rules = aggregatedRules(role, roles)
  if (rules === undefined || deepEqual(role.rules ?? [], rules)) return { actions: [] }
  const object: ApplyConfiguration<ClusterRole> = {
    apiVersion: apiVersionOf(clusterRoles),
    kind: clusterRoles.kind,
    metadata: { name: role.metadata.name },
    ...(rules.length === 0 ? {} : { rules }),
  }
  const because = 'the roles it is put together from have changed'
  return { actions: [{ type: 'apply', resource: clusterRoles, object, because }] }
}

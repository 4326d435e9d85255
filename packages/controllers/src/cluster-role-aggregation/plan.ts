import { aggregatedRules, type ClusterRole, clusterRoles, deepEqual } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/** Gives a role the rules of all roles that its aggregation rule selects; what it had of its own goes. Pure. */
export function planAggregation(role: ClusterRole, roles: readonly ClusterRole[]): Plan<never> {
  const rules = aggregatedRules(role, roles)
  if (rules === undefined || deepEqual(role.rules ?? [], rules)) return { actions: [] }
  const object: ClusterRole = { ...role, rules }
  const because = 'the roles it is put together from have changed'
  return { actions: [{ type: 'update', resource: clusterRoles, object, because }] }
}

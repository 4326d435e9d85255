import { type ClusterRole, clusterRoles } from '@coracle/api'
import {
  type Change,
  type Controller,
  controller,
  isBeingDeleted,
  type Lookup,
  performPlan,
} from '@coracle/controller-runtime'
import { planAggregation } from './plan.ts'

const aggregatedIndexName = 'aggregated'
const aggregated = 'yes'

/** Keeps the rules of ClusterRoles that are put together from others. */
export function createClusterRoleAggregationController(): Controller {
  return controller('clusterrole-aggregation-controller')
    .for(clusterRoles, { indexes: { [aggregatedIndexName]: filedByAggregation }, predicates: [isOfAggregated] })
    .watches(clusterRoles, allAggregated)
    .reconcile(async ({ object: role }, context) => {
      if (role?.aggregationRule === undefined || isBeingDeleted(role)) return undefined
      return performPlan(context, role, planAggregation(role, context.informer(clusterRoles).list()))
    })
}

const filedByAggregation = ({ aggregationRule }: ClusterRole): readonly string[] =>
  aggregationRule === undefined ? [] : [aggregated]

/** Most roles are put together from no others, and there are some eighty from the start. */
const isOfAggregated = ({ object }: Change<ClusterRole>): boolean => object.aggregationRule !== undefined

/** Any role may be one that others are put together from. */
const allAggregated = (_: ClusterRole, lookup: Lookup): readonly string[] =>
  lookup
    .informer(clusterRoles)
    .byIndex(aggregatedIndexName, aggregated)
    .map(({ metadata }) => metadata.name ?? '')

import {
  clusterRoleBindings,
  clusterRoles,
  deepEqual,
  type KubernetesObject,
  type Resource,
  roleBindings,
  roles,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { apiServerOrigin } from '../../api-server-user.ts'
import type { Registries } from '../../registries.ts'
import { createMissing, storedOf, type Wanted } from '../../registry/joint-creation.ts'
import { defaultPolicy } from './policy/default-policy.ts'

const origin = apiServerOrigin('create', 'every cluster has these roles and bindings')

/**
 * Sees to it that the default roles and bindings are there, as upstream's post-start hook `rbac/bootstrap-roles`: creates those
 * that are not, and gives the others what they lack of rules, subjects, labels and annotations. What somebody has added stays,
 * and so do objects with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"`. A binding of another role is made
 * anew. Nothing is written where nothing is missing.
 */
export async function reconcileDefaultPolicy(registries: Registries, environment: Environment): Promise<void> {
  const all = wantedObjects(registries)
  const present = all.filter((wanted) => storedOf(wanted) !== undefined)
  await createMissing(all, origin, environment)
  const different = present.filter((wanted) => !isAsWanted(storedOf(wanted), wanted.object))
  if (different.length === 0) return
  // Only where somebody has changed something, or an earlier version has written it.
  const { completeObject } = await import('./complete-object.ts')
  for (const { registry, object } of different) await completeObject(registry, object, environment.logger)
}

function wantedObjects(registries: Registries): readonly Wanted[] {
  const policy = defaultPolicy()
  const wanted = <T extends KubernetesObject>(resource: Resource<T>, objects: readonly T[]): readonly Wanted[] => {
    const registry = registries.of(resource)
    if (registry === undefined) return []
    return objects.map((object) => ({
      registry,
      object,
      ...('aggregationRule' in object ? { applied: { field: 'rules', by: 'clusterrole-aggregation-controller' } } : {}),
    }))
  }
  return [
    ...wanted(clusterRoles, policy.clusterRoles),
    ...wanted(clusterRoleBindings, policy.clusterRoleBindings),
    ...wanted(roles, policy.roles),
    ...wanted(roleBindings, policy.roleBindings),
  ]
}

/** Whether an object has what is wanted of it and nothing else. Others may have more, which a closer look shows. */
function isAsWanted(stored: KubernetesObject | undefined, wanted: KubernetesObject): boolean {
  if (stored === undefined) return false
  const { metadata: has, ...content } = stored
  const { metadata: wants, ...wantedContent } = wanted
  return (
    deepEqual(has.labels, wants.labels) &&
    deepEqual(has.annotations, wants.annotations) &&
    deepEqual(withoutAggregated(content), withoutAggregated(wantedContent))
  )
}

/** The rules of a role that is put together from others are what its controller makes them. */
function withoutAggregated<T extends object>(content: T): object {
  if (!('aggregationRule' in content)) return content
  const { rules: _rules, ...rest } = content as T & { readonly rules?: unknown }
  return rest
}

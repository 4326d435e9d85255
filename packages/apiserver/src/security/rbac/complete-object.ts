import { hasReason, type KubernetesObject } from '@coracle/api'
import { type AnyBinding, type AnyRole, planBinding, planRole, type ReconcilePlan } from '@coracle/api/rbac'
import type { Logger } from '@coracle/environment'
import { apiServerContext } from '../../api-server-user.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'

/** How often an object is looked at again that somebody else changes meanwhile. */
const attemptsMax = 5

const context = apiServerContext('every cluster has this role or binding')
const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/** Gives a stored role or binding what it lacks of what is expected of it; what it has beyond that stays. */
export async function completeObject(
  registry: ResourceRegistry,
  expected: KubernetesObject,
  logger: Logger,
): Promise<void> {
  const { namespace = '', name = '' } = expected.metadata
  for (let attempt = 1; ; attempt += 1) {
    const existing = (await registry.current(namespace, name))?.object
    const plan = planFor(registry, existing, expected)
    if (plan.operation === 'none') return
    if (plan.isProtected) {
      const { definition } = registry
      logger.warn('a default role or binding lacks something and is left as it is', { kind: definition.kind, name })
      return
    }
    try {
      if (plan.operation === 'update') {
        await registry.update(context, namespace, name, '', plan.object, options)
        return
      }
      if (plan.operation === 'recreate') await registry.delete(context, namespace, name, {})
      await registry.create(context, namespace, plan.object, options)
      return
    } catch (error) {
      const isOvertaken = ['AlreadyExists', 'Conflict', 'NotFound'].some((reason) => hasReason(error, reason))
      if (!isOvertaken || attempt === attemptsMax) throw error
    }
  }
}

function planFor(
  { definition }: ResourceRegistry,
  existing: KubernetesObject | undefined,
  expected: KubernetesObject,
): ReconcilePlan<KubernetesObject> {
  return definition.kind.endsWith('Binding')
    ? planBinding(existing as AnyBinding | undefined, expected as AnyBinding, false)
    : planRole(existing as AnyRole | undefined, expected as AnyRole, false)
}

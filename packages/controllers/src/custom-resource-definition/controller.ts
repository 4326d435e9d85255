import { type CustomResourceDefinition, customResourceDefinitions, hasReason } from '@coracle/api'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { deleteInstances } from './instances.ts'
import { isAwaitingInstances, planCleanup, planDefinition } from './plan.ts'

/**
 * Accepts the names of custom kinds, establishes them, and deletes their objects when they are deleted. What is accepted
 * depends on what all others have, so definitions are looked at one after another, and as they are stored.
 */
export function createCustomResourceDefinitionController(): Controller {
  return controller('custom-resource-definition', {
    component: 'custom-resource-definition',
    maxConcurrentReconciles: 1,
  })
    .for(customResourceDefinitions)
    .watches(customResourceDefinitions, (definition, lookup) => {
      // Names that one gives up another may have been waiting for.
      const all = lookup.informer(customResourceDefinitions).list()
      return all.filter((other) => waitsForNames(other, definition)).map(({ metadata }) => metadata.name ?? '')
    })
    .reconcile(async ({ object: definition }, context) => {
      if (definition === undefined) return undefined
      const { client, clock } = context
      try {
        if (isAwaitingInstances(definition)) {
          const instances = await deleteInstances(client, definition)
          return await performPlan(context, definition, planCleanup(definition, instances, clock.now()))
        }
        const { items } = await client.list(customResourceDefinitions)
        return await performPlan(context, definition, planDefinition(definition, items, clock.now()))
      } catch (error) {
        // It has changed or gone meanwhile, and is looked at again when that is seen.
        if (hasReason(error, 'Conflict') || hasReason(error, 'NotFound')) return undefined
        throw error
      }
    })
}

function waitsForNames({ metadata, spec, status }: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  return (
    metadata.name !== other.metadata.name &&
    spec.group === other.spec.group &&
    status?.conditions?.some((each) => each.type === 'NamesAccepted' && each.status === 'False') === true
  )
}

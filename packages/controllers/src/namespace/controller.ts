import { type KubernetesObject, namespaces, type Resource } from '@coracle/api'
import {
  type Change,
  type Controller,
  controller,
  generationChanged,
  type Lookup,
  performPlan,
} from '@coracle/controller-runtime'
import { deleteContent } from './content.ts'
import { isAwaitingContent, planNamespace } from './plan.ts'

export interface NamespaceControllerOptions {
  /** The resources the API serves now that can be listed and deleted: one version of each. */
  readonly resources: () => readonly Resource[]
}

/** Empties namespaces that are being deleted, and lets them go. */
export function createNamespaceController({ resources }: NamespaceControllerOptions): Controller {
  let builder = controller('namespace-controller', { component: 'namespace-controller' }).for(namespaces, {
    predicates: [generationChanged],
  })
  for (const resource of resources().filter(({ namespaced }) => namespaced)) {
    builder = builder.watches(resource, emptiedNamespace(resource), { predicates: [isDeletion] })
  }
  return builder.reconcile(async ({ object: namespace, name }, context) => {
    if (namespace === undefined || !isAwaitingContent(namespace)) return undefined
    const content = await deleteContent(context.client, resources(), name)
    return performPlan(context, namespace, planNamespace(namespace, content, context.clock.now()))
  })
}

const isDeletion = ({ type }: Change<KubernetesObject>): boolean => type === 'delete'

/** With the last object of a kind a namespace may be empty. Before it there is no use in looking. */
const emptiedNamespace =
  (resource: Resource) =>
  ({ metadata }: KubernetesObject, lookup: Lookup): readonly string[] => {
    const name = metadata.namespace ?? ''
    const namespace = lookup.informer(namespaces).get(name)
    if (namespace === undefined || !isAwaitingContent(namespace)) return []
    return lookup.informer(resource).list(name).length === 0 ? [name] : []
  }

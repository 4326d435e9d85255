import { type KubernetesObject, namespaces, type Resource } from '@coracle/api'
import {
  type Change,
  type Controller,
  controller,
  generationChanged,
  type Lookup,
  performPlan,
  type ResourceFeed,
} from '@coracle/controller-runtime'
import { timeOf } from '../pods/pod-state.ts'
import { deleteContent } from './content.ts'
import { isAwaitingContent, planNamespace } from './plan.ts'

/**
 * Empties namespaces that are being deleted, and lets them go. `feed` gives the resources that can be listed and deleted, one
 * version of each.
 */
export function createNamespaceController(feed: ResourceFeed): Controller {
  return controller('namespace-controller', { component: 'namespace-controller' })
    .for(namespaces, { predicates: [generationChanged] })
    .watchesAll(feed, (resource) => (resource.namespaced ? emptiedNamespace(resource) : undefined), {
      predicates: [isDeletion],
    })
    .reconcile(async ({ object: namespace, name }, context) => {
      if (namespace === undefined || !isAwaitingContent(namespace)) return undefined
      const nowMs = context.clock.now()
      const ageMs = nowMs - (timeOf(namespace.metadata.deletionTimestamp) ?? nowMs)
      const content = await deleteContent(context.client, feed.resources(), name, ageMs)
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

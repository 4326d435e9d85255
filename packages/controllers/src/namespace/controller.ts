import { apiServices, type KubernetesObject, namespaces, type Resource } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  generationChanged,
  type Lookup,
  type ResourceFeed,
} from '@coracle/controller-runtime'
import { isAwaitingContent } from './awaiting-content.ts'

/** Where a namespace may have content. */
export interface ContentFeed extends ResourceFeed {
  /** All that is served, by other servers behind this one too. Absent: there are none. */
  discover?(): Promise<readonly DiscoveredResource[]>
}

/**
 * Empties namespaces that are being deleted, and lets them go. `feed` gives the resources that can be listed and deleted, one
 * version of each.
 */
export function createNamespaceController(feed: ContentFeed): Controller {
  return controller('namespace-controller', { component: 'namespace-controller' })
    .for(namespaces, { predicates: [generationChanged] })
    .watchesAll(feed, (resource) => (resource.namespaced ? emptiedNamespace(resource) : undefined), {
      predicates: [isDeletion],
    })
    .reads(apiServices)
    .reconcile(async ({ object: namespace }, context) => {
      if (namespace === undefined || !isAwaitingContent(namespace)) return undefined
      // Few namespaces go. Where time is virtual it stands still meanwhile.
      const { emptyNamespace } = await context.clock.hold(import('./empty-namespace.ts'))
      return emptyNamespace(namespace, feed, context)
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
    return lookup.informer(resource).count(name) === 0 ? [name] : []
  }

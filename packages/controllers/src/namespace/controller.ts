import { apiServices, type KubernetesObject, type Namespace, namespaces, type Resource } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  generationChanged,
  type Lookup,
  performPlan,
  type ReconcileContext,
  type ResourceFeed,
} from '@coracle/controller-runtime'
import { timeOf } from '../pods/pod-state.ts'
import { deleteContent } from './content.ts'
import type { OtherServers } from './other-servers.ts'
import { isAwaitingContent, planNamespace } from './plan.ts'

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
    .reconcile(async ({ object: namespace, name }, context) => {
      if (namespace === undefined || !isAwaitingContent(namespace)) return undefined
      const nowMs = context.clock.now()
      const ageMs = nowMs - (timeOf(namespace.metadata.deletionTimestamp) ?? nowMs)
      const { resources, undiscovered } = await othersOf(feed, context)
      const content = await deleteContent(context.client, [...feed.resources(), ...resources], name, ageMs)
      const plan = planNamespace(namespace, { ...content, undiscovered }, context.clock.now())
      return performPlan(context, namespace, plan)
    })
}

const noOthers: OtherServers = { resources: [], undiscovered: [] }

async function othersOf(feed: ContentFeed, context: ReconcileContext<Namespace>): Promise<OtherServers> {
  const services = context.informer(apiServices).list()
  if (feed.discover === undefined || services.every(({ spec }) => spec?.service === undefined)) return noOthers
  // Few clusters have other servers. Where time is virtual it stands still meanwhile.
  const { whatOthersKeep } = await context.clock.hold(import('./other-servers.ts'))
  return whatOthersKeep(services, await feed.discover())
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

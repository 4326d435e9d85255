import { apiServices, type Namespace } from '@coracle/api'
import { performPlan, type ReconcileContext, type Result } from '@coracle/controller-runtime'
import { timeOf } from '../pods/pod-state.ts'
import { deleteContent } from './content.ts'
import type { ContentFeed } from './controller.ts'
import { type OtherServers, whatOthersKeep } from './other-servers.ts'
import { planNamespace } from './plan.ts'

/** Deletes what is in a namespace that is being deleted, and lets it go where nothing is left. */
export async function emptyNamespace(
  namespace: Namespace,
  feed: ContentFeed,
  context: ReconcileContext<Namespace>,
): Promise<Result> {
  const { name = '', deletionTimestamp } = namespace.metadata
  const nowMs = context.clock.now()
  const ageMs = nowMs - (timeOf(deletionTimestamp) ?? nowMs)
  const { resources, unknown } = await othersOf(feed, context)
  const content = await deleteContent(context.client, [...feed.resources(), ...resources], name, ageMs)
  return performPlan(context, namespace, planNamespace(namespace, { ...content, unknown }, context.clock.now()))
}

async function othersOf(feed: ContentFeed, context: ReconcileContext<Namespace>): Promise<OtherServers> {
  const services = context.informer(apiServices).list()
  if (feed.discover === undefined || services.every(({ spec }) => spec?.service === undefined)) return { resources: [] }
  return whatOthersKeep(services, await feed.discover())
}

import {
  type ConfigMap,
  type Event,
  events,
  hasReason,
  type KubernetesObject,
  type Node,
  type Pod,
  pods,
  type ReplicationController,
} from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { describeConfigMap } from '../describe/describe-config-map.ts'
import { describeNode } from '../describe/describe-node.ts'
import { describeObject } from '../describe/describe-object.ts'
import { describePod } from '../describe/describe-pod.ts'
import { controlledBy, describeReplicationController } from '../describe/describe-replication-controller.ts'
import type { Host } from '../host.ts'
import { listAll } from '../resources/fetch.ts'
import { listOptions, type Selection, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { selectorText } from '../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface DescribeFlags extends ConnectionFlags, SelectorFlags {}

/** `coracle describe TYPE NAME` */
export async function describe(host: Host, args: readonly string[], flags: DescribeFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    const errors: unknown[] = []
    let isFirst = true
    for (const selection of selectObjects(args, 'describe', await session.catalog(), flags)) {
      try {
        for (const object of await findObjects(session, selection, flags)) {
          const text = await describeOne(session, selection.resource, object, host.environment.clock.now())
          host.stdout.write(isFirst ? text : `\n\n${text}`)
          isFirst = false
        }
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors)
    if (isFirst) host.stderr.write(`No resources found in ${session.namespace} namespace.\n`)
  })
}

/** The object of that name, those whose names begin with it, or all. */
async function findObjects(
  session: Session,
  selection: Selection,
  flags: DescribeFlags,
): Promise<readonly KubernetesObject[]> {
  const { resource, name } = selection
  if (name === undefined) return listAll(session.client, resource, listOptions(session, selection, flags))
  try {
    const namespace = resource.namespaced ? { namespace: session.namespace } : {}
    return [await session.client.get(resource, { name, ...namespace })]
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    const all = await listAll(session.client, resource, listOptions(session, { resource }, {}))
    const similar = all.filter(({ metadata }) => metadata.name?.startsWith(name))
    if (similar.length === 0) throw error
    return similar
  }
}

async function describeOne(
  session: Session,
  resource: DiscoveredResource,
  object: KubernetesObject,
  nowMs: number,
): Promise<string> {
  const happened = await eventsOf(session, object)
  const { group, version, kind } = resource
  if (group === '' && version === 'v1') {
    switch (kind) {
      case 'Pod':
        return describePod(object as Pod, happened ?? [], nowMs)
      case 'ReplicationController':
        return describeReplicationController(
          object as ReplicationController,
          await podsOf(session, object),
          happened ?? [],
          nowMs,
        )
      case 'ConfigMap':
        return describeConfigMap(object as ConfigMap, happened ?? [], nowMs)
      case 'Node':
        return describeNode(object as Node, await podsOn(session, object), happened ?? [], nowMs)
    }
  }
  return describeObject(object, happened, nowMs)
}

/** Undefined where the server does not let us see events: what else there is, is shown all the same. */
async function eventsOf(
  { client }: Session,
  { kind, metadata }: KubernetesObject,
): Promise<readonly Event[] | undefined> {
  const { name = '', namespace, uid } = metadata
  // Nodes report about themselves under their names, before they know their identity.
  const identity = kind === 'Node' || uid === undefined ? '' : `,involvedObject.uid=${uid}`
  try {
    const { items } = await client.list(events, {
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}${identity}`,
    })
    return items
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}

async function podsOf({ client }: Session, owner: KubernetesObject): Promise<readonly Pod[]> {
  const labelSelector = selectorText(owner)
  const { namespace } = owner.metadata
  if (labelSelector === undefined || namespace === undefined) return []
  const { items } = await client.list(pods, { namespace, labelSelector })
  return controlledBy(owner, items)
}

async function podsOn({ client }: Session, { metadata }: KubernetesObject): Promise<readonly Pod[]> {
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${metadata.name ?? ''}` })
  return items
}

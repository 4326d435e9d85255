import {
  type ConfigMap,
  type Event,
  events,
  hasReason,
  type KubernetesObject,
  type Lease,
  leases,
  limitRanges,
  type Namespace,
  type Node,
  type Pod,
  pods,
  type ReplicationController,
  type Resource,
  resourceQuotas,
  type Secret,
  type ServiceAccount,
} from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { controlledBy } from '../describe/controlled-by.ts'
import { describeConfigMap } from '../describe/describe-config-map.ts'
import { describeNamespace, type NamespaceLimits } from '../describe/describe-namespace.ts'
import { describeNode } from '../describe/describe-node.ts'
import { describeObject } from '../describe/describe-object.ts'
import { describePod } from '../describe/describe-pod.ts'
import { describeReplicationController } from '../describe/describe-replication-controller.ts'
import { describeSecret } from '../describe/describe-secret.ts'
import { describeServiceAccount } from '../describe/describe-service-account.ts'
import type { Host } from '../host.ts'
import { loadManifests, type ManifestFlags } from '../manifests/load-manifests.ts'
import { listAll } from '../resources/fetch.ts'
import { listOptions, type Selection, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { selectorText } from '../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { selectManifests } from './manifest-command.ts'

export interface DescribeFlags extends ConnectionFlags, SelectorFlags, ManifestFlags {
  readonly showEvents: boolean
  readonly chunkSize: number
}

/** `coracle describe TYPE NAME`, `-f FILE` */
export async function describe(host: Host, args: readonly string[], flags: DescribeFlags): Promise<void> {
  const manifests = await loadManifests(host, flags)
  await withSession(host, flags, async (session) => {
    const selections =
      manifests.length > 0
        ? await selectManifests(session, manifests, args)
        : selectObjects(args, 'describe', await session.catalog(), flags)
    const errors: unknown[] = []
    let isFirst = true
    for (const selection of selections) {
      try {
        for (const object of await findObjects(session, selection, flags)) {
          const nowMs = host.environment.clock.now()
          const text = await describeOne(session, selection.resource, object, { nowMs, events: flags.showEvents })
          host.stdout.write(isFirst ? text : `\n\n${text}`)
          isFirst = false
        }
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors)
    if (isFirst) host.stderr.write(nothingFound(session, selections, flags))
  })
}

function nothingFound({ namespace }: Session, selections: readonly Selection[], flags: DescribeFlags): string {
  const isScoped = flags.allNamespaces !== true && selections.every(({ resource }) => resource.namespaced)
  return isScoped ? `No resources found in ${namespace} namespace.\n` : 'No resources found\n'
}

/** The object of that name, those whose names begin with it, or all. */
async function findObjects(
  session: Session,
  selection: Selection,
  flags: DescribeFlags,
): Promise<readonly KubernetesObject[]> {
  const { resource, name } = selection
  const options = listOptions(session, selection, flags)
  if (name === undefined) return listAll(session.client, resource, options, flags.chunkSize)
  const { fieldSelector: _, ...all } = options
  try {
    const { namespace } = options
    return [await session.client.get(resource, { name, ...(namespace === undefined ? {} : { namespace }) })]
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    const similar = (await listAll(session.client, resource, all)).filter(({ metadata }) =>
      metadata.name?.startsWith(name),
    )
    if (similar.length === 0) throw error
    return similar
  }
}

async function describeOne(
  session: Session,
  resource: DiscoveredResource,
  object: KubernetesObject,
  wanted: { readonly nowMs: number; readonly events: boolean },
): Promise<string> {
  const { nowMs } = wanted
  const happened = wanted.events ? await eventsOf(session, object) : undefined
  if (resource.group !== '' || resource.version !== 'v1') return describeObject(object, happened, nowMs)
  switch (resource.kind) {
    case 'Pod':
      return describePod(object as Pod, happened, nowMs)
    case 'ReplicationController': {
      const owned = await podsOf(session, object)
      return describeReplicationController(object as ReplicationController, owned, happened, nowMs)
    }
    case 'Node':
      return describeNode(object as Node, { ...(await surroundingsOf(session, object)), events: happened }, nowMs)
    case 'Namespace':
      return describeNamespace(object as Namespace, await limitsOf(session, object))
    case 'ConfigMap':
      return describeConfigMap(object as ConfigMap, happened, nowMs)
    case 'Secret':
      return describeSecret(object as Secret)
    case 'ServiceAccount':
      return describeServiceAccount(object as ServiceAccount, happened, nowMs)
    default:
      return describeObject(object, happened, nowMs)
  }
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

/** What limits the objects of a namespace, as far as we may see it. */
async function limitsOf({ client }: Session, { metadata: { name = '' } }: KubernetesObject): Promise<NamespaceLimits> {
  const itemsOf = async <T extends KubernetesObject>(resource: Resource<T>): Promise<readonly T[] | undefined> => {
    try {
      return (await client.list(resource, { namespace: name })).items
    } catch (error) {
      if (hasReason(error, 'Forbidden')) return undefined
      throw error
    }
  }
  const [quotas, ranges] = await Promise.all([itemsOf(resourceQuotas), itemsOf(limitRanges)])
  return { quotas, limitRanges: ranges }
}

async function podsOf({ client }: Session, owner: KubernetesObject): Promise<readonly Pod[]> {
  const labelSelector = selectorText(owner)
  const { namespace } = owner.metadata
  if (labelSelector === undefined || namespace === undefined) return []
  const { items } = await client.list(pods, { namespace, labelSelector })
  return controlledBy(owner, items)
}

async function surroundingsOf(
  { client }: Session,
  { metadata: { name = '' } }: KubernetesObject,
): Promise<{ readonly pods: readonly Pod[]; readonly lease: Lease | Error }> {
  const [{ items }, lease] = await Promise.all([
    client.list(pods, { fieldSelector: `spec.nodeName=${name}` }),
    client.get<Lease>(leases, { namespace: 'kube-node-lease', name }).catch((error: unknown) => {
      if (error instanceof Error) return error
      throw error
    }),
  ])
  return { pods: items, lease }
}

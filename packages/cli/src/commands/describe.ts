import {
  type ConfigMap,
  type CronJob,
  type DaemonSet,
  type Deployment,
  type EndpointSlice,
  type Event,
  endpointSlices,
  events,
  type HorizontalPodAutoscaler,
  hasReason,
  type Job,
  type KubernetesObject,
  type Lease,
  type LimitRange,
  leases,
  limitRanges,
  type Namespace,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  pods,
  type ReplicaSet,
  type ReplicationController,
  type Resource,
  type ResourceQuota,
  replicaSets,
  resourceQuotas,
  type Secret,
  type Service,
  type ServiceAccount,
  type StatefulSet,
} from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { controlledBy } from '../describe/controlled-by.ts'
import { describeBudget } from '../describe/describe-budget.ts'
import { describeConfigMap } from '../describe/describe-config-map.ts'
import { describeDaemonSet } from '../describe/describe-daemon-set.ts'
import { type DeploymentSets, describeDeployment } from '../describe/describe-deployment.ts'
import { describeHorizontalPodAutoscaler } from '../describe/describe-horizontal-pod-autoscaler.ts'
import { describeCronJob, describeJob } from '../describe/describe-job.ts'
import { describeNamespace, type NamespaceLimits } from '../describe/describe-namespace.ts'
import { describeNode } from '../describe/describe-node.ts'
import { describeObject } from '../describe/describe-object.ts'
import { describePod } from '../describe/describe-pod.ts'
import { describeReplicaSet } from '../describe/describe-replica-set.ts'
import { describeReplicationController } from '../describe/describe-replication-controller.ts'
import { describeSecret } from '../describe/describe-secret.ts'
import { describeService } from '../describe/describe-service.ts'
import { describeServiceAccount } from '../describe/describe-service-account.ts'
import { describeStatefulSet } from '../describe/describe-stateful-set.ts'
import { describeLimitRange, describeQuota } from '../describe/namespace-limits.ts'
import type { Host } from '../host.ts'
import { loadManifests, type ManifestFlags } from '../manifests/load-manifests.ts'
import { listAll } from '../resources/fetch.ts'
import { listOptions, type Selection, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { selectorText } from '../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { selectManifests } from './manifest-command.ts'
import { isSameTemplate } from './rollout/revisions.ts'

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
  const describe = describers[`${resource.group}/${resource.version}/${resource.kind}`]
  if (describe === undefined) return describeObject(object, happened, nowMs)
  return describe(session, object, happened, nowMs)
}

/** Describes an object of one kind, with what it asks the server for about it. */
type Describer = (
  session: Session,
  object: KubernetesObject,
  events: readonly Event[] | undefined,
  nowMs: number,
) => string | Promise<string>

/** How the kinds are described that have a form of their own, by group, version and kind. */
const describers: Readonly<Record<string, Describer>> = {
  'autoscaling/v2/HorizontalPodAutoscaler': (_, object, events, nowMs) =>
    describeHorizontalPodAutoscaler(object as HorizontalPodAutoscaler, events, nowMs),
  '/v1/Pod': (_, object, events, nowMs) => describePod(object as Pod, events, nowMs),
  '/v1/ReplicationController': async (session, object, events, nowMs) =>
    describeReplicationController(object as ReplicationController, await podsOf(session, object), events, nowMs),
  '/v1/Node': async (session, object, events, nowMs) =>
    describeNode(object as Node, { ...(await surroundingsOf(session, object)), events }, nowMs),
  '/v1/Namespace': async (session, object) => describeNamespace(object as Namespace, await limitsOf(session, object)),
  '/v1/ConfigMap': (_, object, events, nowMs) => describeConfigMap(object as ConfigMap, events, nowMs),
  '/v1/Secret': (_, object) => describeSecret(object as Secret),
  '/v1/ServiceAccount': (_, object, events, nowMs) => describeServiceAccount(object as ServiceAccount, events, nowMs),
  '/v1/Service': async (session, object, events, nowMs) =>
    describeService(object as Service, await slicesOf(session, object), events, nowMs),
  '/v1/ResourceQuota': (_, object) => describeQuota(object as ResourceQuota),
  '/v1/LimitRange': (_, object) => describeLimitRange(object as LimitRange),
  'apps/v1/Deployment': async (session, object, events, nowMs) =>
    describeDeployment(object as Deployment, await setsOf(session, object as Deployment), events, nowMs),
  'apps/v1/ReplicaSet': async (session, object, events, nowMs) =>
    describeReplicaSet(object as ReplicaSet, await podsOf(session, object), events, nowMs),
  'apps/v1/StatefulSet': async (session, object, events, nowMs) =>
    describeStatefulSet(object as StatefulSet, await podsOf(session, object), events, nowMs),
  'apps/v1/DaemonSet': async (session, object, events, nowMs) =>
    describeDaemonSet(object as DaemonSet, await podsOf(session, object), events, nowMs),
  'batch/v1/Job': (_, object, events, nowMs) => describeJob(object as Job, events, nowMs),
  'batch/v1/CronJob': (_, object, events, nowMs) => describeCronJob(object as CronJob, events, nowMs),
  'policy/v1/PodDisruptionBudget': (_, object, events, nowMs) =>
    describeBudget(object as PodDisruptionBudget, events, nowMs),
}

/** The ReplicaSets of a Deployment. */
async function setsOf({ client }: Session, deployment: Deployment): Promise<DeploymentSets> {
  const { namespace = '' } = deployment.metadata
  const { items } = await client.list(replicaSets, { namespace, labelSelector: selectorText(deployment) ?? '' })
  const owned = controlledBy(deployment, items)
  const { template } = deployment.spec
  const current = owned.find((set) => set.spec.template !== undefined && isSameTemplate(set.spec.template, template))
  return { current, old: owned.filter((set) => set !== current && (set.spec.replicas ?? 0) > 0) }
}

/** What says where a Service leads, as far as we may see it. */
async function slicesOf({ client }: Session, { metadata }: KubernetesObject): Promise<readonly EndpointSlice[]> {
  const { name = '', namespace = '' } = metadata
  try {
    const labelSelector = `kubernetes.io/service-name=${name}`
    return (await client.list(endpointSlices, { namespace, labelSelector })).items
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return []
    throw error
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

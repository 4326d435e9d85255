import {
  type CertificateSigningRequest,
  type ClusterRole,
  type ClusterRoleBinding,
  type ConfigMap,
  type CronJob,
  type CsiNode,
  compareText,
  type DaemonSet,
  type Deployment,
  type EndpointSlice,
  type Endpoints,
  type Event,
  endpointSlices,
  type HorizontalPodAutoscaler,
  hasReason,
  type Ingress,
  type IngressClass,
  type IpAddressObject,
  type Job,
  type KubernetesObject,
  type Lease,
  type LimitRange,
  leases,
  limitRanges,
  type Namespace,
  type NetworkPolicy,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  type PriorityClass,
  pods,
  type ReplicaSet,
  type ReplicationController,
  type Resource,
  type ResourceQuota,
  type Role,
  type RoleBinding,
  replicaSets,
  resourceQuotas,
  type Secret,
  type Service,
  type ServiceAccount,
  type ServiceCidr,
  type StatefulSet,
  type StorageClass,
  services,
  type VolumeAttributesClass,
} from '@coracle/api'
import type { DiscoveredResource, ListOptions } from '@coracle/client'
import { controlledBy } from '../describe/controlled-by.ts'
import { describeBudget } from '../describe/describe-budget.ts'
import { describeCertificateSigningRequest } from '../describe/describe-certificate-signing-request.ts'
import { describeConfigMap } from '../describe/describe-config-map.ts'
import { describeCsiNode } from '../describe/describe-csi-node.ts'
import { describeDaemonSet } from '../describe/describe-daemon-set.ts'
import { type DeploymentSets, describeDeployment } from '../describe/describe-deployment.ts'
import { describeEndpointSlice, describeEndpoints } from '../describe/describe-endpoints.ts'
import { describeHorizontalPodAutoscaler } from '../describe/describe-horizontal-pod-autoscaler.ts'
import {
  type BackendEndpoints,
  backendServices,
  describeIngress,
  describeIngressClass,
} from '../describe/describe-ingress.ts'
import { describeCronJob, describeJob } from '../describe/describe-job.ts'
import { describeNamespace, type NamespaceLimits } from '../describe/describe-namespace.ts'
import { describeNetworkPolicy } from '../describe/describe-network-policy.ts'
import { describeNode, type NodeSurroundings, type ResourceSlice } from '../describe/describe-node.ts'
import { describePersistentVolume } from '../describe/describe-persistent-volume.ts'
import { describePersistentVolumeClaim } from '../describe/describe-persistent-volume-claim.ts'
import { describePod } from '../describe/describe-pod.ts'
import { describePriorityClass } from '../describe/describe-priority-class.ts'
import { describeReplicaSet } from '../describe/describe-replica-set.ts'
import { describeReplicationController } from '../describe/describe-replication-controller.ts'
import { describeRole, describeRoleBinding } from '../describe/describe-role.ts'
import { describeSecret } from '../describe/describe-secret.ts'
import { describeService } from '../describe/describe-service.ts'
import { describeServiceAccount } from '../describe/describe-service-account.ts'
import { describeIpAddress, describeServiceCidr } from '../describe/describe-service-addresses.ts'
import { describeStatefulSet } from '../describe/describe-stateful-set.ts'
import { describeStorageClass, describeVolumeAttributesClass } from '../describe/describe-storage-class.ts'
import { endpointsText } from '../describe/endpoints-text.ts'
import { describeLimitRange, describeQuota } from '../describe/namespace-limits.ts'
import { selectorText } from '../resources/selector-text.ts'
import type { Session } from '../session.ts'
import { isSameTemplate } from './rollout/revisions.ts'

/** A server that is asked about an object, and its lists in pages, as kubectl's describers ask for them. */
export interface DescribingSession extends Session {
  list<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]>
}

/** Describes an object of one kind, with what it asks the server for about it. */
export type Describer = (
  session: DescribingSession,
  object: KubernetesObject,
  events: readonly Event[] | undefined,
  nowMs: number,
) => string | Promise<string>

/**
 * How objects of a resource are described; undefined for kinds without a form of their own. An object of another version
 * than is described is fetched in that one, as kubectl does.
 */
export function describerOf(resource: DiscoveredResource): Describer | undefined {
  const { group, version, kind } = resource
  const own = describers[`${group}/${version}/${kind}`]
  const known = Object.entries(describers).find(([name]) => name.startsWith(`${group}/`) && name.endsWith(`/${kind}`))
  if (own !== undefined || known === undefined) return own
  const [name, describe] = known
  return async (session, { metadata: { name: objectName = '', namespace } }, events, nowMs) => {
    const described = { ...resource, version: name.split('/')[1] ?? version }
    const key = { name: objectName, ...(namespace === undefined ? {} : { namespace }) }
    return describe(session, await session.client.get(described, key), events, nowMs)
  }
}

/** Kinds of which no events are shown, by their group. */
const eventless: Readonly<Record<string, readonly string[]>> = {
  '': ['LimitRange', 'Namespace', 'ResourceQuota', 'Secret'],
  'networking.k8s.io': ['NetworkPolicy'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
}

/** Whether what has happened to objects of a resource belongs to their description. */
export const showsEvents = ({ group, kind }: DiscoveredResource): boolean => eventless[group]?.includes(kind) !== true

/** By group, version and kind. */
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
  'certificates.k8s.io/v1/CertificateSigningRequest': (_, object, events, nowMs) =>
    describeCertificateSigningRequest(object as CertificateSigningRequest, events, nowMs),
  'batch/v1/Job': (_, object, events, nowMs) => describeJob(object as Job, events, nowMs),
  'batch/v1/CronJob': (_, object, events, nowMs) => describeCronJob(object as CronJob, events, nowMs),
  '/v1/PersistentVolume': (_, object, events, nowMs) =>
    describePersistentVolume(object as PersistentVolume, events, nowMs),
  '/v1/PersistentVolumeClaim': async (session, object, events, nowMs) =>
    describePersistentVolumeClaim(object as PersistentVolumeClaim, await neighboursOf(session, object), events, nowMs),
  '/v1/Endpoints': (_, object, events, nowMs) => describeEndpoints(object as Endpoints, events, nowMs),
  'discovery.k8s.io/v1/EndpointSlice': (_, object, events, nowMs) =>
    describeEndpointSlice(object as EndpointSlice, events, nowMs),
  'networking.k8s.io/v1/Ingress': async (session, object, events, nowMs) =>
    describeIngress(object as Ingress, await backendsOf(session, object as Ingress), events, nowMs),
  'networking.k8s.io/v1/IngressClass': (_, object, events, nowMs) =>
    describeIngressClass(object as IngressClass, events, nowMs),
  'networking.k8s.io/v1/IPAddress': (_, object, events, nowMs) =>
    describeIpAddress(object as IpAddressObject, events, nowMs),
  'networking.k8s.io/v1/NetworkPolicy': (_, object) => describeNetworkPolicy(object as NetworkPolicy),
  'networking.k8s.io/v1/ServiceCIDR': (_, object, events, nowMs) =>
    describeServiceCidr(object as ServiceCidr, events, nowMs),
  'rbac.authorization.k8s.io/v1/ClusterRole': (_, object) => describeRole(object as ClusterRole),
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': (_, object) => describeRoleBinding(object as ClusterRoleBinding),
  'rbac.authorization.k8s.io/v1/Role': (_, object) => describeRole(object as Role),
  'rbac.authorization.k8s.io/v1/RoleBinding': (_, object) => describeRoleBinding(object as RoleBinding),
  'scheduling.k8s.io/v1/PriorityClass': (_, object, events, nowMs) =>
    describePriorityClass(object as PriorityClass, events, nowMs),
  'storage.k8s.io/v1/CSINode': (_, object, events, nowMs) => describeCsiNode(object as CsiNode, events, nowMs),
  'storage.k8s.io/v1/StorageClass': (_, object, events, nowMs) =>
    describeStorageClass(object as StorageClass, events, nowMs),
  'storage.k8s.io/v1/VolumeAttributesClass': (_, object, events, nowMs) =>
    describeVolumeAttributesClass(object as VolumeAttributesClass, events, nowMs),
  'policy/v1/PodDisruptionBudget': (_, object, events, nowMs) =>
    describeBudget(object as PodDisruptionBudget, events, nowMs),
}

/** The ReplicaSets of a Deployment. */
async function setsOf({ list }: DescribingSession, deployment: Deployment): Promise<DeploymentSets> {
  const { namespace = '' } = deployment.metadata
  const sets = await list(replicaSets, { namespace, labelSelector: selectorText(deployment) ?? '' })
  const owned = controlledBy(deployment, sets).toSorted(
    ({ metadata: a }, { metadata: b }) =>
      compareText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') || compareText(a.name ?? '', b.name ?? ''),
  )
  const { template } = deployment.spec
  const current = owned.find((set) => set.spec.template !== undefined && isSameTemplate(set.spec.template, template))
  return { current, old: owned.filter((set) => set !== current) }
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

/** Where the Services behind an Ingress lead, or why that cannot be told. */
async function backendsOf(session: Session, ingress: Ingress): Promise<BackendEndpoints> {
  const { namespace = '' } = ingress.metadata
  const known = new Map<string, { readonly service: Service; readonly slices: readonly EndpointSlice[] } | Error>()
  for (const name of backendServices(ingress)) {
    try {
      const service = await session.client.get<Service>(services, { namespace, name })
      known.set(name, { service, slices: await slicesOf(session, service) })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      known.set(name, error)
    }
  }
  return ({ name, port }) => {
    const backend = known.get(name)
    if (backend === undefined || backend instanceof Error) return `<error: ${backend?.message ?? ''}>`
    const ports = backend.service.spec.ports ?? []
    const isMeant = port?.number
      ? ports.find((each) => each.port === port.number)
      : ports.find((each) => each.name === port?.name)
    return endpointsText(isMeant?.name ?? '', backend.slices)
  }
}

/** All pods of an object's namespace. */
const neighboursOf = ({ list }: DescribingSession, { metadata }: KubernetesObject): Promise<readonly Pod[]> =>
  list(pods, { namespace: metadata.namespace ?? '' })

/** What limits the objects of a namespace, as far as we may see it. */
async function limitsOf(
  { list }: DescribingSession,
  { metadata: { name = '' } }: KubernetesObject,
): Promise<NamespaceLimits> {
  const itemsOf = async <T extends KubernetesObject>(resource: Resource<T>): Promise<readonly T[] | undefined> => {
    try {
      return await list(resource, { namespace: name })
    } catch (error) {
      if (hasReason(error, 'Forbidden')) return undefined
      throw error
    }
  }
  const [quotas, ranges] = await Promise.all([itemsOf(resourceQuotas), itemsOf(limitRanges)])
  return { quotas, limitRanges: ranges }
}

async function podsOf({ list }: DescribingSession, owner: KubernetesObject): Promise<readonly Pod[]> {
  const { namespace } = owner.metadata
  if (namespace === undefined) return []
  return controlledBy(owner, await list(pods, { namespace, labelSelector: selectorText(owner) ?? '' }))
}

async function surroundingsOf(
  session: DescribingSession,
  { metadata: { name = '' } }: KubernetesObject,
): Promise<Omit<NodeSurroundings, 'events'>> {
  const { client, list } = session
  const [found, lease, slices] = await Promise.all([
    list(pods, { fieldSelector: `spec.nodeName=${name},status.phase!=Succeeded,status.phase!=Failed` }),
    client.get<Lease>(leases, { namespace: 'kube-node-lease', name }).catch((error: unknown) => {
      if (error instanceof Error) return error
      throw error
    }),
    resourceSlicesOf(session, name),
  ])
  return { pods: found, lease, slices }
}

/** The devices that drivers have on a node alone; none where the server does not tell of any. */
async function resourceSlicesOf(session: DescribingSession, node: string): Promise<readonly ResourceSlice[]> {
  const resource = (await session.catalog()).ofKind('resource.k8s.io/v1', 'ResourceSlice')
  if (resource === undefined) return []
  const slices = session.list<KubernetesObject>(resource, { fieldSelector: `spec.nodeName=${node}` })
  return (await slices.catch(() => [])) as readonly ResourceSlice[]
}

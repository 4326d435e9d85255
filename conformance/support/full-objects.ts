import {
  apiVersionOf,
  type Deployment,
  type Event,
  endpointSlices,
  events,
  type JsonObject,
  type KubernetesObject,
  type LabelSelector,
  leases,
  limitRanges,
  type Pod,
  pods,
  resourceQuotas,
  type StoredKind,
} from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { resolveSchema, shortName } from '../../packages/api/src/schema/resolve.ts'
import type { ObjectSchema, Schema } from '../../packages/api/src/schema/schema.ts'

/** Numbers from a seed, the same each time. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0
  }

  /** From 0 up to, and without, 1. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number up to, and without, `bound`. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound)
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}

/** Sets of fields of which an object has one, by the last part of the definition's name. */
const choices: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Volume: [['*', 'name']],
  PersistentVolumeSpec: [
    [
      ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'csi', 'fc', 'flexVolume', 'flocker'],
      ...['gcePersistentDisk', 'glusterfs', 'hostPath', 'iscsi', 'local', 'nfs', 'photonPersistentDisk'],
      ...['portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
    ],
  ],
  Probe: [['exec', 'httpGet', 'tcpSocket', 'grpc']],
  LifecycleHandler: [['exec', 'httpGet', 'tcpSocket', 'sleep']],
  EnvVar: [['value', 'valueFrom']],
  EnvVarSource: [['*']],
  EnvFromSource: [['configMapRef', 'secretRef']],
  VolumeProjection: [['*']],
  DownwardAPIVolumeFile: [['fieldRef', 'resourceFieldRef']],
  ContainerState: [['*']],
  NetworkPolicyPeer: [['ipBlock', 'namespaceSelector|podSelector']],
  IngressBackend: [['service', 'resource']],
  ServiceBackendPort: [['name', 'number']],
  LoadBalancerIngress: [['ip', 'hostname']],
  IngressLoadBalancerIngress: [['ip', 'hostname']],
  PodDisruptionBudgetSpec: [['minAvailable', 'maxUnavailable']],
  PolicyRule: [['apiGroups|resources|resourceNames', 'nonResourceURLs']],
  JobStatus: [['completionTime', 'none']],
}

/** Members of a type that the value of its `type` names. */
const discriminated: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MetricSpec: members('resource', 'containerResource', 'pods', 'object', 'external'),
  MetricStatus: members('resource', 'containerResource', 'pods', 'object', 'external'),
  DeploymentStrategy: { RollingUpdate: 'rollingUpdate', Recreate: '' },
  StatefulSetUpdateStrategy: { RollingUpdate: 'rollingUpdate', OnDelete: '' },
  DaemonSetUpdateStrategy: { RollingUpdate: 'rollingUpdate', OnDelete: '' },
  SeccompProfile: { Localhost: 'localhostProfile', RuntimeDefault: '', Unconfined: '' },
  AppArmorProfile: { Localhost: 'localhostProfile', RuntimeDefault: '', Unconfined: '' },
  LabelSelectorRequirement: { In: 'values', NotIn: 'values', Exists: '', DoesNotExist: '' },
  NodeSelectorRequirement: { In: 'values', NotIn: 'values', Exists: '', DoesNotExist: '', Gt: 'values', Lt: 'values' },
  MetricTarget: { Utilization: 'averageUtilization', AverageValue: 'averageValue', Value: 'value' },
}

function members(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${name.charAt(0).toUpperCase()}${name.slice(1)}`, name]))
}

const words = ['web', 'db', 'cache-1', 'a', 'x-y', 'example.com']
const texts = [
  'plain',
  'two words',
  'one\ntwo\n  three\n',
  'a\ttab',
  'one\n\ttwo\n',
  'carriage\r\nreturn',
  '100%s of %d',
  '"quoted" & <marked>',
  'Grüße, 世界',
  'x'.repeat(200),
  '\u001b[31mred',
  ' around ',
  'key: value',
  'C:\\windows\\system32',
]
const addresses = ['10.0.0.1', '192.168.17.200', 'fd00::1', '2001:db8::8a2e:370:7334']
const ranges = ['10.0.0.0/8', '192.168.0.0/16', 'fd00::/64']
const paths = ['/a', '/var/lib/data', '/', '/x y']
const amounts = ['100m', '1', '2Gi', '512Mi', '1500m', '0', '3k', '1.5', '1e3', '123456789', '100Ki', '5u']
const resources = ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'example.com/gpu', 'pods', 'storage']
const keys = ['app', 'tier', 'example.com/role', 'kubernetes.io/hostname', 'K_1.x']

/** Values of text fields that mean something, by `Definition.field` or by the name of the field. */
const values: Readonly<Record<string, readonly string[]>> = {
  ...everywhere(
    addresses,
    'ip',
    'hostIP',
    'podIP',
    'clusterIP',
    'clusterIPs',
    'externalIPs',
    'loadBalancerIP',
    'addresses',
  ),
  ...everywhere(ranges, 'cidr', 'cidrs', 'except', 'podCIDR', 'podCIDRs', 'loadBalancerSourceRanges'),
  ...everywhere(paths, 'path', 'mountPath', 'subPath', 'devicePath', 'hostPath'),
  ...everywhere(texts, 'message', 'note', 'value', 'description', 'command', 'args', 'action'),
  'FieldRef.fieldPath': ['metadata.name'],
  'ObjectFieldSelector.fieldPath': [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    "metadata.labels['app']",
    "metadata.annotations['example.com/role']",
    'metadata.labels',
    'spec.nodeName',
    'status.podIP',
  ],
  'ObjectFieldSelector.apiVersion': ['v1'],
  'ObjectReference.fieldPath': ['spec.containers{web}', ''],
  'ResourceFieldSelector.resource': [
    'limits.cpu',
    'requests.cpu',
    'limits.memory',
    'requests.memory',
    'limits.ephemeral-storage',
    'requests.hugepages-2Mi',
  ],
  'LabelSelectorRequirement.operator': ['In', 'NotIn', 'Exists', 'DoesNotExist'],
  'NodeSelectorRequirement.operator': ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'],
  'ScopedResourceSelectorRequirement.operator': ['In', 'NotIn', 'Exists', 'DoesNotExist'],
  'Toleration.operator': ['Exists', 'Equal', 'Lt', 'Gt'],
  'ResourceQuotaSpec.scopes': ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass'],
  'Taint.value': words,
  'Toleration.value': words,
  'LimitRangeItem.type': ['Container', 'Pod', 'PersistentVolumeClaim'],
  'NodeCondition.type': ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'],
  'NodeAddress.type': ['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'],
  'NodeAddress.address': addresses,
  'PodCondition.type': ['Ready', 'PodScheduled', 'Initialized', 'ContainersReady', 'example.com/gate'],
  'PodReadinessGate.conditionType': ['Ready', 'example.com/gate', 'example.com/none'],
  'Event.type': ['Normal', 'Warning'],
  'ServiceSpec.type': ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'],
  'Secret.type': ['Opaque', 'kubernetes.io/tls', 'kubernetes.io/service-account-token'],
  'ServicePort.protocol': ['TCP', 'UDP', 'SCTP'],
  'EndpointPort.protocol': ['TCP', 'UDP', 'SCTP'],
  'EndpointSlice.addressType': ['IPv4', 'IPv6', 'FQDN'],
  'PodCondition.reason': ['Infeasible', 'Deferred', ''],
  'PodStatus.phase': ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'],
  'NamespaceStatus.phase': ['Active', 'Terminating'],
  'PersistentVolumeClaimStatus.phase': ['Pending', 'Bound', 'Lost'],
  'PersistentVolumeStatus.phase': ['Pending', 'Available', 'Bound', 'Released', 'Failed'],
  'PodStatus.qosClass': ['Guaranteed', 'Burstable', 'BestEffort'],
  'Subject.kind': ['User', 'Group', 'ServiceAccount'],
  'Lifecycle.stopSignal': ['SIGTERM', 'SIGUSR1'],
  'Container.restartPolicy': ['Always', 'Never', 'OnFailure'],
  'CertificateSigningRequestSpec.request': Object.values(certificateRequests),
  'CertificateSigningRequestSpec.signerName': ['kubernetes.io/kube-apiserver-client', 'example.com/signer'],
  'CertificateSigningRequestSpec.usages': ['client auth', 'server auth', 'digital signature'],
  'CertificateSigningRequestCondition.type': ['Approved', 'Denied', 'Failed'],
  'CronJobSpec.schedule': ['*/5 * * * *', '@daily'],
  'CronJobSpec.timeZone': ['Etc/UTC', 'Europe/Berlin'],
  'JobSpec.completionMode': ['Indexed', 'NonIndexed'],
  'JobStatus.completedIndexes': [
    '',
    '1-3',
    '0-5,7,9-12',
    Array.from({ length: 40 }, (_, index) => index * 2).join(','),
  ],
  'DeploymentCondition.type': ['Available', 'Progressing', 'ReplicaFailure'],
  'VolumeMount.name': words,
  'IngressServiceBackend.name': ['services-0', 'services-1', 'services-2', 'web'],
  'PersistentVolumeClaimVolumeSource.claimName': ['persistentvolumeclaims-0', 'persistentvolumeclaims-1', 'web'],
  'ServicePort.name': ['http', 'dns', ''],
  'ServiceBackendPort.name': ['http', 'dns'],
  'EndpointPort.name': ['http', 'dns', ''],
  accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
  volumeMode: ['Filesystem', 'Block'],
  status: ['True', 'False', 'Unknown'],
  effect: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
  policyTypes: ['Ingress', 'Egress'],
  protocol: ['TCP', 'UDP', 'SCTP'],
  pathType: ['Exact', 'Prefix', 'ImplementationSpecific'],
  scheme: ['HTTP', 'HTTPS'],
  whenUnsatisfiable: ['DoNotSchedule', 'ScheduleAnyway'],
  verbs: ['get', 'list', 'watch', '*', 'create'],
  apiGroups: ['', 'apps', '*', 'example.com'],
  'PolicyRule.resources': ['pods', 'pods/log', '*', 'deployments', 'deployments/scale'],
  nonResourceURLs: ['/healthz', '/metrics/*', '*'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
  externalTrafficPolicy: ['Cluster', 'Local'],
  internalTrafficPolicy: ['Cluster', 'Local'],
  sessionAffinity: ['None', 'ClientIP'],
  concurrencyPolicy: ['Allow', 'Forbid', 'Replace'],
  selectPolicy: ['Max', 'Min', 'Disabled'],
  'HPAScalingPolicy.type': ['Pods', 'Percent'],
  volumeBindingMode: ['Immediate', 'WaitForFirstConsumer'],
  reclaimPolicy: ['Retain', 'Delete'],
  persistentVolumeReclaimPolicy: ['Retain', 'Delete', 'Recycle'],
  preemptionPolicy: ['PreemptLowerPriority', 'Never'],
  'EmptyDirVolumeSource.medium': ['', 'Memory', 'HugePages-2Mi'],
}

function everywhere(each: readonly string[], ...names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, each]))
}

/** Fields that objects of the API cannot do without, where they are optional in the schema. */
const always = new Set(['allocatable', 'metadata', 'name', 'qosClass', 'selector', 'spec', 'status', 'template'])

/** How probable it is that an object has an optional field. */
const densities = [1, 1, 0.8, 0.5, 0.2]

/** Objects nest no deeper than this where a schema recurs. */
const depthMax = 14

/** Objects of a kind as its schema has them, in its hub's version, with some or all of the optional fields, and status. */
export function fullObjects(kind: StoredKind, count: number, seed: number): readonly KubernetesObject[] {
  return Array.from({ length: count }, (_, index) => {
    const draw = new Draw(
      seed * 7919 + index * 104729 + [...kind.plural].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7),
    )
    const density = densities[index % densities.length] ?? 1
    const { metadata, ...rest } = objectOf(kind.schema, draw, density, 0) as JsonObject & {
      readonly metadata: JsonObject
    }
    const { generateName, managedFields, selfLink, resourceVersion, ...about } = metadata ?? {}
    const deletion = index % 4 === 3
    return {
      ...rest,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...about,
        name: `${kind.plural}-${index}`,
        namespace: kind.namespaced ? 'full' : undefined,
        uid: uid(draw),
        creationTimestamp: timeOf(draw, false),
        deletionTimestamp: deletion ? timeOf(draw, false) : undefined,
        deletionGracePeriodSeconds: deletion ? 30 : undefined,
      },
    } as unknown as KubernetesObject
  })
}

const hex = (draw: Draw, length: number): string =>
  Array.from({ length }, () => draw.one([...'0123456789abcdef'])).join('')

const uid = (draw: Draw): string => [8, 4, 4, 4, 12].map((length) => hex(draw, length)).join('-')

/** Long ago: how old something is does not change while it is described. */
function timeOf(draw: Draw, micro: boolean): string {
  const time = new Date(
    Date.UTC(2001 + draw.below(12), draw.below(12), 1 + draw.below(28), draw.below(24), draw.below(60), draw.below(60)),
  )
  const text = time.toISOString()
  return micro ? text.replace('.000Z', '.123456Z') : text.replace('.000Z', 'Z')
}

function valueFor(schema: Schema, owner: string, name: string, draw: Draw, density: number, depth: number): unknown {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'string':
      return draw.one(resolved.enum?.length ? resolved.enum : (values[`${owner}.${name}`] ?? values[name] ?? words))
    case 'integer':
      return Math.max(resolved.minimum ?? 0, draw.one([0, 1, 2, 5, 30, 80, 300, 8080]))
    case 'number':
      return draw.one([0, 1, 2.5])
    case 'boolean':
      return draw.chance(0.5)
    case 'int-or-string':
      return draw.one<number | string>([1, 80, '25%', 'http'])
    case 'quantity':
      return draw.one(amounts)
    case 'time':
      return timeOf(draw, resolved.micro)
    case 'bytes':
      return draw.one(values[`${owner}.${name}`] ?? texts.map((text) => Buffer.from(text).toString('base64')))
    case 'any':
      return resolved.object ? { a: 1, b: { c: ['d'] } } : draw.one<unknown>([1, 'a', { a: [1] }])
    case 'list':
      return listOf(resolved.items, owner, name, draw, density, depth)
    case 'map':
      if (`${owner}.${name}` === 'NodeStatus.allocatable') return allocatable
      return mapOf(resolved.values, owner, name, draw, density, depth)
    case 'object':
      return objectOf(resolved, draw, density, depth)
  }
}

/** A node has some of what all have: kubectl divides by it. */
const allocatable = { cpu: '3', memory: '2000000k', 'ephemeral-storage': '7Gi', pods: '110', 'example.com/gpu': '2' }

function listOf(
  items: Schema,
  owner: string,
  name: string,
  draw: Draw,
  density: number,
  depth: number,
): readonly unknown[] {
  const length = depth > 8 ? 1 : 1 + draw.below(3)
  const list = Array.from({ length }, () => valueFor(items, owner, name, draw, density, depth + 1))
  const unique = new Map(list.map((item) => [keyOf(item), item]))
  return [...unique.values()]
}

/** What elements of a list differ by. */
function keyOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return JSON.stringify(item)
  const { name, uid, type, key } = item as Readonly<Record<string, unknown>>
  return JSON.stringify(name ?? uid ?? type ?? key ?? item)
}

function mapOf(schema: Schema, owner: string, name: string, draw: Draw, density: number, depth: number): object {
  const isAmounts = resolveSchema(schema).type === 'quantity'
  // kubectl describes limits in the order in which Go goes through a map, which it draws anew each time.
  const names = owner === 'LimitRangeItem' ? ['memory'] : isAmounts ? resources : keys
  const isText = [
    'annotations',
    'data',
    'binaryData',
    'options',
    'volumeAttributes',
    'parameters',
    'stringData',
  ].includes(name)
  const entries = names
    .filter(() => draw.chance(0.5))
    .map((key) => [key, valueFor(schema, owner, isText ? 'value' : name, draw, density, depth + 1)])
  return Object.fromEntries(entries)
}

function objectOf(schema: ObjectSchema, draw: Draw, density: number, depth: number): JsonObject {
  const owner = shortName(schema.name)
  const left = new Set<string>()
  const isOptional = Object.entries(schema.fields)
  const kept = new Set<string>()
  for (const choice of choices[owner] ?? []) {
    const names = choice[0] === '*' ? isOptional.map(([name]) => name).filter((name) => !choice.includes(name)) : choice
    const chosen = draw.one(names)
    for (const group of names) for (const name of group.split('|')) left.add(name)
    for (const name of chosen.split('|')) {
      left.delete(name)
      kept.add(name)
    }
  }
  const types = discriminated[owner]
  const type = types === undefined ? undefined : draw.one(Object.keys(types))
  for (const member of Object.values(types ?? {})) left.add(member)
  const member = type === undefined ? undefined : types?.[type]
  if (member) {
    left.delete(member)
    kept.add(member)
  }
  const result: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.fields)) {
    if (left.has(name)) continue
    if (['type', 'operator'].includes(name) && type !== undefined) {
      result[name] = type
      continue
    }
    const isThere = field.required || kept.has(name) || always.has(name) || (depth < depthMax && draw.chance(density))
    if (isThere) result[name] = valueFor(field.schema, owner, name, draw, density, depth + 1)
  }
  return result as JsonObject
}

/** What kubectl looks at beside an object it describes: events, what controls what, where services lead. */
export function surroundings(objects: readonly KubernetesObject[], seed: number): readonly KubernetesObject[] {
  const draw = new Draw(seed)
  const podsFor = fullObjects(pods as unknown as StoredKind, objects.length, seed + 1) as readonly Pod[]
  return objects.flatMap((object, index): readonly KubernetesObject[] => {
    const events = eventsAbout(object, draw)
    switch (object.kind) {
      case 'Deployment':
        return [...events, ...replicaSetsOf(object as Deployment, draw)]
      case 'ReplicaSet':
      case 'ReplicationController':
      case 'DaemonSet':
      case 'StatefulSet':
        return [...events, ownPod(object, podsFor[index], draw)]
      case 'Service':
        return [...events, ...slicesOf(object, draw)]
      case 'Node':
        return [...events, ...podsOn(object, draw), ...(index % 3 === 0 ? [] : [leaseOf(object, draw)])]
      case 'Namespace':
        return index % 3 === 0 ? events : [...events, ...limitsOf(object, draw)]
      default:
        return events
    }
  })
}

/** An object with an identity, in the place of another. */
function placed<T extends KubernetesObject>(object: T, metadata: object, draw: Draw): T {
  const about = { uid: uid(draw), creationTimestamp: timeOf(draw, false) }
  return { ...object, metadata: { ...object.metadata, ...about, ...metadata } }
}

function eventsAbout({ kind, apiVersion, metadata }: KubernetesObject, draw: Draw): readonly KubernetesObject[] {
  const { name = '', namespace, uid: identity } = metadata
  return fullObjects(events as unknown as StoredKind, draw.below(3), draw.below(1_000_000)).map((event, index) => {
    const { involvedObject } = event as unknown as Event
    const { fieldPath } = involvedObject
    const about = { kind, apiVersion, name, namespace, uid: kind === 'Node' && index > 0 ? name : identity, fieldPath }
    const place = { name: `${kind.toLowerCase()}-${name}.${index}`, namespace: namespace ?? 'default' }
    return placed({ ...event, involvedObject: about } as KubernetesObject, place, draw)
  })
}

/** Labels that a selector finds. */
function labelsFor(selector: LabelSelector | undefined): Readonly<Record<string, string>> {
  const wanted = (selector?.matchExpressions ?? []).flatMap(({ key, operator, values: [value = 'x'] = [] }) =>
    operator === 'In' || operator === 'Exists' ? [[key, value]] : [],
  )
  return { ...Object.fromEntries(wanted), ...selector?.matchLabels }
}

const controller = ({ kind, apiVersion, metadata }: KubernetesObject): object => ({
  kind,
  apiVersion,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
})

function replicaSetsOf(deployment: Deployment, draw: Draw): readonly KubernetesObject[] {
  const { metadata, spec } = deployment
  const labels = labelsFor(spec.selector)
  return Array.from({ length: draw.below(4) }, (_, index) => {
    const template =
      index === 0 ? spec.template : { ...spec.template, metadata: { labels: { ...labels, old: `${index}` } } }
    const set = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {},
      spec: { replicas: index, selector: spec.selector, template },
    }
    const place = {
      name: `${metadata.name}-${index}`,
      namespace: metadata.namespace,
      labels,
      ownerReferences: [controller(deployment)],
    }
    return placed(set as unknown as KubernetesObject, place, draw)
  })
}

function ownPod(owner: KubernetesObject, pod: Pod | undefined, draw: Draw): KubernetesObject {
  const { selector } = (owner as unknown as { readonly spec: { readonly selector: LabelSelector } }).spec
  const labels = owner.kind === 'ReplicationController' ? (selector as object) : labelsFor(selector)
  const place = { name: `${owner.metadata.name}-pod`, namespace: 'full', labels, ownerReferences: [controller(owner)] }
  return placed(pod as KubernetesObject, place, draw)
}

/** Pods of a node. None is being resized, nor has resources as a whole: kubectl's next release counts these as the scheduler does. */
function podsOn({ metadata }: KubernetesObject, draw: Draw): readonly KubernetesObject[] {
  return fullObjects(pods as unknown as StoredKind, draw.below(4), draw.below(1_000_000)).map((pod, index) => {
    const { spec, status, ...rest } = pod as Pod
    const { resources: _, ...plain } = spec
    const place = { name: `${metadata.name}-${index}`, namespace: 'full' }
    const { phase } = status ?? {}
    return placed({ ...rest, spec: { ...plain, nodeName: metadata.name }, status: { phase } } as Pod, place, draw)
  })
}

function slicesOf({ metadata }: KubernetesObject, draw: Draw): readonly KubernetesObject[] {
  const slices = fullObjects(endpointSlices as unknown as StoredKind, draw.below(3), draw.below(1_000_000))
  return slices.map((slice, index) => {
    const labels = { 'kubernetes.io/service-name': metadata.name }
    return placed(slice, { name: `${metadata.name}-${index}`, namespace: metadata.namespace, labels }, draw)
  })
}

function leaseOf({ metadata }: KubernetesObject, draw: Draw): KubernetesObject {
  const [lease] = fullObjects(leases as unknown as StoredKind, 1, draw.below(1_000_000))
  return placed(lease as KubernetesObject, { name: metadata.name, namespace: 'kube-node-lease' }, draw)
}

function limitsOf({ metadata }: KubernetesObject, draw: Draw): readonly KubernetesObject[] {
  const kinds = [resourceQuotas, limitRanges] as unknown as readonly StoredKind[]
  return kinds.flatMap((kind) =>
    fullObjects(kind, draw.below(3), draw.below(1_000_000)).map((limit) =>
      placed(limit, { namespace: metadata.name }, draw),
    ),
  )
}

const column = (name: string, type: string, jsonPath: string, more: object = {}) => ({ name, type, jsonPath, ...more })

/** A kind that no client knows, with columns of every type. */
export const customDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com', uid: 'things', creationTimestamp: '2001-01-01T00:00:00Z' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          column('Text', 'string', '.spec.text'),
          column('Whole', 'integer', '.spec.whole'),
          column('Number', 'number', '.spec.number'),
          column('Flag', 'boolean', '.spec.flag'),
          column('Since', 'date', '.spec.since'),
          column('List', 'string', '.spec.list'),
          column('Each', 'string', '.spec.list[*]'),
          column('Map', 'string', '.spec.map', { priority: 1 }),
          column('Names', 'string', '.spec.members[*].name', { priority: 1 }),
          column('Age', 'date', '.metadata.creationTimestamp'),
        ],
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
  status: {
    acceptedNames: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    storedVersions: ['v1'],
    conditions: ['NamesAccepted', 'Established'].map((type) => ({
      type,
      status: 'True',
      reason: 'Yes',
      message: '',
      lastTransitionTime: '2001-01-01T00:00:00Z',
    })),
  },
} as unknown as KubernetesObject

const customSpecs: readonly JsonObject[] = [
  {},
  {
    text: 'one\ntwo',
    whole: 5,
    number: 1.5,
    flag: true,
    since: '2002-01-01T00:00:00Z',
    list: ['a', 'b'],
    map: { b: 1, a: 2 },
  },
  {
    text: '',
    whole: 0,
    number: 0,
    flag: false,
    since: 'yesterday',
    list: [],
    map: {},
    members: [{ name: 'a' }, { name: 'b' }],
  },
  {
    text: 'a\ttab',
    whole: 9007199254740991,
    number: 1e21,
    list: [1, 2.5, true, null, ['x', 'y'], { a: 1 }],
    map: { x: null },
  },
  { text: 5, whole: 'five', number: 'x', flag: 'yes', since: 5, list: 'list', map: [1], members: {} },
  { number: 1e-7, whole: -1, text: '\u001b[31m', list: [{ name: 'a', deep: [{ x: 1 }, [1, [2]]] }] },
  {
    clusterIP: 'a',
    podIPs: ['a'],
    diskURI: 'x',
    apiURL: 'x',
    'a-b': 1,
    'a.b': 1,
    under_score: 1,
    ip4: 1,
    A: 1,
    AB: 1,
    ABc: 1,
    uid: 'x',
    osbGUID: 1,
    größe: 1,
    '': 1,
    kubeletUIDs: ['x'],
    HTTPProxy: ['x'],
    number: 100000000,
    big: 2 ** 63,
    small: 0.000001,
    exact: 123456789.125,
    string: 'x'.repeat(300),
    multi: 'a\nb\n',
    nothing: null,
  },
]

/** Objects of that kind with all that its schema lets through. */
export const customObjects: readonly KubernetesObject[] = customSpecs.map(
  (spec, index) =>
    ({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: {
        name: `things-${index}`,
        namespace: 'full',
        uid: `thing-${index}`,
        creationTimestamp: '2001-01-01T00:00:00Z',
      },
      spec,
    }) as unknown as KubernetesObject,
)

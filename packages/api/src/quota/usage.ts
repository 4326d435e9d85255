/** What objects take of a quota (upstream's quota evaluators). Pure. */
import { compareText } from '../compare-text.ts'
import { storageClassOfClaim } from '../kinds/core/persistent-volume-claim/persistent-volume-claim.ts'
import type { PersistentVolumeClaim } from '../kinds/core/persistent-volume-claim/schema.ts'
import type { Container } from '../kinds/core/pod/container.ts'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import { isHugePages, isPodLevelResource } from '../kinds/core/pod/resource-names.ts'
import { isExtended } from '../kinds/core/pod/validation/resources.ts'
import type { Service } from '../kinds/core/service/service-schema.ts'
import { allocationResultsMax } from '../kinds/resource/limits.ts'
import type { ResourceClaim } from '../kinds/resource/resource-claim-schema.ts'
import type { KubernetesObject } from '../meta.ts'
import { podLimits, podRequests } from '../placement/pod-resources.ts'
import type { ResourceQuantities } from '../placement/resource-quantities.ts'
import { specOnNode } from '../placement/resources-on-node.ts'
import { compareQuantity, parseQuantity, type Quantity } from '../quantity.ts'
import type { Resource } from '../resource.ts'
import { parseTime } from '../time.ts'

type CountedKind = Pick<Resource, 'group' | 'plural'>

/** Kinds that quotas count by their plural as well as by `count/<plural>`. */
const namedKinds: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

/** `count/pods`, `count/jobs.batch`: the name under which quotas count objects of a kind. */
export const countName = ({ group, plural }: CountedKind): string =>
  `count/${group === '' ? plural : `${plural}.${group}`}`

const podNames: ReadonlySet<string> = new Set([
  'pods',
  ...['', 'requests.', 'limits.'].flatMap((prefix) => [
    `${prefix}cpu`,
    `${prefix}memory`,
    `${prefix}ephemeral-storage`,
  ]),
])
const serviceNames: ReadonlySet<string> = new Set(['services', 'services.nodeports', 'services.loadbalancers'])
/** What follows the name of a device class in the name under which quotas count its devices. */
const devicesOfClass = '.deviceclass.resource.k8s.io/devices'

const isDeviceClaim = ({ group, plural }: CountedKind): boolean =>
  group === 'resource.k8s.io' && plural === 'resourceclaims'

const claimNames = ['persistentvolumeclaims', 'requests.storage']

/** Whether objects of a kind are what a quota counts under a name; they may take nothing of it. */
export function isCountedAs(kind: CountedKind, name: string): boolean {
  if (name === countName(kind)) return true
  if (isDeviceClaim(kind)) return name.endsWith(devicesOfClass)
  if (kind.group !== '') return false
  switch (kind.plural) {
    case 'pods':
      return podNames.has(name) || isHugePages(name.replace(/^requests\./, '')) || isExtendedRequest(name)
    case 'services':
      return serviceNames.has(name)
    case 'persistentvolumeclaims':
      return claimNames.some((each) => name === each || name.endsWith(`${ofClass}${each}`))
    default:
      return namedKinds.has(kind.plural) && name === kind.plural
  }
}

const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && name.includes('/') && !name.includes('kubernetes.io/')

/** What an object takes at a moment, by the names that quotas know. */
export function quotaUsage(kind: CountedKind, object: KubernetesObject, nowMs: number): ResourceQuantities {
  const usage = new Map<string, Quantity>([[countName(kind), count(1)]])
  if (isDeviceClaim(kind)) addDevices(usage, object as ResourceClaim)
  if (kind.group !== '') return usage
  if (namedKinds.has(kind.plural)) usage.set(kind.plural, count(1))
  switch (kind.plural) {
    case 'pods':
      addPod(usage, object as Pod, nowMs)
      break
    case 'services':
      addService(usage, object as Service)
      break
    case 'persistentvolumeclaims':
      addClaim(usage, object as PersistentVolumeClaim)
      break
  }
  return usage
}

const count = (value: number): Quantity => parseQuantity(String(value))

/** A pod that has ended, or should have, takes nothing but a place in the list. */
function addPod(usage: Map<string, Quantity>, pod: Pod, nowMs: number): void {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || isStuck(pod, nowMs)) return
  usage.set('pods', count(1))
  const spec = specOnNode(pod)
  addCompute(usage, podRequests(spec), podLimits(spec))
}

/**
 * Whether a pod is still there a grace period after its deletion was due: on a lost node it may stay for long, and must not keep its
 * owner from making another. The time of deletion has the grace period in it already; upstream adds it once more.
 */
function isStuck({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }: Pod, nowMs: number): boolean {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return nowMs > parseTime(deletionTimestamp) + deletionGracePeriodSeconds * 1000
}

function addCompute(usage: Map<string, Quantity>, requests: ResourceQuantities, limits: ResourceQuantities): void {
  for (const [name, amount] of requests) {
    if (isStandard(name)) usage.set(name, amount)
    if (isStandard(name) || isExtended(name)) usage.set(`requests.${name}`, amount)
  }
  for (const [name, amount] of limits) {
    if (isLimited(name)) usage.set(`limits.${name}`, amount)
  }
}

const isLimited = (name: string): boolean => name === 'cpu' || name === 'memory' || name === 'ephemeral-storage'
const isStandard = (name: string): boolean => isLimited(name) || isHugePages(name)

function addService(usage: Map<string, Quantity>, { spec }: Service): void {
  const { type, ports = [], allocateLoadBalancerNodePorts } = spec
  const isBalanced = type === 'LoadBalancer'
  const nodePorts =
    isBalanced && allocateLoadBalancerNodePorts === false ? ports.filter((each) => each.nodePort) : ports
  usage.set('services.nodeports', count(isBalanced || type === 'NodePort' ? nodePorts.length : 0))
  usage.set('services.loadbalancers', count(isBalanced ? 1 : 0))
}

const ofClass = '.storageclass.storage.k8s.io/'

function addClaim(usage: Map<string, Quantity>, claim: PersistentVolumeClaim): void {
  const storageClass = storageClassOfClaim(claim)
  const storage = storageOf(claim)
  if (storage !== undefined) usage.set('requests.storage', storage)
  if (!storageClass) return
  usage.set(`${storageClass}${ofClass}persistentvolumeclaims`, count(1))
  if (storage !== undefined) usage.set(`${storageClass}${ofClass}requests.storage`, storage)
}

/** What a claim asks for, or what its volume is being grown to where that is more; in whole bytes. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.storage
  if (asked === undefined) return undefined
  const allocated = status?.allocatedResources?.storage
  const { nanos, format } = parseQuantity(
    allocated !== undefined && compareQuantity(allocated, asked) > 0 ? allocated : asked,
  )
  const rest = nanos % nanosPerByte
  return { nanos: rest > 0n ? nanos - rest + nanosPerByte : nanos, format }
}

const nanosPerByte = 1_000_000_000n

/**
 * How many devices of each class a claim may come to have: of several ways to meet a request the one that takes most of a class counts,
 * and all there are count as the most that a claim can be given.
 */
function addDevices(usage: Map<string, Quantity>, { spec }: ResourceClaim): void {
  const devices = new Map<string, number>()
  for (const { exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    const most = new Map<string, number>()
    for (const { deviceClassName, allocationMode, count: wanted = 0 } of exactly === undefined
      ? firstAvailable
      : [exactly]) {
      const taken = allocationMode === 'All' ? allocationResultsMax : Number(wanted)
      most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, taken))
    }
    for (const [name, taken] of most) devices.set(name, (devices.get(name) ?? 0) + taken)
  }
  for (const [name, taken] of devices) usage.set(`${name}${devicesOfClass}`, count(taken))
}

/** Amounts that each container must state where a quota limits them. */
const constrained: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
])

/**
 * What containers of a pod must state because a quota limits it and they do not, as upstream's refusal says it. Where the pod as a whole
 * states something they need not.
 */
export function unstatedResources({ spec }: Pod, limited: readonly string[]): string | undefined {
  const { requests, limits } = spec.resources ?? {}
  if (Object.keys({ ...requests, ...limits }).some(isPodLevelResource)) return undefined
  const required = limited.filter((name) => constrained.has(name))
  if (required.length === 0) return undefined
  const missing = new Map<string, string[]>()
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    const stated = statedBy(container)
    for (const name of required) {
      if (!stated.has(name)) missing.set(name, [...(missing.get(name) ?? []), container.name])
    }
  }
  if (missing.size === 0) return undefined
  const texts = [...missing.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, containers]) => `${name} for: ${containers.toSorted(compareText).join(',')}`)
  return `must specify ${texts.join('; ')}`
}

function statedBy({ resources }: Container): ReadonlySet<string> {
  const requests = Object.keys(resources?.requests ?? {})
  const limits = Object.keys(resources?.limits ?? {}).map((name) => `limits.${name}`)
  return new Set([...requests, ...requests.map((name) => `requests.${name}`), ...limits])
}

import {
  deepEqual,
  type Endpoint,
  type EndpointHints,
  type EndpointSlice,
  type EndpointSlicePort,
  endpointSlices,
  type Pod,
  type Service,
  type ServiceStatus,
} from '@coracle/api'
import { type Action, controllerRef, type Plan } from '@coracle/controller-runtime'
import { hasEnded, isReady } from '../pods/pod-state.ts'
import { addressInFamily, hasAddress, hostnameOf, targetPortOf } from '../services/pods-behind.ts'
import { type AddressType, managedByLabel, serviceNameLabel, signatureOf, sliceDeletion } from '../services/slices.ts'
import { triggerTimeAnnotation, withTriggerTime } from '../services/trigger-times.ts'
import { allocateToZones, hintsDisabled, hintsEnabled } from './topology-hints.ts'

export const managedBy = 'endpointslice-controller.k8s.io'
export const headlessLabel = 'service.kubernetes.io/headless'

/** A slice holds no more endpoints: whoever follows slices gets this much when one of them changes. */
export const endpointsPerSliceMax = 100

export interface SlicesInput {
  readonly service: Service
  /** The pods that the service selects. */
  readonly pods: readonly Pod[]
  /** The slices that say they are of the service, and are this controller's. */
  readonly slices: readonly EndpointSlice[]
  /** The zone of a node, empty where it names none; undefined where there is no such node. */
  readonly zoneOf: (nodeName: string) => string | undefined
  /** When what is behind the service changed, for whoever measures how long it takes to be heard of; undefined: unknown. */
  readonly triggerTime?: string | undefined
  /** What allocating endpoints to zones takes; absent where the service does not want it. */
  readonly topology?: TopologyInput | undefined
  /** What has been said of its allocation, by family of addresses; empty where there was none. */
  readonly saidOfHints?: SaidOfHints
}

export interface TopologyInput {
  /** The share of each zone, see `zoneShares`. */
  readonly shares: ReadonlyMap<string, number> | undefined
}

export type SaidOfHints = ReadonlyMap<AddressType, string>

export interface SlicesPlan extends Plan<ServiceStatus> {
  readonly saidOfHints: SaidOfHints
  /** Nodes that are not there, and for which pods of the service are left out. */
  readonly missingNodes: ReadonlySet<string>
}

/** Endpoints that can be in one slice: they have the same ports, and addresses of one family. */
interface Group {
  readonly addressType: AddressType
  readonly ports: readonly EndpointSlicePort[]
  readonly endpoints: readonly Endpoint[]
}

/**
 * Makes the slices of a service hold its pods, changing as few slices as can be: what is there stays where it is, what is new
 * goes into slices that change anyway, then into one with room for all that is left, then into new ones; a slice that would go
 * is used for a new one. Pure. (Upstream: endpointslice/reconciler.go.)
 */
export function planEndpointSlices(input: SlicesInput): SlicesPlan {
  const { service, slices, triggerTime, saidOfHints = new Map() } = input
  const labels = labelsOf(service)
  const isOwned = (slice: EndpointSlice): boolean => isOwnedBy(slice, service)
  const bySignature = new Map<string, EndpointSlice[]>()
  for (const slice of slices.filter(isOwned)) {
    const signature = signatureOf(slice.addressType, slice.ports ?? [])
    bySignature.set(signature, [...(bySignature.get(signature) ?? []), slice])
  }
  const changes: Changes = { made: [], changed: [], gone: [] }
  const { pods, missingNodes, leftOut } = placedPods(input)
  const { groups, said } = withTopologyHints(groupsOf({ ...input, pods }), input)
  for (const group of groups) {
    const signature = signatureOf(group.addressType, group.ports)
    packGroup(group, bySignature.get(signature) ?? [], labels, changes)
    bySignature.delete(signature)
  }
  changes.gone.push(...[...bySignature.values()].flat())
  reuse(changes)
  const strange = slices.filter((slice) => !isOwned(slice))
  // What is made while the service goes the garbage collector would have to find again.
  const made = service.metadata.deletionTimestamp === undefined ? changes.made : []
  return {
    actions: [
      ...made.map((group) => creation(service, group, labels, triggerTime)),
      ...changes.changed.map((changed) => update(service, changed, labels, triggerTime)),
      ...changes.gone.map((slice) => deletion(service, slice, 'no pod of the service is in it')),
      ...strange.map((slice) => deletion(service, slice, 'the service does not own it')),
      ...hintEvents(said, saidOfHints),
      ...(leftOut.length === 0 ? [] : [leftOutEvent(service, leftOut)]),
    ],
    saidOfHints: said,
    missingNodes,
  }
}

/**
 * The pods that may be in slices: those that run, on nodes that are there. Where a node has been removed its pods are about to go,
 * and nothing leads to them, unless the service wants all addresses.
 */
function placedPods({ service, pods, zoneOf }: SlicesInput): Placed {
  const running = pods.filter((pod) => !hasEnded(pod) && hasAddress(pod))
  if (service.spec.publishNotReadyAddresses === true) return { pods: running, missingNodes: new Set(), leftOut: [] }
  const isPlaced = (pod: Pod): boolean => zoneOf(nodeOf(pod)) !== undefined
  const leftOut = running.filter((pod) => !isPlaced(pod))
  return { pods: running.filter(isPlaced), missingNodes: new Set(leftOut.map(nodeOf)), leftOut }
}

interface Placed extends Pick<SlicesInput, 'pods'>, Pick<SlicesPlan, 'missingNodes'> {
  readonly leftOut: readonly Pod[]
}

const nodeOf = ({ spec }: Pod): string => spec.nodeName ?? ''

/** Has the endpoints of each family allocated to zones, where the service wants that. */
function withTopologyHints(
  groups: readonly Group[],
  { topology, slices }: SlicesInput,
): { readonly groups: readonly Group[]; readonly said: SaidOfHints } {
  if (topology === undefined) return { groups, said: new Map() }
  const present = new Map(
    slices.flatMap(({ endpoints = [] }) =>
      endpoints.map((each) => [identityOf(each), each.hints?.forZones?.[0]?.name] as const),
    ),
  )
  const said = new Map<AddressType, string>()
  const zones = new Map<Endpoint, string>()
  for (const addressType of new Set(groups.map((group) => group.addressType))) {
    const endpoints = groups.filter((group) => group.addressType === addressType).flatMap((group) => group.endpoints)
    const hints = allocateToZones(endpoints, topology.shares, (endpoint) => present.get(identityOf(endpoint)))
    said.set(addressType, hints.zones === undefined ? hints.why : hintsEnabled)
    for (const [endpoint, zone] of hints.zones ?? []) zones.set(endpoint, zone)
  }
  const hinted = ({ hints: _, ...endpoint }: Endpoint, zone: string | undefined): Endpoint =>
    zone === undefined ? endpoint : { ...endpoint, hints: { forZones: [{ name: zone }] } }
  const withHints = (group: Group): Group => ({
    ...group,
    endpoints: group.endpoints.map((each) => hinted(each, zones.get(each))),
  })
  return { groups: groups.map(withHints), said }
}

/** Tells of what is new: that endpoints are allocated, that they are no longer, or why they are not. */
function hintEvents(said: SaidOfHints, before: SaidOfHints): readonly Action[] {
  const wasEnabled = [...before.values()].includes(hintsEnabled)
  const isNews = ([type, text]: readonly [AddressType, string]) =>
    text === hintsEnabled ? !wasEnabled : text !== before.get(type)
  const changed = [...said].filter(isNews)
  const ended: (readonly [AddressType, string])[] =
    said.size === 0 && wasEnabled ? [...before.keys()].slice(0, 1).map((type) => [type, hintsDisabled]) : []
  return [...changed, ...ended].map(([addressType, text]): Action => {
    const isEnabled = text === hintsEnabled
    return {
      type: 'event',
      eventType: isEnabled ? 'Normal' : 'Warning',
      reason: isEnabled ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled',
      message: `${text}, addressType: ${addressType}`,
      because: text,
    }
  })
}

/** What becomes of the slices of a service. */
interface Changes {
  readonly made: Group[]
  readonly changed: { readonly slice: EndpointSlice; readonly group: Group }[]
  readonly gone: EndpointSlice[]
}

/** Slices that would go are written over by new ones of their family: one write instead of two. */
function reuse({ made, changed, gone }: Changes): void {
  for (const group of [...made]) {
    const at = gone.findIndex(({ addressType }) => addressType === group.addressType)
    const [slice] = at < 0 ? [] : gone.splice(at, 1)
    if (slice === undefined) continue
    made.splice(made.indexOf(group), 1)
    changed.push({ slice, group })
  }
}

/** A service without pods still has an empty slice for each family, so that its endpoints are known to be none. */
function groupsOf({ service, pods, zoneOf }: SlicesInput): readonly Group[] {
  return familiesOf(service).flatMap((addressType) => {
    const groups = new Map<string, { ports: readonly EndpointSlicePort[]; endpoints: Endpoint[] }>()
    for (const pod of pods) {
      const address = addressInFamily(pod, addressType)
      if (address === undefined) continue
      const ports = portsOf(service, pod)
      const signature = signatureOf(addressType, ports)
      const group = groups.get(signature) ?? { ports, endpoints: [] }
      group.endpoints.push(endpointOf(service, pod, address, zoneOf))
      groups.set(signature, group)
    }
    if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }]
    return [...groups.values()].map((group) => ({ addressType, ...group }))
  })
}

/** The families a service has addresses of; where it does not say so, that of its address, or both if it has none. */
function familiesOf({ spec: { ipFamilies = [], clusterIP } }: Service): readonly AddressType[] {
  if (ipFamilies.length > 0) return ipFamilies as readonly AddressType[]
  if (!hasAddressOfItsOwn({ clusterIP })) return ['IPv4', 'IPv6']
  return clusterIP?.includes(':') === true ? ['IPv6'] : ['IPv4']
}

const hasAddressOfItsOwn = ({ clusterIP = '' }: Pick<Service['spec'], 'clusterIP'>): boolean =>
  clusterIP !== '' && clusterIP !== 'None'

function portsOf(service: Service, pod: Pod): readonly EndpointSlicePort[] {
  return (service.spec.ports ?? []).flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

function endpointOf(service: Service, pod: Pod, address: string, zoneOf: SlicesInput['zoneOf']): Endpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata
  const { nodeName } = pod.spec
  const serving = isReady(pod)
  const terminating = deletionTimestamp !== undefined
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating)
  const hostname = hostnameOf(pod, service)
  const zone = zoneOf(nodeName ?? '') || undefined
  const hints = ready ? hintsOf(service, nodeName, zone) : undefined
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName ? { nodeName } : {}),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  }
}

/** Who should use an endpoint first, by the service's traffic distribution (https://kep.k8s.io/4444, 3015). */
function hintsOf(
  { spec: { trafficDistribution } }: Service,
  nodeName: string | undefined,
  zone: string | undefined,
): EndpointHints | undefined {
  if (trafficDistribution === undefined) return undefined
  const forZones = zone === undefined ? {} : { forZones: [{ name: zone }] }
  const isNodesOwn = trafficDistribution === 'PreferSameNode' && nodeName !== undefined && nodeName !== ''
  const hints = { ...forZones, ...(isNodesOwn ? { forNodes: [{ name: nodeName }] } : {}) }
  return Object.keys(hints).length === 0 ? undefined : hints
}

const identityOf = ({ addresses, targetRef }: Endpoint): string => `${targetRef?.uid ?? ''} ${addresses[0] ?? ''}`

/** A slice as it is to be. */
interface Draft {
  readonly slice: EndpointSlice
  readonly endpoints: Endpoint[]
  /** Whether it changes. */
  changes: boolean
}

function packGroup(
  group: Group,
  slices: readonly EndpointSlice[],
  labels: Readonly<Record<string, string>>,
  changes: Changes,
): void {
  const missing = new Map(group.endpoints.map((each) => [identityOf(each), each]))
  const drafts = slices.map((slice): Draft => draftOf(slice, missing, labels))
  const left = [...missing.values()]
  fillChanging(drafts, left)
  while (left.length > 0) {
    const roomy = left.length < endpointsPerSliceMax ? fullestWithRoom(drafts, left.length) : undefined
    const endpoints = left.splice(0, endpointsPerSliceMax)
    if (roomy === undefined) {
      changes.made.push({ ...group, endpoints })
      continue
    }
    roomy.endpoints.push(...endpoints)
    roomy.changes = true
  }
  const isEmpty = group.endpoints.length === 0
  // One slice stays to say that there is nothing.
  if (isEmpty && drafts.length === 0) changes.made.push({ ...group, endpoints: [] })
  for (const [index, { slice, endpoints, changes: isChanged }] of drafts.entries()) {
    const stays = endpoints.length > 0 || (isEmpty && index === 0)
    if (!stays) changes.gone.push(slice)
    else if (isChanged) changes.changed.push({ slice, group: { ...group, endpoints } })
  }
}

/** A slice with those of its endpoints that are still wanted, which are no longer missing. */
function draftOf(
  slice: EndpointSlice,
  missing: Map<string, Endpoint>,
  labels: Readonly<Record<string, string>>,
): Draft {
  const endpoints: Endpoint[] = []
  let changes = !deepEqual(withoutReserved(slice.metadata.labels), withoutReserved(labels))
  for (const present of slice.endpoints ?? []) {
    const identity = identityOf(present)
    const wanted = missing.get(identity)
    if (wanted !== undefined) endpoints.push(wanted)
    if (wanted === undefined || !deepEqual(wanted, present)) changes = true
    missing.delete(identity)
  }
  return { slice, endpoints, changes }
}

/** Slices that change anyway take what is left, the fullest first, so that few are ever half empty. */
function fillChanging(drafts: readonly Draft[], left: Endpoint[]): void {
  const changing = drafts.filter(({ changes, endpoints }) => changes && endpoints.length > 0)
  for (const draft of changing.sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    if (left.length === 0) return
    draft.endpoints.push(...left.splice(0, Math.max(0, endpointsPerSliceMax - draft.endpoints.length)))
  }
}

/** The slice that `count` more make fullest, and not too full. */
function fullestWithRoom(drafts: readonly Draft[], count: number): Draft | undefined {
  return drafts
    .filter(({ endpoints }) => endpoints.length + count <= endpointsPerSliceMax)
    .reduce<Draft | undefined>(
      (best, draft) => (best === undefined || draft.endpoints.length > best.endpoints.length ? draft : best),
      undefined,
    )
}

/** A slice is labelled as its service is, and says whose it is. */
function labelsOf({ metadata, spec }: Service): Readonly<Record<string, string>> {
  return {
    ...withoutReserved(metadata.labels),
    [serviceNameLabel]: metadata.name ?? '',
    [managedByLabel]: managedBy,
    ...(hasAddressOfItsOwn(spec) ? {} : { [headlessLabel]: '' }),
  }
}

const reservedLabels: ReadonlySet<string> = new Set([serviceNameLabel, managedByLabel, headlessLabel])

/** The labels that slices have of their service. The others are the controller's: that one of them differs is no reason to write. */
function withoutReserved(labels: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !reservedLabels.has(key)))
}

const isOwnedBy = ({ metadata: { ownerReferences = [] } }: EndpointSlice, { metadata: { uid } }: Service): boolean =>
  ownerReferences.some((owner) => owner.uid === uid && owner.kind === 'Service' && owner.apiVersion === 'v1')

function creation(
  service: Service,
  { addressType, ports, endpoints }: Group,
  labels: Readonly<Record<string, string>>,
  triggerTime: string | undefined,
): Action {
  const { namespace, name = '' } = service.metadata
  const object: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels,
      ...(triggerTime === undefined ? {} : { annotations: { [triggerTimeAnnotation]: triggerTime } }),
      ownerReferences: [controllerRef(service)],
    },
    addressType,
    endpoints,
    ports,
  }
  const because = endpoints.length === 0 ? 'nothing is behind the service' : `${endpoints.length} pods are in no slice`
  const failed = failedToUpdate(service, `failed to create EndpointSlice for Service ${namespace}/${name}`)
  return { type: 'create', resource: endpointSlices, object, because, events: { failed } }
}

const failedToUpdate = ({ metadata: { namespace, name } }: Service, what: string) => ({
  reason: 'FailedToUpdateEndpointSlices',
  message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${what}: {error}`,
})

function deletion(service: Service, slice: EndpointSlice, because: string): Action {
  const { namespace, name } = service.metadata
  const what = `failed to delete ${slice.metadata.name} EndpointSlice for Service ${namespace}/${name}`
  return sliceDeletion(slice, because, failedToUpdate(service, what))
}

/** So many pods that are left out are named. */
const leftOutToldMax = 100

/** Tells of pods that would be in a slice, were their nodes there. */
function leftOutEvent(service: Service, pods: readonly Pod[]): Action {
  const { namespace, name } = service.metadata
  const reasons = pods
    .slice(0, leftOutToldMax)
    .map((pod) => `skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeOf(pod)} Not Found`)
  const { reason, message } = failedToUpdate(service, '')
  return {
    type: 'event',
    eventType: 'Warning',
    reason,
    message: message.replace(': : {error}', `: ${reasons.length === 1 ? reasons[0] : `[${reasons.join(', ')}]`}`),
    because: 'nodes of pods are not there',
  }
}

function update(
  service: Service,
  { slice, group: { endpoints, ports } }: Changes['changed'][number],
  labels: Readonly<Record<string, string>>,
  triggerTime: string | undefined,
): Action {
  const annotations = withTriggerTime(slice.metadata.annotations, triggerTime)
  const object: EndpointSlice = { ...slice, metadata: { ...slice.metadata, labels, annotations }, endpoints, ports }
  const because = 'what is behind the service has changed'
  const { namespace, name } = service.metadata
  const failed = failedToUpdate(
    service,
    `failed to update ${slice.metadata.name} EndpointSlice for Service ${namespace}/${name}`,
  )
  return { type: 'update', resource: endpointSlices, object, because, events: { failed } }
}

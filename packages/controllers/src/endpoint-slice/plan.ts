import {
  compareText,
  deepEqual,
  type Endpoint,
  type EndpointSlice,
  type EndpointSlicePort,
  endpointSlices,
  isHeadless,
  type Pod,
  parseIp,
  type Service,
  type ServiceStatus,
} from '@coracle/api'
import { type Action, controllerRef, type Plan } from '@coracle/controller-runtime'
import { hasEnded, isReady } from '../pods/pod-state.ts'
import { hostnameOf, targetPortOf } from '../services/pods-behind.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const managedBy = 'endpointslice-controller.k8s.io'
export const headlessLabel = 'service.kubernetes.io/headless'

/** A slice holds no more endpoints: whoever follows slices gets this much when one of them changes. */
export const endpointsPerSliceMax = 100

export interface SlicesInput {
  readonly service: Service
  /** The pods that the service selects. */
  readonly pods: readonly Pod[]
  /** The slices that the service controls. */
  readonly slices: readonly EndpointSlice[]
  /** The zone of a node; undefined where it is not known. */
  readonly zoneOf: (nodeName: string) => string | undefined
}

type AddressType = 'IPv4' | 'IPv6'

/** Endpoints that can be in one slice: they have the same ports, and addresses of one family. */
interface Group {
  readonly addressType: AddressType
  readonly ports: readonly EndpointSlicePort[]
  readonly endpoints: readonly Endpoint[]
}

/**
 * Makes the slices of a service hold its pods, changing as few slices as can be: what is there stays where it is, what is new
 * goes into slices that change anyway, then into those with room, then into new ones. Pure.
 */
export function planEndpointSlices(input: SlicesInput): Plan<ServiceStatus> {
  const { service, slices } = input
  const groups = groupsOf(input)
  const bySignature = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    const signature = signatureOf(slice.addressType, slice.ports ?? [])
    bySignature.set(signature, [...(bySignature.get(signature) ?? []), slice])
  }
  const actions: Action[] = []
  for (const group of groups) {
    const signature = signatureOf(group.addressType, group.ports)
    actions.push(...planGroup(service, group, bySignature.get(signature) ?? []))
    bySignature.delete(signature)
  }
  const stale = [...bySignature.values()].flat()
  return { actions: [...actions, ...stale.map((slice) => deletion(slice, 'no pod of the service has these ports'))] }
}

function signatureOf(addressType: string, ports: readonly EndpointSlicePort[]): string {
  const texts = ports.map(({ name = '', protocol = 'TCP', port, appProtocol = '' }) =>
    JSON.stringify([name, protocol, port, appProtocol]),
  )
  return [addressType, ...texts.sort(compareText)].join('\n')
}

/** A service without pods still has an empty slice for each family, so that its endpoints are known to be none. */
function groupsOf({ service, pods, zoneOf }: SlicesInput): readonly Group[] {
  const families = (service.spec.ipFamilies ?? ['IPv4']) as readonly AddressType[]
  return families.flatMap((addressType) => {
    const groups = new Map<string, { ports: readonly EndpointSlicePort[]; endpoints: Endpoint[] }>()
    for (const pod of pods) {
      const address = addressOf(pod, addressType)
      if (address === undefined || hasEnded(pod)) continue
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

function addressOf({ status }: Pod, addressType: AddressType): string | undefined {
  const family = addressType === 'IPv4' ? 4 : 6
  return status?.podIPs?.map(({ ip }) => ip ?? '').find((ip) => parseIp(ip)?.family === family)
}

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
  const zone = nodeName ? zoneOf(nodeName) : undefined
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName ? { nodeName } : {}),
    ...(zone === undefined ? {} : { zone }),
  }
}

const identityOf = ({ addresses, targetRef }: Endpoint): string => `${targetRef?.uid ?? ''} ${addresses[0] ?? ''}`

/** A slice as it is to be. */
interface Draft {
  readonly slice: EndpointSlice
  readonly endpoints: Endpoint[]
  /** Whether it changes even without anything new in it. */
  changes: boolean
}

function planGroup(service: Service, group: Group, slices: readonly EndpointSlice[]): readonly Action[] {
  const missing = new Map(group.endpoints.map((each) => [identityOf(each), each]))
  const labels = labelsOf(service)
  const drafts = slices.map((slice): Draft => {
    const endpoints: Endpoint[] = []
    let changes = !deepEqual(slice.metadata.labels ?? {}, labels)
    for (const present of slice.endpoints ?? []) {
      const wanted = missing.get(identityOf(present))
      if (wanted !== undefined) endpoints.push(wanted)
      if (wanted === undefined || !deepEqual(wanted, present)) changes = true
      missing.delete(identityOf(present))
    }
    return { slice, endpoints, changes }
  })
  const left = [...missing.values()]
  // Slices that change anyway come first, then those with least room, so that few are ever half empty.
  const byNeed = drafts.toSorted(
    (a, b) => Number(b.changes) - Number(a.changes) || b.endpoints.length - a.endpoints.length,
  )
  for (const draft of byNeed) {
    if (left.length === 0) break
    const added = left.splice(0, Math.max(0, endpointsPerSliceMax - draft.endpoints.length))
    draft.endpoints.push(...added)
    draft.changes ||= added.length > 0
  }
  const creations: Action[] = []
  while (left.length > 0) {
    creations.push(creation(service, group, labels, left.splice(0, endpointsPerSliceMax)))
  }
  if (group.endpoints.length === 0 && drafts.length === 0) creations.push(creation(service, group, labels, []))
  const kept = drafts.filter(({ endpoints }) => endpoints.length > 0)
  const emptied = drafts.filter(({ endpoints }) => endpoints.length === 0)
  // One slice stays to say that there is nothing.
  const placeholder = group.endpoints.length === 0 ? emptied.shift() : undefined
  return [
    ...creations,
    ...[...kept, ...(placeholder === undefined ? [] : [placeholder])]
      .filter(({ changes }) => changes)
      .map((draft) => update(draft, labels)),
    ...emptied.map(({ slice }) => deletion(slice, 'its endpoints are gone')),
  ]
}

/** A slice is labelled as its service is, and says whose it is. */
function labelsOf({ metadata, spec }: Service): Readonly<Record<string, string>> {
  const own = Object.entries(metadata.labels ?? {}).filter(
    ([key]) => key !== serviceNameLabel && key !== managedByLabel && key !== headlessLabel,
  )
  return {
    ...Object.fromEntries(own),
    [serviceNameLabel]: metadata.name ?? '',
    [managedByLabel]: managedBy,
    ...(isHeadless(spec) ? { [headlessLabel]: '' } : {}),
  }
}

function creation(
  service: Service,
  { addressType, ports }: Group,
  labels: Readonly<Record<string, string>>,
  endpoints: readonly Endpoint[],
): Action {
  const { namespace, name = '' } = service.metadata
  const object: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, generateName: `${name}-`, labels, ownerReferences: [controllerRef(service)] },
    addressType,
    endpoints,
    ports,
  }
  const because = endpoints.length === 0 ? 'nothing is behind the service' : `${endpoints.length} pods are in no slice`
  return { type: 'create', resource: endpointSlices, object, because }
}

function update({ slice, endpoints }: Draft, labels: Readonly<Record<string, string>>): Action {
  const object: EndpointSlice = { ...slice, metadata: { ...slice.metadata, labels }, endpoints }
  return { type: 'update', resource: endpointSlices, object, because: 'what is behind the service has changed' }
}

function deletion({ metadata: { namespace = '', name = '', uid } }: EndpointSlice, because: string): Action {
  const key = { namespace, name }
  return { type: 'delete', resource: endpointSlices, key, because, ...(uid === undefined ? {} : { uid }) }
}

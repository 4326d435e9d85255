import {
  deepEqual,
  type Endpoint,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSlicePort,
  type EndpointSubset,
  type Endpoints,
  endpointSlices,
  formatIp,
  parseIp,
  repackSubsets,
} from '@coracle/api'
import { type Action, controllerRef, type Plan } from '@coracle/controller-runtime'
import { type AddressType, managedByLabel, serviceNameLabel, signatureOf, sliceDeletion } from '../services/slices.ts'
import { triggerTimeAnnotation } from '../services/trigger-times.ts'
import { managedBy } from './mirrored.ts'

/** So many addresses of a subset are mirrored, into one slice, and no more. */
export const mirroredPerSubsetMax = 1000

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** Addresses that are in one slice. */
interface Group {
  readonly addressType: AddressType
  readonly ports: readonly EndpointSlicePort[]
  readonly endpoints: Map<string, Endpoint>
}

/**
 * Makes slices of Endpoints that people or their programs write: one for ports with the same addresses, in whatever subsets they
 * stand, and each family of these. Pure. Upstream's endpointslicemirroring/reconciler.go.
 */
export function planMirroring(endpoints: Endpoints, slices: readonly EndpointSlice[]): Plan<never> {
  const { groups, invalidCount, skippedCount } = groupsOf(endpoints)
  const stale = new Set(slices)
  const takeAlike = takerOf(slices, ({ addressType, ports = [] }) => signatureOf(addressType, ports))
  const actions: Action[] = []
  const missing: Group[] = []
  for (const group of groups) {
    const present = takeAlike(signatureOf(group.addressType, group.ports))
    if (present === undefined) missing.push(group)
    else stale.delete(present)
    if (present !== undefined && !isAsWanted(present, group, endpoints)) actions.push(update(endpoints, present, group))
  }
  const isGoing = endpoints.metadata.deletionTimestamp !== undefined
  const takeOfFamily = takerOf([...stale], ({ addressType }) => addressType)
  for (const group of missing) {
    // One that would go is written over.
    const reused = takeOfFamily(group.addressType)
    if (reused !== undefined) {
      stale.delete(reused)
      actions.push(update(endpoints, reused, group))
    } else if (!isGoing) actions.push(creation(endpoints, group))
  }
  const deletions = [...stale].map((slice) => sliceDeletion(slice, 'no subset has these ports'))
  return { actions: [...actions, ...deletions, ...warnings(invalidCount, skippedCount)] }
}

/** Gives each slice once, by its key: the first of those that are left with it. */
function takerOf(
  slices: readonly EndpointSlice[],
  keyOf: (slice: EndpointSlice) => string,
): (key: string) => EndpointSlice | undefined {
  const left = Map.groupBy(slices.toReversed(), keyOf)
  return (key) => left.get(key)?.pop()
}

function groupsOf({ subsets = [] }: Endpoints) {
  const groups = new Map<string, Group>()
  let invalidCount = 0
  let skippedCount = 0
  for (const subset of repackSubsets(subsets)) {
    const ports = (subset.ports ?? []).map(slicePort)
    let addedCount = 0
    for (const { address, isReady } of addressesOf(subset)) {
      if (addedCount === mirroredPerSubsetMax) {
        skippedCount += 1
        continue
      }
      const ip = parseIp(address.ip)
      if (ip === undefined) {
        invalidCount += 1
        continue
      }
      addedCount += 1
      const addressType = ip.family === 4 ? 'IPv4' : 'IPv6'
      const signature = signatureOf(addressType, ports)
      const group: Group = groups.get(signature) ?? { addressType, ports, endpoints: new Map() }
      groups.set(signature, group)
      const endpoint = endpointOf(address, formatIp(ip), isReady)
      group.endpoints.set(identityOf(endpoint), endpoint)
    }
  }
  return { groups: [...groups.values()], invalidCount, skippedCount }
}

function addressesOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset) {
  return [
    ...addresses.map((address) => ({ address, isReady: true })),
    ...notReadyAddresses.map((address) => ({ address, isReady: false })),
  ]
}

const slicePort = ({ name = '', port, protocol = 'TCP', appProtocol }: EndpointPort): EndpointSlicePort => ({
  name,
  port,
  protocol,
  ...(appProtocol === undefined ? {} : { appProtocol }),
})

function endpointOf({ hostname, nodeName, targetRef }: EndpointAddress, ip: string, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName ? { nodeName } : {}),
  }
}

const identityOf = ({ addresses, targetRef, hostname = '' }: Endpoint): string =>
  JSON.stringify([addresses, targetRef ?? null, hostname])

function isAsWanted({ metadata, endpoints: present = [] }: EndpointSlice, group: Group, endpoints: Endpoints): boolean {
  return (
    present.length === group.endpoints.size &&
    present.every((each) => deepEqual(each, group.endpoints.get(identityOf(each)))) &&
    deepEqual(metadata.labels ?? {}, labelsOf(endpoints)) &&
    deepEqual(metadata.annotations ?? {}, annotationsOf(endpoints)) &&
    metadata.ownerReferences?.some(({ uid }) => uid === endpoints.metadata.uid) === true
  )
}

/** A slice says of itself what its Endpoints say, and whose it is. */
const labelsOf = ({ metadata }: Endpoints): Readonly<Record<string, string>> => ({
  ...metadata.labels,
  [serviceNameLabel]: metadata.name ?? '',
  [managedByLabel]: managedBy,
})

function annotationsOf({ metadata }: Endpoints): Readonly<Record<string, string>> {
  const { [triggerTimeAnnotation]: _time, [lastAppliedAnnotation]: _applied, ...others } = metadata.annotations ?? {}
  return others
}

function contentOf(endpoints: Endpoints, { ports, endpoints: wanted }: Group) {
  return {
    labels: labelsOf(endpoints),
    annotations: annotationsOf(endpoints),
    content: { endpoints: [...wanted.values()], ports },
  }
}

function creation(endpoints: Endpoints, group: Group): Action {
  const { labels, annotations, content } = contentOf(endpoints, group)
  const { namespace, name = '' } = endpoints.metadata
  const object: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels,
      annotations,
      ownerReferences: [controllerRef(endpoints)],
    },
    addressType: group.addressType,
    ...content,
  }
  return { type: 'create', resource: endpointSlices, object, because: 'a subset of the Endpoints has no slice' }
}

function update(endpoints: Endpoints, slice: EndpointSlice, group: Group): Action {
  const { labels, annotations, content } = contentOf(endpoints, group)
  const metadata = { ...slice.metadata, labels, annotations, ownerReferences: [controllerRef(endpoints)] }
  const object: EndpointSlice = { ...slice, metadata, ...content }
  return { type: 'update', resource: endpointSlices, object, because: 'the Endpoints have changed' }
}

function warnings(invalidCount: number, skippedCount: number): readonly Action[] {
  const warning = (reason: string, message: string): Action => ({
    type: 'event',
    eventType: 'Warning',
    reason,
    message,
    because: 'not all addresses are mirrored',
  })
  return [
    ...(invalidCount === 0
      ? []
      : [warning('InvalidIPAddress', `Skipped ${invalidCount} invalid IP addresses when mirroring to EndpointSlices`)]),
    ...(skippedCount === 0
      ? []
      : [
          warning(
            'TooManyAddressesToMirror',
            `A max of ${mirroredPerSubsetMax} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalidCount + skippedCount} addresses were skipped`,
          ),
        ]),
  ]
}

/** Which pods are behind a service, and at which of their ports: what both forms of endpoints begin with. */
import {
  type ContainerPort,
  deepEqual,
  finderOf,
  type LabelSelectorMatcher,
  mayBeEndpoint,
  nothing,
  type Pod,
  type PodSpec,
  type Service,
  type ServicePort,
  selectorFromMap,
  services,
} from '@coracle/api'
import { keyOf } from '@coracle/client'
import { type Change, filedBySelector, type Lookup, selecting, selectorIndexName } from '@coracle/controller-runtime'
import { selectedPods } from '../pods/by-labels.ts'
import { isReady } from '../pods/pod-state.ts'

const matchers = new WeakMap<Service, LabelSelectorMatcher>()

/** The pods that a service selects. One without a selector selects none, nor does one that is a mere name. */
export function selectorOf(service: Service): LabelSelectorMatcher {
  const known = matchers.get(service)
  if (known !== undefined) return known
  const { selector = {}, type } = service.spec
  const selects = Object.keys(selector).length > 0 && type !== 'ExternalName'
  const made = selects ? selectorFromMap(selector) : nothing
  matchers.set(service, made)
  return made
}

/** The indexes that the cache of services must have. */
export const serviceIndexes = { [selectorIndexName]: filedBySelector(selectorOf) }

/** Whether the endpoints of a service are for its pods to make: somebody else says what is behind one without a selector. */
export const hasPods = (service: Service): boolean => !selectorOf(service).nothing

/**
 * The pods behind a service, ready or not. One whose address the API refuses there, such as that of a process in the network of its host,
 * is left out: what is refused with it would be all the others.
 */
export function podsBehind(service: Service, lookup: Lookup): readonly Pod[] {
  const selected = selectedPods(lookup, service.metadata.namespace, selectorOf(service))
  return selected.some(isNowhere) ? selected.filter((pod) => !isNowhere(pod)) : selected
}

/** Addresses that may be refused begin like this; of others nothing more need be asked. */
const special = /^(?:127\.|169\.254\.|224\.|::|f)/i

const isNowhere = ({ status }: Pod): boolean =>
  [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)].some(
    (ip) => ip !== undefined && special.test(ip) && !mayBeEndpoint(ip),
  )

/** The keys of the services that select a pod. */
export function servicesOf(pod: Pod, lookup: Lookup): readonly string[] {
  const { namespace, labels } = pod.metadata
  return selecting(lookup.informer(services), namespace, labels)
    .filter((service) => selectorOf(service).matches(labels))
    .map(keyOf)
}

/** Whether a change of a pod can matter to those who send it traffic. As long as it has no address nobody does. */
export function changesEndpoints(change: Change<Pod>): boolean {
  if (change.type !== 'update') return hasAddress(change.object)
  const { old, object } = change
  if (!hasAddress(old) && !hasAddress(object)) return false
  return (
    isReady(old) !== isReady(object) ||
    old.status?.phase !== object.status?.phase ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    old.spec.nodeName !== object.spec.nodeName ||
    old.status?.podIP !== object.status?.podIP ||
    !deepEqual(old.status?.podIPs, object.status?.podIPs) ||
    !deepEqual(old.metadata.labels, object.metadata.labels)
  )
}

/** The first address of a pod that is of this family, `IPv4` or `IPv6`; its first of all where no family is said. */
export function addressInFamily({ status }: Pod, family: string | undefined): string | undefined {
  const first = status?.podIP || undefined
  if (family === undefined) return first
  const isWanted = (ip: string | undefined): boolean => Boolean(ip) && ip?.includes(':') === (family === 'IPv6')
  if (isWanted(first)) return first
  return status?.podIPs?.find(({ ip }) => isWanted(ip))?.ip
}

/** Whether a pod has an address yet. */
export const hasAddress = ({ status }: Pod): boolean => Boolean(status?.podIP) || (status?.podIPs ?? []).length > 0

/** The host name of a pod below its service: where it has one and names the service as its subdomain. */
export function hostnameOf({ spec, metadata }: Pod, service: Service): string | undefined {
  const { hostname, subdomain } = spec
  const isOfService = subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
  return hostname && isOfService ? hostname : undefined
}

/** The number of a pod's port that a port of a service leads to; undefined where the pod has no port of that name. */
export function targetPortOf(pod: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port
  let find = namedPorts.get(pod.spec)
  if (find === undefined) {
    find = finderOf(portsOf(pod.spec), ({ name, protocol: own = 'TCP' }) => `${own} ${name}`)
    namedPorts.set(pod.spec, find)
  }
  return find(`${protocol} ${targetPort}`)?.containerPort
}

/** How ports of pods are found by their names: a service asks for each of its own. */
const namedPorts = new WeakMap<PodSpec, (key: string) => ContainerPort | undefined>()

function portsOf({ containers, initContainers = [] }: PodSpec): readonly ContainerPort[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...containers, ...sidecars].flatMap(({ ports = [] }) => ports)
}

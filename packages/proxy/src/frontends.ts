import { isIPv6 } from 'node:net'
import {
  type Endpoint,
  type EndpointHints,
  type EndpointSlice,
  type IpRange,
  isLoopback,
  noClusterIp,
  parseCidr,
  type Service,
  type ServicePort,
} from '@coracle/api'

/** What this proxy carries. SCTP needs the kernel. */
export type Protocol = 'TCP' | 'UDP'

/** Something behind a service that takes connections. */
export interface Backend {
  readonly address: string
  readonly port: number
  /** The node through whose agent the way leads, where that is on another machine; undefined: the address is dialled from here. */
  readonly throughNode?: string
}

/** An address and port of a service, and what is behind it. */
export interface Frontend {
  readonly protocol: Protocol
  readonly address: string
  readonly port: number
  /** Each at most once. Empty: connections are refused. */
  readonly backends: readonly Backend[]
  /** For how long after its last connection a client keeps its backend, in milliseconds; undefined: each goes anywhere. */
  readonly affinityMs: number | undefined
  /** The service's port that it is of; absent where it is of none. */
  readonly portName?: string
  /** Whether it lies in the nature of the address that this host need not have it. */
  readonly isElsewhere: boolean
  /** Where clients may come from; absent: from anywhere. */
  readonly sources?: readonly IpRange[]
  /** Nothing is carried: load balancers ask here by HTTP how many endpoints this service has on own nodes, which are its backends. */
  readonly healthOf?: ServiceName
  /** Nothing is carried: this listens there, and answers itself. */
  readonly answer?: (frontend: ListenedTo) => Promise<Listening>
}

/** What there is to know of a frontend to listen for it. */
export type ListenedTo = Pick<Frontend, 'protocol' | 'address' | 'port' | 'healthOf' | 'answer'>

/** A frontend that is listened to. */
export interface Listening {
  /** Takes no new connections from now on, and gives the address back. Those there are go on. */
  close(): void
}

export interface ServiceName {
  readonly namespace: string
  readonly name: string
}

/** Where a proxy stands. */
export interface Surroundings {
  /** Whether it works for the node of this name. */
  isOwnNode(name: string): boolean
  /** The addresses at which services are reached by their ports on the nodes. */
  readonly nodeAddresses: readonly string[]
  /** The zones of the nodes that it works for, as far as they are known. Asked only where a service prefers zones. None unless set. */
  ownZones?(): ReadonlySet<string>
  /** Whether pods of other nodes are reached through the agents of these, by TCP. False unless set. */
  readonly leadsThroughNodes?: boolean
}

/** The label of services and slices that another proxy takes care of. */
const otherProxyLabel = 'service.kubernetes.io/service-proxy-name'
/** The label of services, and slices of services, that have no address. */
const headlessLabel = 'service.kubernetes.io/headless'

/** Upstream's `sessionAffinityConfig.clientIP.timeoutSeconds` where it is not set. */
const affinitySecondsDefault = 10_800

/**
 * The addresses and ports of a service, each with what is behind it according to the service's slices, by the rules of kube-proxy
 * (pkg/proxy: `shouldSkipService`, `CategorizeEndpoints`): ready endpoints, of those the nearest where the service prefers these, or where
 * none is ready those that still serve on their way out. Nodes of one host count as one. Pure.
 */
export function frontendsOf(
  service: Service,
  slices: readonly EndpointSlice[],
  surroundings: Surroundings,
): readonly Frontend[] {
  const { spec } = service
  if (!isForwarded(service)) return []
  const own = slices.filter(
    ({ metadata: { labels } }) => !hasLabel(labels, otherProxyLabel) && !hasLabel(labels, headlessLabel),
  )
  const clusterIps = spec.clusterIPs ?? [spec.clusterIP ?? '']
  const affinityMs = affinityOf(service)
  const forwarded = (spec.ports ?? []).flatMap((port) => {
    const protocol = port.protocol ?? 'TCP'
    if (protocol === 'SCTP') return []
    const frontend = (
      address: string,
      number: number,
      policy: 'Cluster' | 'Local' | undefined,
      isElsewhere = false,
    ) => ({
      protocol,
      address,
      port: number,
      backends: backendsOf(port, own, address, policy === 'Local', surroundings),
      affinityMs,
      portName: port.name ?? '',
      isElsewhere,
    })
    const { externalTrafficPolicy, internalTrafficPolicy } = spec
    const nodePort = port.nodePort ?? 0
    // Who listens at all addresses listens at these already.
    const isApart = (address: string): boolean =>
      nodePort !== port.port || !surroundings.nodeAddresses.some((each) => includesAddress(each, address))
    return [
      ...clusterIps.map((address) => frontend(address, port.port, internalTrafficPolicy)),
      // Before those of a load balancer, which lets only some come where they are the same.
      ...(nodePort === 0 ? [] : surroundings.nodeAddresses).map((address) =>
        frontend(address, nodePort, externalTrafficPolicy),
      ),
      // Before those that whoever made the service names, which are open to all where they are the same.
      ...balancerAddressesOf(service)
        .filter(isApart)
        .map((address) => ({
          ...frontend(address, port.port, externalTrafficPolicy, true),
          ...sourcesOf(service, address),
        })),
      ...(spec.externalIPs ?? [])
        .filter(isApart)
        .map((address) => frontend(address, port.port, externalTrafficPolicy, true)),
    ]
  })
  return [...forwarded, ...healthChecksOf(service, own, surroundings)]
}

/** What a frontend is told apart by: `TCP 10.96.0.7:80`. */
export function idOf({ protocol, address, port }: Pick<Frontend, 'protocol' | 'address' | 'port'>): string {
  return `${protocol} ${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** Whether listening at `listened`, where it stands for all addresses, is listening at this one, too. The unspecified address of IPv6 takes IPv4 as well. */
const includesAddress = (listened: string, address: string): boolean =>
  listened === '::' || (listened === '0.0.0.0' && !isIPv6(address))

/** The addresses of a load balancer that sends on what comes to them as it is, without an address of its own in place of theirs. */
function balancerAddressesOf({ spec: { type }, status }: Service): readonly string[] {
  if (type !== 'LoadBalancer') return []
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '', ipMode }) =>
    ip === '' || ipMode === 'Proxy' ? [] : [ip],
  )
}

/** Ranges of one family say nothing of clients of the other. */
function sourcesOf({ spec }: Service, address: string): Pick<Frontend, 'sources'> {
  const family = isIPv6(address) ? 6 : 4
  const ranges = (spec.loadBalancerSourceRanges ?? [])
    .map((range) => parseCidr(range.trim()))
    .filter((range) => range?.family === family)
  return ranges.length === 0 ? {} : { sources: ranges as readonly IpRange[] }
}

/** Where load balancers ask, who send only to nodes that have endpoints (upstream's pkg/proxy/healthcheck). */
function healthChecksOf(
  { metadata: { namespace = '', name = '' }, spec }: Service,
  slices: readonly EndpointSlice[],
  { isOwnNode, nodeAddresses }: Surroundings,
): readonly Frontend[] {
  const { type, externalTrafficPolicy, healthCheckNodePort: port = 0 } = spec
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port === 0) return []
  const addresses = new Set<string>()
  for (const { endpoints = [] } of slices) {
    for (const {
      addresses: [address],
      conditions,
      nodeName,
    } of endpoints) {
      const isOwn = nodeName !== undefined && isOwnNode(nodeName)
      if (isOwn && address !== undefined && conditions?.ready !== false) addresses.add(address)
    }
  }
  const backends = [...addresses].map((address) => ({ address, port: 0 }))
  const common = { protocol: 'TCP', port, backends, affinityMs: undefined, isElsewhere: false } as const
  return nodeAddresses.map((address) => ({ ...common, address, healthOf: { namespace, name } }))
}

function isForwarded({ metadata, spec }: Service): boolean {
  const { clusterIP = '', type } = spec
  if (clusterIP === '' || clusterIP === noClusterIp || type === 'ExternalName') return false
  return !hasLabel(metadata.labels, otherProxyLabel) && !hasLabel(metadata.labels, headlessLabel)
}

const hasLabel = (labels: Readonly<Record<string, string>> | undefined, name: string): boolean =>
  labels !== undefined && Object.hasOwn(labels, name)

function affinityOf({ spec: { sessionAffinity, sessionAffinityConfig } }: Service): number | undefined {
  if (sessionAffinity !== 'ClientIP') return undefined
  return (sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault) * 1000
}

function backendsOf(
  port: ServicePort,
  slices: readonly EndpointSlice[],
  frontendAddress: string,
  onlyOwn: boolean,
  surroundings: Surroundings,
): readonly Backend[] {
  const { isOwnNode, leadsThroughNodes = false } = surroundings
  const ready = new Map<string, Candidate>()
  const leaving = new Map<string, Candidate>()
  for (const { addressType, endpoints = [], ports = [] } of slices) {
    if (addressType !== familyName(frontendAddress)) continue
    for (const { name = '', protocol = 'TCP', port: number } of ports) {
      if (number === undefined || name !== (port.name ?? '') || protocol !== (port.protocol ?? 'TCP')) continue
      if (!isPort(number)) continue
      for (const endpoint of endpoints) {
        const [address] = endpoint.addresses
        if (address === undefined) continue
        const isThrough = leadsThroughNodes && protocol === 'TCP'
        const way = wayTo(endpoint, address, isThrough, isOwnNode)
        if (way === undefined || (onlyOwn && way !== 'own')) continue
        const backend = { address, port: number, ...(typeof way === 'object' ? way : {}) }
        const { ready: isReady = true, serving: isServing = true, terminating = false } = endpoint.conditions ?? {}
        // Pods of two machines may have the same address: each has loopback, and networks of pods, of its own.
        const id = `${address} ${number} ${backend.throughNode ?? ''}`
        if (isReady) ready.set(id, { backend, hints: endpoint.hints })
        else if (isServing && terminating) leaving.set(id, { backend, hints: undefined })
      }
    }
  }
  const found = [...(ready.size > 0 ? ready : leaving).values()]
  return (onlyOwn ? found : nearest(found, surroundings)).map(({ backend }) => backend)
}

/** What may be behind a frontend, and for whom it is meant. */
interface Candidate {
  readonly backend: Backend
  readonly hints: EndpointHints | undefined
}

/**
 * Those that are meant for nodes here, where each says for which it is, and one for these; or else the same of zones; or else all
 * (pkg/proxy/topology.go).
 */
function nearest(found: readonly Candidate[], { isOwnNode, ownZones }: Surroundings): readonly Candidate[] {
  const namesOf = (of: 'forNodes' | 'forZones') => found.map(({ hints }) => hints?.[of]?.map(({ name }) => name) ?? [])
  const isSaidOfAll = (names: readonly (readonly string[])[]): boolean => names.every((each) => each.length > 0)
  const meantFor = (names: readonly (readonly string[])[], isHere: (name: string) => boolean) =>
    found.filter((_, index) => names[index]?.some(isHere) === true)
  const forNodes = namesOf('forNodes')
  const onNodes = isSaidOfAll(forNodes) ? meantFor(forNodes, isOwnNode) : []
  if (onNodes.length > 0 || ownZones === undefined) return onNodes.length > 0 ? onNodes : found
  const forZones = namesOf('forZones')
  if (found.length === 0 || !isSaidOfAll(forZones)) return found
  const zones = ownZones()
  const inZones = meantFor(forZones, (zone) => zones.has(zone))
  return inZones.length > 0 ? inZones : found
}

/** The API takes any number in a slice, as upstream does. Node throws where it is told to go to one that is no port. */
const isPort = (number: number): boolean => number > 0 && number <= 0xffff

const familyName = (address: string): EndpointSlice['addressType'] => (isIPv6(address) ? 'IPv6' : 'IPv4')

/** How an endpoint is reached: as one of an own node, directly, through its node, or not at all. */
function wayTo(
  { nodeName }: Endpoint,
  address: string,
  isThrough: boolean,
  isOwnNode: Surroundings['isOwnNode'],
): 'own' | 'direct' | { readonly throughNode: string } | undefined {
  if (nodeName === undefined) return 'direct'
  if (isOwnNode(nodeName)) return 'own'
  if (isThrough) return { throughNode: nodeName }
  return isLoopback(address) ? undefined : 'direct'
}

import { compareText, type EndpointSlice, hostPortsOf, type Node, type Pod, type Service } from '@coracle/api'
import { keyOf } from '@coracle/client'
import { isBalanced } from './balanced.ts'
import { type Claim, claimsOf, portText } from './claims.ts'
import { byAddress, type Family, takesBalancedLoad } from './node-addresses.ts'

/** What addresses are given by. */
export interface Surroundings {
  readonly nodes: readonly Node[]
  /** The services that take a port, whatever for: `80/TCP`. */
  servicesAt(port: string): readonly Service[]
  /** The pods that take a port of their node. */
  podsAt(port: string): readonly Pod[]
  /** What is behind a service. */
  slicesOf(service: Service): readonly EndpointSlice[]
  /** The ports of API servers. */
  readonly apiPorts: ReadonlySet<string>
}

/** The addresses of a service, and why it has no others. */
export interface Assignment {
  /** Sorted. */
  readonly addresses: readonly string[]
  /** Why it has none, or not all. Absent: it has all. */
  readonly problem?: Problem
}

export interface Problem {
  readonly reason: 'NoNodes' | 'NoLocalEndpoints' | 'NotAnAddressOfNodes' | 'PortTaken'
  readonly message: string
}

/** A service has no more addresses, however many nodes there are: whoever follows services gets all of them with each change of a node. */
export const addressesMax = 100

/** Of how many ports that are taken it is said by whom. */
const toldMax = 4

/**
 * Gives a service the addresses of nodes at which all of its ports are free, `addressesMax` at most: those ports that no pod of the node, no port of nodes,
 * no server of the cluster, and no older service has. Pure.
 */
export function assign(service: Service, surroundings: Surroundings): Assignment {
  const assigner = new Assigner(surroundings)
  const all = assigner.addressesOf(service)
  if (all.size === 0) return none('NoNodes', 'There are no available nodes for LoadBalancer')
  const { loadBalancerIP: wanted = '', externalTrafficPolicy } = service.spec
  const asked = wanted === '' ? [...all.keys()] : [...all.keys()].filter((address) => address === wanted)
  if (asked.length === 0)
    return none('NotAnAddressOfNodes', `spec.loadBalancerIP ${wanted} is no address of a node that is available`)
  const reached = asked
    .filter((address) => assigner.leadsTo(service, all.get(address) ?? []))
    .sort(compareText)
    .slice(0, addressesMax)
  if (reached.length === 0) {
    const message = `externalTrafficPolicy is ${externalTrafficPolicy}, and no available node has a ready endpoint`
    return none('NoLocalEndpoints', message)
  }
  const addresses = reached.filter((address) => assigner.obstacles(service, address, 1).length === 0)
  if (addresses.length === reached.length) return { addresses }
  const obstacles = new Set(reached.flatMap((address) => assigner.obstacles(service, address, toldMax)))
  const told = [...obstacles].slice(0, toldMax).join(', ')
  return { addresses, problem: { reason: 'PortTaken', message: told } }
}

const none = (reason: Problem['reason'], message: string): Assignment => ({
  addresses: [],
  problem: { reason, message },
})

interface Rivals {
  readonly fixed: readonly (readonly [Service, Claim])[]
  /** The oldest first. */
  readonly older: readonly Service[]
}

class Assigner {
  readonly #surroundings: Surroundings
  readonly #available: readonly Node[]
  /** By key of the service. */
  readonly #endpointNodes = new Map<string, ReadonlySet<string | undefined>>()
  readonly #byFamilies = new Map<string, ReadonlyMap<string, readonly Node[]>>()
  /** By key of the service and port. */
  readonly #rivalsAt = new Map<string, Rivals>()
  /** By key of the service and address: whether it has that. */
  readonly #has = new Map<string, boolean>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#available = surroundings.nodes.filter(takesBalancedLoad)
  }

  /** The addresses that a service may get, with their nodes. */
  addressesOf({ spec: { ipFamilies = ['IPv4'] } }: Service): ReadonlyMap<string, readonly Node[]> {
    const key = ipFamilies.join()
    const known = this.#byFamilies.get(key) ?? byAddress(this.#available, ipFamilies as readonly Family[])
    this.#byFamilies.set(key, known)
    return known
  }

  /** Whether what comes to nodes goes to an endpoint, as far as the service lets nodes lead to others. */
  leadsTo(service: Service, nodes: readonly Node[]): boolean {
    if (service.spec.externalTrafficPolicy !== 'Local') return true
    const ready = this.#nodesOfEndpoints(service)
    return nodes.some(({ metadata }) => ready.has(metadata.name))
  }

  /** The nodes of ready endpoints. */
  #nodesOfEndpoints(service: Service): ReadonlySet<string | undefined> {
    const key = keyOf(service)
    const known = this.#endpointNodes.get(key)
    if (known !== undefined) return known
    const endpoints = this.#surroundings.slicesOf(service).flatMap((slice) => slice.endpoints ?? [])
    const ready = endpoints.filter(({ nodeName, conditions }) => nodeName !== undefined && conditions?.ready !== false)
    const names = new Set(ready.map(({ nodeName }) => nodeName))
    this.#endpointNodes.set(key, names)
    return names
  }

  /** What has ports of a service at an address, so many at most. */
  obstacles(service: Service, address: string, max: number): readonly string[] {
    const found: string[] = []
    const nodes = this.addressesOf(service).get(address) ?? []
    for (const { port, protocol = 'TCP' } of service.spec.ports ?? []) {
      const text = portText(port, protocol)
      const holder = this.#nodeHolder(text, address, nodes) ?? this.#serviceHolder(service, text, address)
      if (holder === undefined) continue
      found.push(`port ${text} is taken by ${holder}`)
      if (found.length >= max) break
    }
    return found
  }

  /** What has a port of nodes, but for services. */
  #nodeHolder(port: string, address: string, nodes: readonly Node[]): string | undefined {
    if (this.#surroundings.apiPorts.has(port)) return 'the API server'
    const agent = nodes.find(({ status }) => {
      const { Port = 0 } = status?.daemonEndpoints?.kubeletEndpoint ?? {}
      return portText(Port, 'TCP') === port
    })
    if (agent !== undefined) return `the agent of node ${agent.metadata.name}`
    const names = new Set(nodes.map(({ metadata }) => metadata.name))
    const pod = this.#surroundings
      .podsAt(port)
      .find((each) => names.has(each.spec.nodeName) && takesPort(each, port, address))
    return pod === undefined ? undefined : `pod ${keyOf(pod)}`
  }

  #serviceHolder(service: Service, port: string, address: string): string | undefined {
    const { fixed, older } = this.#rivals(service, port)
    for (const [other, claim] of fixed) {
      if (isAt(claim, address)) return `service ${keyOf(other)}${claim.at === 'nodes' ? ', as a port of nodes' : ''}`
    }
    const holder = older.find((other) => this.#hasAddress(other, address))
    return holder === undefined ? undefined : `service ${keyOf(holder)}`
  }

  /** Who else would have a port: those that have it wherever they say, and older services that may have it where this one would. */
  #rivals(service: Service, port: string): Rivals {
    const key = `${keyOf(service)} ${port}`
    const known = this.#rivalsAt.get(key)
    if (known !== undefined) return known
    const fixed: (readonly [Service, Claim])[] = []
    const older: Service[] = []
    for (const other of this.#surroundings.servicesAt(port)) {
      const isOwn = other.metadata.uid === service.metadata.uid
      const claims = claimsOf(other).filter((claim) => claim.port === port)
      for (const claim of claims) {
        if (claim.at === 'given') continue
        // Its own addresses may be those of nodes, and its ports the same on them.
        if (!isOwn || (claim.at === 'nodes' && !isSamePort(service, port))) fixed.push([other, claim])
      }
      const isGiven = claims.some(({ at }) => at === 'given')
      if (isGiven && !isOwn && isBalanced(other) && byAge(other, service) < 0) older.push(other)
    }
    const rivals = { fixed, older: older.sort(byAge) }
    this.#rivalsAt.set(key, rivals)
    return rivals
  }

  #hasAddress(service: Service, address: string): boolean {
    const id = `${keyOf(service)} ${address}`
    const known = this.#has.get(id)
    if (known !== undefined) return known
    const { loadBalancerIP = '' } = service.spec
    const nodes = this.addressesOf(service).get(address)
    const has =
      nodes !== undefined &&
      (loadBalancerIP === '' || loadBalancerIP === address) &&
      this.leadsTo(service, nodes) &&
      // Of those that are older still: this comes to an end.
      this.obstacles(service, address, 1).length === 0
    this.#has.set(id, has)
    return has
  }
}

const isAt = ({ at }: Claim, address: string): boolean => at === 'nodes' || (at !== 'given' && at.includes(address))

/** Whether a port of the service is that same port on the nodes. */
const isSamePort = ({ spec: { ports = [] } }: Service, text: string): boolean =>
  ports.some(({ port, nodePort, protocol = 'TCP' }) => port === nodePort && portText(port, protocol) === text)

function takesPort({ spec }: Pod, text: string, address: string): boolean {
  const isAny = (ip: string): boolean => ip === '0.0.0.0' || ip === '::'
  return hostPortsOf(spec).some(
    ({ ip, port, protocol }) => portText(port, protocol) === text && (isAny(ip) || ip === address),
  )
}

const byAge = (one: Service, other: Service): number =>
  compareText(one.metadata.creationTimestamp ?? '', other.metadata.creationTimestamp ?? '') ||
  compareText(keyOf(one), keyOf(other))

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

/** Of how many ports that are taken it is said by whom. */
const toldMax = 4

/**
 * Gives a service the addresses of nodes at which all of its ports are free: those that no pod of the node, no port of nodes, no server of the
 * cluster, and no older service has. Pure.
 */
export function assign(service: Service, surroundings: Surroundings): Assignment {
  const assigner = new Assigner(surroundings)
  const all = assigner.addressesOf(service)
  if (all.size === 0) return none('NoNodes', 'There are no available nodes for LoadBalancer')
  const { loadBalancerIP: wanted = '', externalTrafficPolicy } = service.spec
  const asked = wanted === '' ? [...all.keys()] : [...all.keys()].filter((address) => address === wanted)
  if (asked.length === 0)
    return none('NotAnAddressOfNodes', `spec.loadBalancerIP ${wanted} is no address of a node that is available`)
  const reached = asked.filter((address) => assigner.leadsTo(service, all.get(address) ?? []))
  if (reached.length === 0) {
    const message = `externalTrafficPolicy is ${externalTrafficPolicy}, and no available node has a ready endpoint`
    return none('NoLocalEndpoints', message)
  }
  const addresses = reached.filter((address) => assigner.obstacles(service, address, 1).length === 0).sort(compareText)
  if (addresses.length === reached.length) return { addresses }
  const obstacles = new Set(reached.flatMap((address) => assigner.obstacles(service, address, toldMax)))
  const told = [...obstacles].slice(0, toldMax).join(', ')
  return { addresses, problem: { reason: 'PortTaken', message: told } }
}

const none = (reason: Problem['reason'], message: string): Assignment => ({
  addresses: [],
  problem: { reason, message },
})

class Assigner {
  readonly #surroundings: Surroundings
  readonly #available: readonly Node[]
  /** By key of the service and address: whether it has that. */
  readonly #has = new Map<string, boolean>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#available = surroundings.nodes.filter(takesBalancedLoad)
  }

  /** The addresses that a service may get, with their nodes. */
  addressesOf({ spec: { ipFamilies = ['IPv4'] } }: Service): ReadonlyMap<string, readonly Node[]> {
    return byAddress(this.#available, ipFamilies as readonly Family[])
  }

  /** Whether what comes to nodes goes to an endpoint, as far as the service lets nodes lead to others. */
  leadsTo(service: Service, nodes: readonly Node[]): boolean {
    if (service.spec.externalTrafficPolicy !== 'Local') return true
    const names = new Set(nodes.map(({ metadata }) => metadata.name))
    return this.#surroundings
      .slicesOf(service)
      .some(({ endpoints = [] }) =>
        endpoints.some(({ nodeName, conditions }) => names.has(nodeName) && conditions?.ready !== false),
      )
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
    const others = this.#surroundings.servicesAt(port)
    const isOwn = (other: Service): boolean => other.metadata.uid === service.metadata.uid
    for (const other of others) {
      for (const claim of claimsOf(other)) {
        if (claim.port !== port || claim.at === 'given') continue
        // Its own addresses may be those of nodes, and its ports the same on them.
        if (isOwn(other) && (claim.at !== 'nodes' || isSamePort(service, port))) continue
        if (isAt(claim, address)) return `service ${keyOf(other)}${claim.at === 'nodes' ? ', as a port of nodes' : ''}`
      }
    }
    const older = others.filter((other) => !isOwn(other) && isBalanced(other) && isOlder(other, service))
    const holder = older
      .sort(byAge)
      .find(
        (other) =>
          claimsOf(other).some((claim) => claim.port === port && claim.at === 'given') &&
          this.#hasAddress(other, address),
      )
    return holder === undefined ? undefined : `service ${keyOf(holder)}`
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

const isOlder = (one: Service, other: Service): boolean => byAge(one, other) < 0

const byAge = (one: Service, other: Service): number =>
  compareText(one.metadata.creationTimestamp ?? '', other.metadata.creationTimestamp ?? '') ||
  compareText(keyOf(one), keyOf(other))

import {
  ApiError,
  FieldPath,
  invalid,
  invalidField,
  needsHealthCheckNodePort,
  needsNodePort,
  type Service,
  type ServicePort,
  type ServiceSpec,
  services,
  tooManyField,
} from '@coracle/api'
import type { Random } from '@coracle/environment'
import { chooseFree, keptBackOf } from './choose.ts'
import type { SetAside } from './set-aside.ts'

/** The ports of nodes that services may have. */
export const nodePortsMin = 30_000
export const nodePortsMax = 32_767

/** A service has no more of them: each is a key of the transaction that writes it, and etcd takes 128. */
export const nodePortsPerServiceMax = 100

const keptPortsMax = 128

const specPath = FieldPath.of('spec')

/** The ports of the nodes that a service has. */
export const nodePortsOf = ({ ports = [], healthCheckNodePort = 0 }: ServiceSpec): readonly number[] =>
  [...new Set(ports.map(({ nodePort = 0 }) => nodePort)), healthCheckNodePort].filter((port) => port !== 0)

/** Gives services their ports on the nodes. */
export class NodePorts {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** The service with its ports on the nodes. Throws an ApiError for what it asks for and cannot have. */
  complete(service: Service, old: ServiceSpec | undefined, setAside: SetAside<number>): Service {
    const { spec } = service
    const own = new Set(old === undefined ? [] : nodePortsOf(old))
    const take = (port: number, path: FieldPath): void => {
      if (own.has(port)) return
      const refuse = (why: string): never => {
        throw invalid(services, service.metadata.name ?? '', [invalidField(path, port, why)])
      }
      if (port < nodePortsMin || port > nodePortsMax) {
        const range = `${nodePortsMin}-${nodePortsMax}`
        refuse(`provided port is not in the valid range. The range of valid ports is ${range}`)
      }
      if (!setAside.take(port)) refuse('provided port is already allocated')
    }
    const changes: Partial<ServiceSpec> = {}
    if (needsNodePort(spec) && spec.ports !== undefined) {
      if (spec.ports.length > nodePortsPerServiceMax) {
        const tooMany = tooManyField(specPath.field('ports'), spec.ports.length, nodePortsPerServiceMax)
        throw invalid(services, service.metadata.name ?? '', [tooMany])
      }
      const given = new Map<number, string>()
      for (const [index, { nodePort = 0, protocol = 'TCP' }] of spec.ports.entries()) {
        // One port of the nodes may be there for several protocols.
        const isShared = given.has(nodePort) && given.get(nodePort) !== protocol
        if (nodePort === 0 || isShared) continue
        given.set(nodePort, protocol)
        take(nodePort, specPath.field('ports').index(index).field('nodePort'))
      }
      Object.assign(changes, { ports: this.#completePorts(spec.ports, setAside) })
    }
    if (needsHealthCheckNodePort(spec)) {
      const { healthCheckNodePort = 0 } = spec
      if (healthCheckNodePort !== 0) take(healthCheckNodePort, specPath.field('healthCheckNodePort'))
      else Object.assign(changes, { healthCheckNodePort: this.#choosePort(setAside) })
    }
    return Object.keys(changes).length === 0 ? service : { ...service, spec: { ...spec, ...changes } }
  }

  /** Ports of one number but different protocols get one port of the nodes. */
  #completePorts(ports: readonly ServicePort[], setAside: SetAside<number>): readonly ServicePort[] {
    const byPort = new Map<number, { readonly nodePort: number; readonly protocols: Set<string> }>()
    for (const { port, nodePort = 0, protocol = 'TCP' } of ports) {
      if (nodePort !== 0 && !byPort.has(port)) byPort.set(port, { nodePort, protocols: new Set([protocol]) })
    }
    return ports.map((each) => {
      if (each.nodePort) return each
      const { port, protocol = 'TCP' } = each
      const shared = byPort.get(port)
      if (shared !== undefined && !shared.protocols.has(protocol)) {
        shared.protocols.add(protocol)
        return { ...each, nodePort: shared.nodePort }
      }
      const nodePort = this.#choosePort(setAside)
      if (shared === undefined) byPort.set(port, { nodePort, protocols: new Set([protocol]) })
      return { ...each, nodePort }
    })
  }

  #choosePort(setAside: SetAside<number>): number {
    const size = nodePortsMax - nodePortsMin + 1
    const isTaken = (value: number): boolean => setAside.isTaken(nodePortsMin + value)
    const value = chooseFree(size, keptBackOf(size, keptPortsMax), isTaken, () => this.#random.next())
    if (value === undefined) {
      throw new ApiError(500, 'InternalError', 'Internal error occurred: failed to allocate a nodePort: range is full')
    }
    setAside.take(nodePortsMin + value)
    return nodePortsMin + value
  }
}

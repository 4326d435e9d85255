import {
  type IpAddressObject,
  type IpRange,
  ipManagedByLabel,
  type ObjectMeta,
  parseIp,
  rangeContains,
  type Service,
  services as servicesResource,
} from '@coracle/api'
import { clusterIpsOf } from './cluster-ips.ts'
import { addressLabels, allocatorName, isAddressOf } from './ip-address.ts'
import { nodePortsMax, nodePortsMin, nodePortsOf } from './node-ports.ts'

/** What the services have, and what is recorded of it. */
export interface Allocations {
  readonly services: readonly Service[]
  readonly addresses: readonly IpAddressObject[]
  /** The ports that are recorded as taken. */
  readonly ports: ReadonlySet<number>
  /** The ranges of all ServiceCIDRs, also of those that are to go. */
  readonly ranges: readonly IpRange[]
}

export interface AllocationRepair {
  /** Address objects to make, instead of what is there under that name. */
  readonly missingAddresses: readonly { readonly ip: string; readonly service: Service }[]
  /** Address objects that no service has. */
  readonly leakedAddresses: readonly IpAddressObject[]
  readonly missingPorts: readonly { readonly port: number; readonly service: Service }[]
  readonly leakedPorts: readonly number[]
  /** What people should know. */
  readonly warnings: readonly AllocationWarning[]
}

export interface AllocationWarning {
  readonly source: 'addresses' | 'ports'
  readonly about: Service | IpAddressObject
  readonly reason: string
  readonly message: string
}

/**
 * What has to be done so that each address of a service has its IPAddress and each port its record, and nothing else has. Pure.
 * Follows upstream's repair loops (pkg/registry/core/service). Of two services with the same address or port the one that has it
 * by the record keeps it, and the other is to be made anew by people.
 */
export function planAllocationRepair(allocations: Allocations): AllocationRepair {
  const addresses = planAddresses(allocations)
  const ports = planPorts(allocations)
  return { ...addresses, ...ports, warnings: [...addresses.warnings, ...ports.warnings] }
}

type AddressRepair = Pick<AllocationRepair, 'missingAddresses' | 'leakedAddresses' | 'warnings'>

function planAddresses({ services, addresses, ranges }: Allocations): AddressRepair {
  const byName = new Map(addresses.map((each) => [each.metadata.name ?? '', each]))
  const byKey = new Map(services.map((each) => [keyOf(each.metadata), each]))
  const missing = new Map<string, Service>()
  const warnings: AllocationWarning[] = []
  for (const service of services) {
    const warn = (reason: string, message: string) => {
      warnings.push({ source: 'addresses', about: service, reason, message })
    }
    for (const ip of clusterIpsOf(service.spec)) {
      const address = parseIp(ip)
      if (address === undefined) {
        warn('ClusterIPNotValid', `Cluster IP ${ip} is not a valid IP; please recreate Service`)
        continue
      }
      const text = `[IPv${address.family}]: ${ip}`
      if (!ranges.some((range) => rangeContains(range, address))) {
        warn(
          'ClusterIPOutOfRange',
          `Cluster IP ${text} is not within any configured Service CIDR; please recreate service`,
        )
        continue
      }
      const present = byName.get(ip)
      const owner = present === undefined ? missing.get(ip) : ownerOf(present, byKey)
      if (owner !== undefined && owner !== service) {
        const message = `Cluster IP ${text} was assigned to multiple services; please recreate service`
        warn('ClusterIPAlreadyAllocated', message)
      } else if (present === undefined) {
        warn('ClusterIPNotAllocated', `Cluster IP ${text} is not allocated; repairing`)
        missing.set(ip, service)
      } else if (owner === undefined) {
        const { namespace = '', name = '' } = service.metadata
        const message = `the ClusterIP ${text} for Service ${namespace}/${name} has a wrong reference; repairing`
        warn('ClusterIPNotAllocated', message)
        missing.set(ip, service)
      } else if (!hasLabels(present)) missing.set(ip, service)
    }
  }
  const leaked = addresses.filter(
    (each) => isOurs(each) && !missing.has(each.metadata.name ?? '') && ownerOf(each, byKey) === undefined,
  )
  for (const each of leaked) warnings.push({ source: 'addresses', about: each, ...leakOf(each, byKey) })
  return {
    missingAddresses: [...missing].map(([ip, service]) => ({ ip, service })),
    leakedAddresses: leaked,
    warnings,
  }
}

const keyOf = ({ namespace = '', name = '' }: Pick<ObjectMeta, 'namespace' | 'name'>): string => `${namespace}/${name}`

/** The service that has the address of an object, by what both say. */
function ownerOf(address: IpAddressObject, byKey: ReadonlyMap<string, Service>): Service | undefined {
  const parent = byKey.get(keyOf(address.spec.parentRef))
  if (parent === undefined || !isAddressOf(address, parent)) return undefined
  return clusterIpsOf(parent.spec).includes(address.metadata.name ?? '') ? parent : undefined
}

const isOurs = ({ metadata }: IpAddressObject): boolean => metadata.labels?.[ipManagedByLabel] === allocatorName

const hasLabels = ({ metadata }: IpAddressObject): boolean =>
  Object.entries(addressLabels(metadata.name ?? '')).every(([key, value]) => metadata.labels?.[key] === value)

function leakOf(
  { metadata, spec }: IpAddressObject,
  byKey: ReadonlyMap<string, Service>,
): Pick<AllocationWarning, 'reason' | 'message'> {
  const { name = '' } = metadata
  const { group = '', resource } = spec.parentRef
  const parent = keyOf(spec.parentRef)
  if (group !== '' || resource !== servicesResource.plural) {
    const message = `IPAddress ${name} appears to have been modified, not referencing a Service: cleaning up`
    return { reason: 'IPAddressNotAllocated', message }
  }
  if (byKey.has(parent)) {
    const message = `IPAddress: ${name} for Service ${parent} has a wrong reference; cleaning up`
    return { reason: 'IPAddressWrongReference', message }
  }
  const message = `IPAddress: ${name} for Service ${parent} appears to have leaked: cleaning up`
  return { reason: 'IPAddressNotAllocated', message }
}

type PortRepair = Pick<AllocationRepair, 'missingPorts' | 'leakedPorts' | 'warnings'>

function planPorts({ services, ports }: Allocations): PortRepair {
  const taken = new Set<number>()
  const missingPorts: { readonly port: number; readonly service: Service }[] = []
  const warnings: AllocationWarning[] = []
  for (const service of services) {
    const warn = (reason: string, message: string) => {
      warnings.push({ source: 'ports', about: service, reason, message })
    }
    for (const port of nodePortsOf(service.spec)) {
      if (port < nodePortsMin || port > nodePortsMax) {
        const range = `${nodePortsMin}-${nodePortsMax}`
        warn('PortOutOfRange', `Port ${port} is not within the port range ${range}; please recreate service`)
      } else if (taken.has(port)) {
        warn('PortAlreadyAllocated', `Port ${port} was assigned to multiple services; please recreate service`)
      } else if (!ports.has(port)) {
        warn('PortNotAllocated', `Port ${port} is not allocated; repairing`)
        missingPorts.push({ port, service })
      }
      taken.add(port)
    }
  }
  return { missingPorts, leakedPorts: [...ports].filter((port) => !taken.has(port)), warnings }
}

import {
  type IpRange,
  invalid,
  ipAddresses,
  type KubernetesObject,
  type Service,
  type ServiceSpec,
  services,
  validateServiceAddresses,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { Allocation, Allocator } from '../registry/allocator.ts'
import type { KindStorage } from '../registry/kind-storage.ts'
import type { JointWrite } from '../registry/object-writer.ts'
import { ClusterIps, clusterIpsOf } from './cluster-ips.ts'
import { ipAddressOf, isAddressOf } from './ip-address.ts'
import { portRecordKey, portRecordOf } from './node-port-records.ts'
import { NodePorts, nodePortsOf, nodePortsPerServiceMax } from './node-ports.ts'
import { serviceRanges } from './service-ranges.ts'
import { SetAside } from './set-aside.ts'
import { Taken } from './taken.ts'

/**
 * Gives services their addresses and their ports on the nodes. Which are taken it knows from the caches; that no other server
 * gives the same away at the same time the store sees to: each address is an IPAddress, each port a record, and they are
 * created and removed in the transaction that writes the service.
 */
export class ServiceAllocator implements Allocator {
  readonly #storage: KindStorage
  readonly #addresses: KindStorage | undefined
  readonly #ranges: () => readonly IpRange[] | undefined
  readonly #environment: Environment
  readonly #clusterIps: ClusterIps
  readonly #nodePorts: NodePorts
  #takenIps: Taken<string> | undefined
  #takenPorts: Taken<number> | undefined

  constructor(storage: KindStorage, registries: Registries, environment: Environment) {
    this.#storage = storage
    this.#addresses = registries.of(ipAddresses)?.storage
    this.#ranges = () => serviceRanges(registries)
    this.#environment = environment
    this.#clusterIps = new ClusterIps(environment.random)
    this.#nodePorts = new NodePorts(environment.random)
  }

  allocate(object: KubernetesObject, old: KubernetesObject | undefined): Allocation {
    const service = object as Service
    const before = old as Service | undefined
    if (before !== undefined && before.spec === service.spec) return { object, alongside: [], release: () => {} }
    const errors = validateServiceAddresses(service, before)
    if (errors.length > 0) throw invalid(services, service.metadata.name ?? '', errors)
    const ips = new SetAside(this.#ips)
    const ports = new SetAside(this.#ports)
    const release = (): void => {
      ips.release()
      ports.release()
    }
    try {
      const withIps = this.#clusterIps.complete(service, before?.spec, this.#ranges(), ips)
      const complete = this.#nodePorts.complete(withIps, before?.spec, ports)
      return { object: complete, alongside: this.#changed(complete, before?.spec, complete.spec), release }
    } catch (error) {
      release()
      throw error
    }
  }

  freed(object: KubernetesObject): readonly JointWrite[] {
    return this.#changed(object as Service, (object as Service).spec, undefined)
  }

  get #ips(): Taken<string> {
    this.#takenIps ??= new Taken([
      { cache: this.#storage.cache, valuesOf: (object) => clusterIpsOf((object as Service).spec) },
      ...(this.#addresses === undefined
        ? []
        : [{ cache: this.#addresses.cache, valuesOf: ({ metadata }: KubernetesObject) => [metadata.name ?? ''] }]),
    ])
    return this.#takenIps
  }

  get #ports(): Taken<number> {
    this.#takenPorts ??= new Taken([
      { cache: this.#storage.cache, valuesOf: (object) => nodePortsOf((object as Service).spec) },
    ])
    return this.#takenPorts
  }

  /** What is written for the addresses and ports that a service gets, or has no more. */
  #changed(service: Service, before: ServiceSpec | undefined, after: ServiceSpec | undefined): readonly JointWrite[] {
    const ips = difference(before, after, clusterIpsOf)
    const ports = difference(before, after, nodePortsOf)
    return [
      ...ips.added.flatMap((ip) => this.#newAddress(service, ip)),
      ...ips.removed.flatMap((ip) => this.#oldAddress(service, ip)),
      ...ports.added.map((port) => ({ record: portRecordKey(port), value: portRecordOf(service) })),
      ...ports.removed
        .slice(0, nodePortsPerServiceMax)
        .map((port) => ({ record: portRecordKey(port), value: undefined })),
    ]
  }

  #newAddress(service: Service, ip: string): readonly JointWrite[] {
    if (this.#addresses === undefined) return []
    const { cache, writer } = this.#addresses
    return [{ writer, key: cache.keyOf('', ip), old: undefined, object: ipAddressOf(service, ip, this.#environment) }]
  }

  /** Where somebody else has taken the address object away, or made it their own, nothing is to be done. */
  #oldAddress(service: Service, ip: string): readonly JointWrite[] {
    const old = this.#addresses?.peek('', ip)
    if (this.#addresses === undefined || old === undefined || !isAddressOf(old.object, service)) return []
    const { cache, writer } = this.#addresses
    return [{ writer, key: cache.keyOf('', ip), old, object: undefined }]
  }
}

/** Gives services served by `registries` what they share. */
export function allocateServices(registries: Registries, environment: Environment): void {
  const storage = registries.of(services)?.storage
  if (storage !== undefined) storage.allocator = new ServiceAllocator(storage, registries, environment)
}

function difference<V>(
  before: ServiceSpec | undefined,
  after: ServiceSpec | undefined,
  valuesOf: (spec: ServiceSpec) => readonly V[],
): { readonly added: readonly V[]; readonly removed: readonly V[] } {
  const old = before === undefined ? [] : valuesOf(before)
  const present = after === undefined ? [] : valuesOf(after)
  return {
    added: present.filter((value) => !old.includes(value)),
    removed: old.filter((value) => !present.includes(value)),
  }
}

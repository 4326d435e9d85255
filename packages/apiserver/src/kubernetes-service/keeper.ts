import {
  apiServiceKey,
  deepEqual,
  type EndpointSlice,
  endpointSlices,
  endpoints,
  formatIp,
  hasReason,
  type KubernetesObject,
  type Resource,
  services,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { storedObject, storedObjects } from '../admission/stored-objects.ts'
import { createFirstServiceCidr } from '../housekeeping/bootstrap.ts'
import type { Registries } from '../registries.ts'
import { serviceRanges } from '../services/service-ranges.ts'
import { endpointsOf, isSliceOfKubernetes, kubernetesServiceOf, type ServerAddress, slicesOf } from './plan.ts'
import { ServerLeases } from './server-leases.ts'

/** How often the service is looked at, and, where others may serve the same store, this server says that it is alive (upstream's interval). */
export const kubernetesServiceIntervalMs = 10_000

export interface KubernetesServiceParts {
  readonly registries: Registries
  readonly store: Store
  readonly environment: Environment
  readonly client: Client
  /** Where services get their addresses in a cluster that has no range. Absent: the usual one. */
  readonly serviceCidr?: string | undefined
}

/** Creates the Service by which pods find the API, where it is missing. While there is no range of addresses it is not: a later round does. */
export async function createKubernetesService({ registries, client }: KubernetesServiceParts): Promise<void> {
  if (registries.of(services) === undefined) return
  if (storedObject(registries, services, apiServiceKey.name, apiServiceKey.namespace) !== undefined) return
  const because = 'pods find the API by this Service, and it is missing'
  const ranges = serviceRanges(registries)
  if (ranges?.length === 0) return
  const [range] = ranges ?? []
  const clusterIp = range === undefined ? undefined : formatIp({ family: range.family, value: range.base + 1n })
  try {
    await client.create(services, kubernetesServiceOf(clusterIp), { because })
  } catch (error) {
    // Another server on the same store was faster, or somebody else has the address.
    if (hasReason(error, 'AlreadyExists')) return
    if (clusterIp === undefined || !hasReason(error, 'Invalid')) throw error
    await client.create(services, kubernetesServiceOf(undefined), { because })
  }
}

/**
 * Keeps the range that services get their addresses of and the Service `kubernetes`, and behind it the servers that are alive: this one at `address`, and where the store is shared
 * all others, until the returned function is called. That takes this server out, if others can tell.
 */
export function keepKubernetesService(parts: KubernetesServiceParts, address: ServerAddress): () => Promise<void> {
  const { environment, store } = parts
  const { clock, logger } = environment
  const leases = store.shared ? new ServerLeases(store, clock) : undefined
  let timer: Timer | undefined
  let stopped = false
  let running: Promise<void> = Promise.resolve()

  const keep = async (): Promise<void> => {
    try {
      await leases?.renew(address)
      const servers = leases === undefined ? [address] : await leases.alive()
      if (stopped) return
      // Somebody who moves a cluster to another range has deleted the first one (upstream's default ServiceCIDR controller).
      await createFirstServiceCidr(parts.registries, parts.serviceCidr)
      await createKubernetesService(parts)
      await writeEndpoints(parts, servers)
    } catch (error) {
      if (!stopped) logger.warn('the service kubernetes was not brought up to date', { error: String(error) })
    }
  }
  const round = (): void => {
    running = keep()
    timer = clock.setTimer(kubernetesServiceIntervalMs, round, { housekeeping: true })
  }
  round()
  return async () => {
    stopped = true
    timer?.cancel()
    await running
    if (leases === undefined) return
    try {
      await leases.remove(address)
      await writeEndpoints(parts, await leases.alive())
    } catch (error) {
      // The others notice that nothing is heard of it.
      logger.debug('this server was not taken out of the service kubernetes', { error: String(error) })
    }
  }
}

async function writeEndpoints(
  { registries, client }: KubernetesServiceParts,
  servers: readonly ServerAddress[],
): Promise<void> {
  const slices = slicesOf(servers)
  const because = `the API servers alive are ${servers.map(({ ip, port }) => `${ip}:${port}`).join(', ') || 'none'}`
  await ensure(registries, client, endpoints, endpointsOf(servers), ['subsets'], because)
  for (const slice of slices) await ensure(registries, client, endpointSlices, slice, ['endpoints', 'ports'], because)
  const wanted = new Set(slices.map(({ metadata }) => metadata.name))
  const present: readonly EndpointSlice[] = storedObjects(registries, endpointSlices, apiServiceKey.namespace)
  for (const { metadata } of present.filter(isSliceOfKubernetes)) {
    const { namespace = '', name = '' } = metadata
    if (wanted.has(name)) continue
    await client.delete(endpointSlices, { namespace, name }, { because }).catch(unless('NotFound'))
  }
}

/** Writes an object unless it is there with these fields and labels. Where others write too, the next round looks again. */
async function ensure<T extends KubernetesObject>(
  registries: Registries,
  client: Client,
  resource: Resource<T>,
  wanted: T,
  fields: readonly (keyof T)[],
  because: string,
): Promise<void> {
  const { namespace = '', name = '', labels = {} } = wanted.metadata
  const present = storedObject(registries, resource, name, namespace)
  if (present === undefined) {
    await client.create(resource, wanted, { because }).catch(unless('AlreadyExists'))
    return
  }
  const hasLabels = Object.entries(labels).every(([key, value]) => present.metadata.labels?.[key] === value)
  if (hasLabels && fields.every((field) => deepEqual(present[field], wanted[field]))) return
  const metadata = { ...present.metadata, labels: { ...present.metadata.labels, ...labels } }
  await client.update(resource, { ...wanted, metadata }, { because }).catch(unless('Conflict'))
}

const unless =
  (reason: 'AlreadyExists' | 'Conflict' | 'NotFound') =>
  (error: unknown): void => {
    if (!hasReason(error, reason)) throw error
  }

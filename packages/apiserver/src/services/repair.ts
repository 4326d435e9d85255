import { type IpAddressObject, ipAddresses, parseCidr, type Service, serviceCidrs, services } from '@coracle/api'
import { type Client, createEventRecorder } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import type { Entry, Store } from '@coracle/store'
import { storedObjects } from '../admission/stored-objects.ts'
import { apiServerOrigin } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import type { KindStorage } from '../registry/kind-storage.ts'
import { futureVersionWaitMs } from '../watch-cache/future-version.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import { clusterIpsOf } from './cluster-ips.ts'
import { ipAddressOf } from './ip-address.ts'
import { portOfRecord, portRecordKey, portRecordOf, portRecordsPrefix } from './node-port-records.ts'
import { type AllocationRepair, type Allocations, planAllocationRepair } from './repair-plan.ts'

/** How often what services have is compared with what is recorded of it (upstream's interval). */
export const repairIntervalMs = 3 * 60_000

/** How soon after somebody has touched an address object that a service needs. */
export const repairDelayMs = 1000

export interface AllocationRepairParts {
  readonly registries: Registries
  readonly feed: StoreFeed
  readonly store: Store
  readonly environment: Environment
  /** Writes the events. */
  readonly client: Client
}

/**
 * Keeps the records of addresses and ports as the services have them: now, time and again, and soon after an address object of
 * a service was touched by somebody else, until the returned function is called. Any number of servers may do it at a time.
 */
export function startAllocationRepair(parts: AllocationRepairParts): () => void {
  const { registries, environment, client } = parts
  const serviceStorage = registries.of(services)?.storage
  const addressStorage = registries.of(ipAddresses)?.storage
  if (serviceStorage === undefined || addressStorage === undefined) return () => {}
  const { clock, logger } = environment
  const recorders = {
    addresses: createEventRecorder(client, environment, { component: 'ipallocator-repair-controller' }),
    ports: createEventRecorder(client, environment, { component: 'portallocator-repair-controller' }),
  }
  let timer: Timer | undefined
  let soon: Timer | undefined
  let stopped = false

  const repair = async (): Promise<void> => {
    try {
      const { allocations, records } = await observe(parts)
      if (stopped) return
      const plan = planAllocationRepair(allocations)
      for (const { source, about, reason, message } of plan.warnings) {
        recorders[source].event(about, 'Warning', reason, message)
      }
      await carryOut(parts, addressStorage, records, plan)
    } catch (error) {
      logger.warn('addresses and ports of services were not repaired', { error: String(error) })
    }
  }
  const round = (): void => {
    void repair()
    timer = clock.setTimer(repairIntervalMs, round, { housekeeping: true })
  }
  const repairSoon = (): void => {
    if (stopped) return
    soon ??= clock.setTimer(repairDelayMs, () => {
      soon = undefined
      void repair()
    })
  }
  addressStorage.cache.onChange(({ type, stored }) => {
    const address = stored.object as IpAddressObject
    // What a service's own write has changed is in the cache of services by now.
    if (isHad(serviceStorage, address) === (type === 'DELETED')) repairSoon()
  })
  round()
  return () => {
    stopped = true
    timer?.cancel()
    soon?.cancel()
    for (const recorder of Object.values(recorders)) recorder.stop()
  }
}

function isHad(storage: KindStorage, { metadata, spec }: IpAddressObject): boolean {
  // Somebody else may have stored an address that says of no service that it is its own.
  const { namespace = '', name = '' } = (spec as Partial<IpAddressObject['spec']> | undefined)?.parentRef ?? {}
  const service = storage.peek(namespace, name)?.object as Service | undefined
  return service !== undefined && clusterIpsOf(service.spec).includes(metadata.name ?? '')
}

interface Observed {
  readonly allocations: Allocations
  readonly records: ReadonlyMap<number, Entry>
}

async function observe({ registries, feed, store }: AllocationRepairParts): Promise<Observed> {
  const { revision, entries } = await store.list(portRecordsPrefix)
  // What is written to services later changes their records with it.
  await feed.waitFor(revision, futureVersionWaitMs)
  const records = new Map(entries.map((entry) => [portOfRecord(entry.key), entry]))
  const allocations = {
    services: storedObjects(registries, services),
    addresses: storedObjects(registries, ipAddresses),
    ports: new Set(records.keys()),
    ranges: storedObjects(registries, serviceCidrs).flatMap(({ spec }) =>
      (spec?.cidrs ?? []).flatMap((cidr) => parseCidr(cidr) ?? []),
    ),
  }
  return { allocations, records }
}

/** Each change on the condition that what it was planned for is as it was. What has changed is looked at in the next round. */
async function carryOut(
  { store, environment }: AllocationRepairParts,
  addresses: KindStorage,
  records: Observed['records'],
  plan: AllocationRepair,
): Promise<void> {
  const { cache, writer } = addresses
  const remove = async (name: string, because: string): Promise<void> => {
    const old = addresses.peek('', name)
    if (old !== undefined) await writer.remove(cache.keyOf('', name), old, apiServerOrigin('delete', because))
  }
  for (const { metadata } of plan.leakedAddresses) await remove(metadata.name ?? '', 'no service has the address')
  for (const { ip, service } of plan.missingAddresses) {
    const because = `the address belongs to service ${service.metadata.namespace}/${service.metadata.name}`
    await remove(ip, because)
    const origin = apiServerOrigin('create', because)
    await writer.put(cache.keyOf('', ip), ipAddressOf(service, ip, environment), [], 0, origin)
  }
  for (const { port, service } of plan.missingPorts) {
    const key = portRecordKey(port)
    const operation = { type: 'put', key, value: portRecordOf(service) } as const
    await store.commit({ conditions: [{ key, modRevision: 0 }], operations: [operation] })
  }
  for (const port of plan.leakedPorts) {
    const { key, modRevision } = records.get(port) ?? { key: portRecordKey(port), modRevision: 0 }
    await store.commit({ conditions: [{ key, modRevision }], operations: [{ type: 'delete', key }] })
  }
}

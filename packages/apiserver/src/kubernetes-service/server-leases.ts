import type { Clock } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { registryPrefix } from '../watch-cache/store-feed.ts'
import type { ServerAddress } from './plan.ts'

/** How long a server that says nothing counts as alive (upstream's --endpoint-reconciler-type=lease). */
export const serverLeaseMs = 15_000

/** Where each server notes that it is alive: a record for each address, which no API shows. */
export const serverLeasesPrefix = `${registryPrefix}masterleases/`

/** Servers of a store known at most; more are not looked at. */
export const serversMax = 1000

interface SeenRecord {
  readonly revision: number
  readonly sinceMs: number
}

/**
 * Which servers of a store are alive. Each writes its record anew time and again; one whose record has stayed the same for
 * `serverLeaseMs` by this server's own clock is gone. So clocks need not agree.
 */
export class ServerLeases {
  readonly #store: Store
  readonly #clock: Clock
  /** The revision at which each record was seen, and since when. */
  #seen: ReadonlyMap<string, SeenRecord> = new Map()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Notes that the server at an address is alive. */
  async renew(address: ServerAddress): Promise<void> {
    const value = Buffer.from(JSON.stringify(address))
    await this.#store.commit({ conditions: [], operations: [{ type: 'put', key: keyOf(address), value }] })
  }

  async remove(address: ServerAddress): Promise<void> {
    await this.#store.commit({ conditions: [], operations: [{ type: 'delete', key: keyOf(address) }] })
  }

  /** The servers that are alive. Records of those that are not are removed. */
  async alive(): Promise<readonly ServerAddress[]> {
    const { entries } = await this.#store.list(serverLeasesPrefix)
    const nowMs = this.#clock.monotonicMs()
    const seen = new Map<string, SeenRecord>()
    const alive: ServerAddress[] = []
    for (const { key, value, modRevision } of entries.slice(0, serversMax)) {
      const before = this.#seen.get(key)
      const now = before?.revision === modRevision ? before : { revision: modRevision, sinceMs: nowMs }
      seen.set(key, now)
      if (nowMs - now.sinceMs < serverLeaseMs) {
        const address = addressIn(value)
        if (address !== undefined) alive.push(address)
        continue
      }
      await this.#store.commit({ conditions: [{ key, modRevision }], operations: [{ type: 'delete', key }] })
    }
    this.#seen = seen
    return alive
  }
}

const keyOf = ({ ip, port }: ServerAddress): string => `${serverLeasesPrefix}${ip}:${port}`

/** Undefined where a record is none that a server has written. */
function addressIn(value: Uint8Array): ServerAddress | undefined {
  try {
    const { ip, port } = JSON.parse(Buffer.from(value).toString()) as Partial<ServerAddress>
    return typeof ip === 'string' && typeof port === 'number' ? { ip, port } : undefined
  } catch {
    return undefined
  }
}

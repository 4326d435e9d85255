import { type IpRange, parseIp, rangeContains } from '@coracle/api'
import { BoundedMap } from '@coracle/client'
import type { Clock, Random } from '@coracle/environment'
import type { Backend } from './frontends.ts'

/** Of how many clients of a port of a service it is remembered where they were. */
export const rememberedClientsMax = 10_000

interface Visit {
  readonly backend: Backend
  /** On the monotonic clock. */
  readonly lastMs: number
}

/** Where clients were last, by their addresses. */
export type Visits = BoundedMap<string, Visit>

export const newVisits = (): Visits => new BoundedMap(rememberedClientsMax)

/** Chooses among the backends of a frontend: by chance, each as likely as the others, or where the client was before. */
export class Balancer {
  readonly #clock: Clock
  readonly #random: Random
  readonly #visits: Visits
  #backends: readonly Backend[] = []
  #affinityMs: number | undefined
  #sources: readonly IpRange[] | undefined

  /** `visits` are those of all balancers of one port of a service: a client stays with a backend wherever it asks for the service. */
  constructor(clock: Clock, random: Random, visits: Visits = newVisits()) {
    this.#clock = clock
    this.#random = random
    this.#visits = visits
  }

  /** From now on these are chosen among, for clients of these ranges, or of any where none are given. */
  set(backends: readonly Backend[], affinityMs: number | undefined, sources?: readonly IpRange[]): void {
    this.#backends = backends
    this.#affinityMs = affinityMs
    this.#sources = sources
  }

  /** All backends, in the order in which a client's connection is to be tried with them; none for a client that may not come. */
  order(client: string): readonly Backend[] {
    if (!this.#admits(client)) return []
    const shuffled = [...this.#backends]
    for (let at = 0; at < shuffled.length - 1; at += 1) {
      const other = at + Math.floor(this.#random.next() * (shuffled.length - at))
      const backend = shuffled[other] as Backend
      shuffled[other] = shuffled[at] as Backend
      shuffled[at] = backend
    }
    const kept = this.#keptBy(client)
    return kept === undefined ? shuffled : [kept, ...shuffled.filter((backend) => backend !== kept)]
  }

  /** Says that a client was connected with a backend. */
  visited(client: string, backend: Backend): void {
    if (this.#affinityMs !== undefined) this.#visits.set(client, { backend, lastMs: this.#clock.monotonicMs() })
  }

  /** How many backends there are. */
  get size(): number {
    return this.#backends.length
  }

  /** Whether a backend may still be used. */
  has(backend: Backend): boolean {
    return this.#backends.some((each) => isSame(each, backend))
  }

  #admits(client: string): boolean {
    if (this.#sources === undefined) return true
    const address = parseIp(client)
    return address !== undefined && this.#sources.some((range) => rangeContains(range, address))
  }

  #keptBy(client: string): Backend | undefined {
    if (this.#affinityMs === undefined) return undefined
    const visit = this.#visits.get(client)
    if (visit === undefined || this.#clock.monotonicMs() - visit.lastMs >= this.#affinityMs) return undefined
    return this.#backends.find((each) => isSame(each, visit.backend))
  }
}

const isSame = (a: Backend, b: Backend): boolean =>
  a.address === b.address && a.port === b.port && a.throughNode === b.throughNode

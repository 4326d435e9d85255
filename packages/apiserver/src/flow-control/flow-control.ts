import {
  compareText,
  type FlowSchema,
  flowSchemas,
  type KubernetesObject,
  type PriorityLevelConfiguration,
  priorityLevelConfigurations,
} from '@coracle/api'
import { catchAllName, exemptName, mandatoryFlowSchemas, mandatoryPriorityLevels } from '@coracle/api/flow-control'
import type { Route } from '../http/routes.ts'
import type { Registries } from '../registries.ts'
import type { User } from '../request.ts'
import { distinguisherOf, matches } from './matching.ts'
import { type RequestWork, workOfRequest } from './request-work.ts'
import { type LevelCounts, type SeatRequest, Seats } from './seats.ts'
import type { WatchCounts } from './watch-counts.ts'

/** Requests that are answered at one time unless something else is asked for: upstream's --max-requests-inflight and --max-mutating-requests-inflight. */
export const seatsDefault = 600

/** At which level a request is answered, and by which schema. */
export interface Classified {
  readonly schema: FlowSchema
  readonly level: PriorityLevelConfiguration
  readonly isExempt: boolean
  /** What tells its flow from others of the level. */
  readonly flow: string
}

/** Decides when requests are answered, by FlowSchemas and PriorityLevelConfigurations as this server's caches have them. */
export class FlowControl {
  readonly #registries: Registries
  readonly #seats: Seats
  readonly #watches: Pick<WatchCounts, 'interestedIn'>
  #schemas: readonly { readonly schema: FlowSchema; readonly level: PriorityLevelConfiguration }[] = []
  #isOutdated = true
  #isFollowing = false

  /** `watches` are those whose cost counts with a write. */
  constructor(registries: Registries, watches: Pick<WatchCounts, 'interestedIn'>, seats = seatsDefault) {
    this.#registries = registries
    this.#watches = watches
    this.#seats = new Seats(seats)
  }

  /** The level of a request: that of the first schema that matches it. */
  classify(user: User, route: Route): Classified {
    this.#bringUpToDate()
    const found = this.#schemas.find(({ schema }) => matches(schema, user, route)) ?? this.#schemas.at(-1)
    // The last one is there in any case.
    if (found === undefined) throw new Error('there is no flow schema')
    const { schema, level } = found
    const flow = `${schema.metadata.name}\0${distinguisherOf(schema, user, route)}`
    return { schema, level, isExempt: level.metadata.name === exemptName, flow }
  }

  /** How many seats a request takes at a level, and how long. */
  workOf(route: Route, query: URLSearchParams, level: string): RequestWork {
    return workOfRequest(route, query, {
      stored: ({ group, version, plural }) => {
        const cache = this.#registries.byResource(group, version, plural)?.storage.cache
        return cache && { count: cache.size, averageBytes: cache.averageBytes }
      },
      watchers: (written) => this.#watches.interestedIn(written),
      widest: this.#seats.widestOf(level),
    })
  }

  /** Asks for seats. What is `seated` or `waiting` has to `leave`. */
  request(request: SeatRequest): 'seated' | 'waiting' | 'refused' {
    return this.#seats.request(request)
  }

  leave(request: SeatRequest): void {
    this.#seats.leave(request)
  }

  /** How each level is used. */
  levels(): readonly LevelCounts[] {
    this.#bringUpToDate()
    return this.#seats.levels()
  }

  /** What the use of a level is measured against. */
  limitsOf(level: string): { readonly seats: number; readonly places: number } {
    return this.#seats.limitsOf(level)
  }

  #bringUpToDate(): void {
    if (!this.#isFollowing) this.#follow()
    if (!this.#isOutdated) return
    this.#isOutdated = false
    const levels = completed(
      this.#stored<PriorityLevelConfiguration>(priorityLevelConfigurations),
      mandatoryPriorityLevels,
    )
    const byName = new Map(levels.map((level) => [level.metadata.name, level]))
    const schemas = completed(this.#stored<FlowSchema>(flowSchemas), mandatoryFlowSchemas)
    this.#schemas = inOrder(schemas).flatMap((schema) => {
      const level = byName.get(schema.spec?.priorityLevelConfiguration.name)
      // One that leads nowhere matches nothing, as upstream.
      return level === undefined ? [] : [{ schema, level }]
    })
    this.#seats.set(levels)
  }

  #stored<T>(kind: typeof flowSchemas | typeof priorityLevelConfigurations): readonly T[] {
    const cache = this.#registries.byStorageKey(kind.storageKey)?.storage.cache
    return cache === undefined ? [] : [...cache.values()].map(({ object }) => object as T)
  }

  #follow(): void {
    this.#isFollowing = true
    for (const { storageKey } of [flowSchemas, priorityLevelConfigurations]) {
      this.#registries.byStorageKey(storageKey)?.storage.cache.onChange(() => {
        this.#isOutdated = true
      })
    }
  }
}

/** With those that there have to be. */
function completed<T extends KubernetesObject>(stored: readonly T[], mandatory: readonly T[]): readonly T[] {
  const names = new Set(stored.map(({ metadata }) => metadata.name))
  return [...stored, ...mandatory.filter(({ metadata }) => !names.has(metadata.name))]
}

/** In the order in which they are asked: by precedence, then by name; the last is that which matches everything. */
export const inOrder = (schemas: readonly FlowSchema[]): readonly FlowSchema[] =>
  schemas.toSorted(
    (a, b) =>
      Number(a.metadata.name === catchAllName) - Number(b.metadata.name === catchAllName) ||
      (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) ||
      compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  )

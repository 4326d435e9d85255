import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Upgrades } from '@coracle/client/upgrades'
import type { Clock, Environment, Time } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import type { ProxiedRequests } from '../proxy/proxied-requests.ts'
import type { User } from '../request.ts'
import type { WorkTurns } from '../work-turns.ts'
import type { BodyReader } from './body/body-reader.ts'
import type { ListWriter } from './representation/list-writer.ts'
import type { Representations } from './representation/representation.ts'

/** One request with its answer, and who makes it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** The query as it came, without the `?`. */
  readonly search: string
  readonly clock: Clock
  /** On the clock, monotonic. */
  readonly startedMs: Time
  readonly user: User
  readonly userAgent: string
}

/** What handlers share. */
export interface HandlerContext {
  readonly core: ApiCore
  readonly environment: Environment
  readonly bodies: BodyReader
  readonly representations: Representations
  readonly lists: ListWriter
  readonly turns: WorkTurns
  readonly upgrades: Upgrades
  readonly proxied: ProxiedRequests
  /**
   * Takes the time limit off an exchange that goes on for long by nature. The signal is aborted when the client goes
   * or the server closes. Its seats are given back, unless it is to keep them for its beginning.
   */
  becomeLongRunning(exchange: Exchange, options?: { readonly keepsSeats?: boolean }): AbortSignal
  /** An exchange that goes on for long has begun. */
  giveSeatsBack(exchange: Exchange): void
}

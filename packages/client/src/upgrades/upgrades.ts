import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Connections for exec, attach and port-forward that are open at one time; more are told to come back (429). */
export const streamingConnectionsMax = 1_000

/** A connection that stops being one for HTTP. */
export interface UpgradedConnection {
  readonly connection: Duplex
  /** What has come on it after the request. */
  readonly head: Buffer
}

/** The requests under way that ask to become something else than HTTP, and those that have. */
export class Upgrades {
  readonly #asked = new WeakMap<IncomingMessage, UpgradedConnection>()
  readonly #taken = new WeakSet<IncomingMessage>()
  readonly #onUpgraded: (connection: Duplex) => void
  #open = 0

  /** `onUpgraded` is told of each connection on which nothing of HTTP follows. */
  constructor(onUpgraded: (connection: Duplex) => void) {
    this.#onUpgraded = onUpgraded
  }

  /** Notes what a request has come on. */
  note(request: IncomingMessage, upgraded: UpgradedConnection): void {
    this.#asked.set(request, upgraded)
  }

  /** Whether the connection of a request may be taken, for it asks for that. */
  isAsked(request: IncomingMessage): boolean {
    return this.#asked.has(request)
  }

  /** Whether so many are open that no more may be. */
  get isFull(): boolean {
    return this.#open >= streamingConnectionsMax
  }

  /** Whether the answer to a request is HTTP: it is not once its connection has been taken. */
  isTaken(request: IncomingMessage): boolean {
    return this.#taken.has(request)
  }

  /** Takes the connection of a request. Undefined where the request does not ask for that, or its client has gone. */
  take(request: IncomingMessage): UpgradedConnection | undefined {
    const upgraded = this.#asked.get(request)
    // What has closed says so once, and would be counted for ever.
    if (upgraded === undefined || upgraded.connection.destroyed || this.#taken.has(request)) return undefined
    this.#taken.add(request)
    this.#open += 1
    upgraded.connection.once('close', () => {
      this.#open -= 1
    })
    this.#onUpgraded(upgraded.connection)
    return upgraded
  }
}

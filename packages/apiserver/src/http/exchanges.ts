import type { Duplex } from 'node:stream'
import { ApiError, tooManyRequests } from '@coracle/api'
import type { Environment, Timer } from '@coracle/environment'
import { TransientMap, TransientSet } from '@coracle/environment/transient-map'
import { busyMessage } from '../store-errors.ts'
import type { Exchange } from './exchange.ts'
import type { RequestsInFlight } from './request-metrics.ts'
import { sendError } from './respond.ts'

/** Requests answered at one time, watches and logs not counted: more are told to come back (429). */
export const requestsInFlightMax = 2_000
/** A request that is not answered by then gets 504 (upstream's --request-timeout). */
export const requestTimeoutMs = 60_000
const timeoutCheckMs = 1_000

/** The exchanges under way: bounds how many there are and how long they take, and ends them when the server closes. */
export class Exchanges {
  readonly #environment: Environment
  readonly #short = new TransientSet<Exchange>()
  readonly #long = new TransientMap<Exchange, AbortController>()
  readonly #answeredEarly = new WeakSet<Duplex>()
  /** Exchanges that were over time when their answer was on its way: it has until the next check. */
  readonly #givenTime = new WeakSet<Exchange>()
  readonly #closers: (() => void)[] = []
  #timeoutCheck: Timer | undefined
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Counts an exchange until its answer has gone out. Throws TooManyRequests where there are too many. */
  begin(exchange: Exchange): void {
    if (this.#closed) exchange.response.setHeader('Connection', 'close')
    if (this.#short.size >= requestsInFlightMax) throw tooManyRequests(busyMessage, 1)
    this.#short.add(exchange)
    exchange.response.on('close', () => this.#end(exchange))
    this.#timeoutCheck ??= this.#environment.clock.setTimer(timeoutCheckMs, () => this.#checkTimeouts())
  }

  /** Gives an exchange less time than others have, as its client asks for. */
  limit(exchange: Exchange, timeoutMs: number): void {
    if (timeoutMs >= requestTimeoutMs) return
    const timer = this.#environment.clock.setTimer(timeoutMs, () => {
      if (this.#short.has(exchange)) this.#timeOut(exchange)
    })
    exchange.response.on('close', () => timer.cancel())
  }

  /** As `begin`, for an exchange that must be answered whatever else is under way, and is at once. */
  beginUncounted({ response }: Exchange): void {
    if (this.#closed) response.setHeader('Connection', 'close')
  }

  becomeLongRunning(exchange: Exchange): AbortSignal {
    const controller = new AbortController()
    this.#short.delete(exchange)
    if (this.#closed || exchange.response.closed) controller.abort()
    else this.#long.set(exchange, controller)
    return controller.signal
  }

  /** Whether a request that came whole over this connection is yet to be answered to its end. */
  isAnswering(socket: Duplex): boolean {
    const isOn = ({ request }: Exchange): boolean => request.socket === socket && request.complete
    return this.#short.values().some(isOn) || this.#long.keys().some(isOn)
  }

  /** Whether the request that is still coming over this connection has its answer: it was refused for its head alone. */
  hasAnswered(socket: Duplex): boolean {
    const isOn = ({ request, response }: Exchange): boolean =>
      request.socket === socket && !request.complete && response.headersSent
    return this.#answeredEarly.has(socket) || this.#short.values().some(isOn)
  }

  /** How many requests are being answered that do not go on for long by nature. */
  inFlight(): RequestsInFlight {
    let readOnly = 0
    for (const { request } of this.#short) if (request.method === 'GET' || request.method === 'HEAD') readOnly += 1
    return { mutating: this.#short.size - readOnly, readOnly }
  }

  /** Calls back when `close` is called. */
  onClose(closer: () => void): void {
    this.#closers.push(closer)
  }

  close(): void {
    this.#closed = true
    for (const closer of this.#closers) closer()
    for (const controller of this.#long.values()) controller.abort()
  }

  /** Resolves when nothing is under way any more. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = () => {
        if (this.#short.size + this.#long.size > 0) return
        this.#timeoutCheck?.cancel()
        resolve()
      }
      this.#onIdle()
    })
  }

  #end(exchange: Exchange): void {
    if (!exchange.request.complete) this.#answeredEarly.add(exchange.request.socket)
    this.#short.delete(exchange)
    const controller = this.#long.get(exchange)
    if (controller !== undefined) {
      this.#long.delete(exchange)
      controller.abort()
    }
    this.#onIdle?.()
  }

  /** One timer for all: a timer for each request would cost more than most requests. */
  #checkTimeouts(): void {
    this.#timeoutCheck = undefined
    const { clock } = this.#environment
    const latestMs = clock.monotonicMs() - requestTimeoutMs
    for (const exchange of this.#short) {
      // In order of their beginning.
      if (exchange.startedMs > latestMs) break
      this.#timeOut(exchange)
    }
    if (this.#short.size > 0) this.#timeoutCheck = clock.setTimer(timeoutCheckMs, () => this.#checkTimeouts())
  }

  #timeOut(exchange: Exchange): void {
    if (exchange.response.writableEnded && !this.#givenTime.has(exchange)) {
      this.#givenTime.add(exchange)
      return
    }
    this.#short.delete(exchange)
    // An answer that is ready but not taken holds its bytes here for as long as the client likes.
    if (exchange.response.headersSent) exchange.response.destroy()
    else sendError(exchange.response, timedOut(), this.#environment.logger)
  }
}

const timedOut = (): ApiError =>
  new ApiError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {})

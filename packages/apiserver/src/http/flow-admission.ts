import { tooManyRequests } from '@coracle/api'
import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { FlowControl } from '../flow-control/flow-control.ts'
import { FlowMetrics } from '../flow-control/flow-metrics.ts'
import type { SeatRequest } from '../flow-control/seats.ts'
import { busyMessage } from '../store-errors.ts'
import type { Exchange } from './exchange.ts'
import type { Route } from './routes.ts'

/** How long a request waits for a seat at most: a quarter of the time that an answer may take, as upstream. */
export const seatWaitMs = 15_000

/** Has requests answered when flow control gives them a seat. */
export class FlowAdmission {
  readonly #flowControl: FlowControl
  readonly #clock: Clock
  readonly #metrics: FlowMetrics | undefined
  /** Those that have a seat or wait for one. */
  readonly #requests = new Map<Exchange, SeatRequest>()
  /** Ends what looks at the levels. */
  readonly close: () => void

  constructor(flowControl: FlowControl, clock: Clock, metrics: MetricsRegistry | undefined) {
    this.#flowControl = flowControl
    this.#clock = clock
    this.#metrics = metrics === undefined ? undefined : new FlowMetrics(metrics, flowControl)
    this.close = () => this.#metrics?.close()
  }

  /**
   * Calls `begin` once the request may be answered: at once, or when it has its seat, unless its client goes before. Calls `refuse` where it
   * would have to wait too long. Throws TooManyRequests where too many wait already. The client is told by whose rules that went.
   */
  admit(exchange: Exchange, route: Route, begin: () => void, refuse: (error: unknown) => void): void {
    const { response, user } = exchange
    const { schema, level, isExempt, flow } = this.#flowControl.classify(user, route)
    response.setHeader('X-Kubernetes-PF-FlowSchema-UID', schema.metadata.uid ?? '')
    response.setHeader('X-Kubernetes-PF-PriorityLevel-UID', level.metadata.uid ?? '')
    const names = { flow_schema: schema.metadata.name ?? '', priority_level: level.metadata.name ?? '' }
    if (isExempt) {
      this.#metrics?.dispatched(names)
      begin()
      return
    }
    const timer = { cancel: () => {} }
    const request: SeatRequest = {
      level: names.priority_level,
      flow,
      onSeat: () => {
        timer.cancel()
        // What has been answered meanwhile, for its own time was over, leaves when that has gone out.
        if (response.headersSent || response.destroyed) return
        this.#metrics?.dispatched(names)
        begin()
      },
    }
    const outcome = this.#flowControl.request(request)
    if (outcome === 'refused') {
      this.#metrics?.rejected(
        names,
        level.spec?.limited?.limitResponse?.type === 'Queue' ? 'queue-full' : 'concurrency-limit',
      )
      throw tooManyRequests(busyMessage, 1)
    }
    this.#requests.set(exchange, request)
    response.on('close', () => {
      timer.cancel()
      this.#leave(exchange)
    })
    if (outcome === 'seated') {
      this.#metrics?.dispatched(names)
      begin()
      return
    }
    const waiting = this.#clock.setTimer(seatWaitMs, () => {
      this.#leave(exchange)
      this.#metrics?.rejected(names, 'time-out')
      refuse(tooManyRequests(busyMessage, 1))
    })
    timer.cancel = () => waiting.cancel()
  }

  /** What goes on for long by nature needs no seat once it has begun. */
  becomesLong(exchange: Exchange): void {
    this.#leave(exchange)
  }

  #leave(exchange: Exchange): void {
    const request = this.#requests.get(exchange)
    if (request === undefined) return
    this.#requests.delete(exchange)
    this.#flowControl.leave(request)
  }
}

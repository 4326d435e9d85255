import { tooManyRequests } from '@coracle/api'
import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { FlowControl } from '../flow-control/flow-control.ts'
import { FlowMetrics, type FollowedRequest } from '../flow-control/flow-metrics.ts'
import type { SeatRequest } from '../flow-control/seats.ts'
import { seatsOf, workOf } from '../flow-control/work-estimate.ts'
import { busyMessage } from '../store-errors.ts'
import type { Exchange } from './exchange.ts'
import type { Route } from './routes.ts'

/** How long a request waits for a seat at most: a quarter of the time that an answer may take, as upstream. */
export const seatWaitMs = 15_000

/** A request that has its seats or waits for them. */
interface Admitted {
  readonly request: SeatRequest
  readonly followed: FollowedRequest | undefined
  /** How long it keeps its seats after its answer, once it has them. */
  lingersMs: number
}

/** Has requests answered when flow control gives them a seat. */
export class FlowAdmission {
  readonly #flowControl: FlowControl
  readonly #clock: Clock
  readonly #metrics: FlowMetrics | undefined
  /** Those that have a seat or wait for one. */
  readonly #requests = new Map<Exchange, Admitted>()
  /** Ends what looks at the levels. */
  readonly close: () => void

  constructor(flowControl: FlowControl, clock: Clock, metrics: MetricsRegistry | undefined) {
    this.#flowControl = flowControl
    this.#clock = clock
    this.#metrics = metrics === undefined ? undefined : new FlowMetrics(metrics, flowControl, clock)
    this.close = () => this.#metrics?.close()
  }

  /**
   * Calls `begin` once the request may be answered: at once, or when it has its seat, unless its client goes before. Calls `refuse` where it
   * would have to wait too long. Throws TooManyRequests where too many wait already. The client is told by whose rules that went.
   */
  admit(exchange: Exchange, route: Route, begin: () => void, refuse: (error: unknown) => void): void {
    const { response, user, query } = exchange
    const { schema, level, isExempt, flow } = this.#flowControl.classify(user, route)
    response.setHeader('X-Kubernetes-PF-FlowSchema-UID', schema.metadata.uid ?? '')
    response.setHeader('X-Kubernetes-PF-PriorityLevel-UID', level.metadata.uid ?? '')
    const queues = level.spec?.limited?.limitResponse?.type === 'Queue'
    const levelName = level.metadata.name ?? ''
    const work = this.#flowControl.workOf(route, query, levelName)
    const seats = seatsOf(work)
    const followed = this.#metrics?.follow({
      schema: schema.metadata.name ?? '',
      level: levelName,
      seats,
      watchers: work.watchers,
      queues,
      isMutating: route.verb !== 'get' && route.verb !== 'list' && route.verb !== 'watch',
      isWatch: route.verb === 'watch',
    })
    const timer = { cancel: () => {} }
    const request: SeatRequest = {
      level: levelName,
      seats,
      work: workOf(work),
      flow,
      onShort: () => followed?.isShort(),
      onSeat: () => {
        timer.cancel()
        // What has been answered meanwhile, for its own time was over, leaves when that has gone out.
        if (response.headersSent || response.destroyed) return
        admitted.lingersMs = work.lingersMs
        followed?.begins()
        begin()
      },
    }
    const outcome = isExempt ? 'seated' : this.#flowControl.request(request)
    if (outcome === 'refused') {
      followed?.refused(queues ? 'queue-full' : 'concurrency-limit')
      throw tooManyRequests(busyMessage, 1)
    }
    const admitted: Admitted = { request, followed, lingersMs: 0 }
    this.#requests.set(exchange, admitted)
    response.on('close', () => {
      timer.cancel()
      this.#leave(exchange)
    })
    if (outcome === 'seated') {
      admitted.lingersMs = work.lingersMs
      followed?.begins()
      begin()
      return
    }
    followed?.waits()
    const waiting = this.#clock.setTimer(seatWaitMs, () => {
      followed?.refused('time-out')
      this.#leave(exchange)
      refuse(tooManyRequests(busyMessage, 1))
    })
    timer.cancel = () => waiting.cancel()
  }

  /** What goes on for long by nature needs no seat once it has begun. */
  becomesLong(exchange: Exchange): void {
    this.#leave(exchange)
  }

  #leave(exchange: Exchange): void {
    const found = this.#requests.get(exchange)
    if (found === undefined) return
    const { request, followed, lingersMs } = found
    this.#requests.delete(exchange)
    const giveBack = (): void => {
      this.#flowControl.leave(request)
      followed?.ends()
    }
    if (lingersMs === 0) {
      giveBack()
      return
    }
    // Its watchers are being told.
    followed?.lingers()
    this.#clock.setTimer(lingersMs, giveBack)
  }
}

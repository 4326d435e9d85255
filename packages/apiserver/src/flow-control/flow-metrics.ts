import type { Clock, Counter, Gauge, Histogram, Metric, MetricsRegistry } from '@coracle/environment'
import type { FlowControl } from './flow-control.ts'
import { TimedRatio } from './timed-ratio.ts'

const labels = ['priority_level', 'flow_schema'] as const
type Label = (typeof labels)[number]
type Labels = Readonly<Record<Label, string>>
type Phase = 'waiting' | 'executing'

/** Why a request got no seat, as upstream names it. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out'

/** What flow control has to do with. */
export interface FlowRequest {
  readonly schema: string
  readonly level: string
  /** Seats that it takes. */
  readonly seats: number
  /** How many watch what it writes; absent where it writes nothing that can be watched. */
  readonly watchers?: number | undefined
  /** Whether it waits for a seat where there is none. */
  readonly queues: boolean
  readonly isMutating: boolean
  readonly isWatch: boolean
}

/** A request on its way through flow control. */
export interface FollowedRequest {
  waits(): void
  /** Has its seat, or needs none. */
  begins(): void
  refused(reason: Rejection): void
  /** It is its turn, and there are too few seats for it. */
  isShort(): void
  /** Is answered, and keeps its seats for a while. */
  lingers(): void
  /** Gives its seats back, or waits no longer. */
  ends(): void
}

const secondsBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const seatBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const requestBuckets = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const readWriteBuckets = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const demandBuckets = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]

/** How a level is used over time. */
interface LevelRatios {
  readonly seats: TimedRatio
  readonly demand: TimedRatio
  readonly requests: Readonly<Record<Phase, TimedRatio>>
}

const workBuckets = [1, 2, 4, 8, 16, 32, 64, 100]
const watcherBuckets = [0, 1, 10, 100, 1000, 10_000]

/** What flow control has done and does, under the names of upstream (apiserver, util/flowcontrol/metrics). */
export class FlowMetrics {
  readonly #clock: Clock
  readonly #flowControl: Pick<FlowControl, 'limitsOf'>
  readonly #dispatched: Metric<Label, Counter>
  readonly #rejected: Metric<Label | 'reason', Counter>
  readonly #short: Metric<Label, Counter>
  readonly #estimated: Metric<Label, Histogram>
  readonly #watchers: Metric<Label, Histogram>
  readonly #now: Readonly<Record<Phase, Readonly<Record<'requests' | 'seats', Metric<Label, Gauge>>>>>
  readonly #waitSeconds: Metric<Label | 'execute', Histogram>
  readonly #executionSeconds: Metric<Label | 'type', Histogram>
  readonly #seatUtilization: Metric<'phase' | 'priority_level', Histogram>
  readonly #requestUtilization: Metric<'phase' | 'priority_level', Histogram>
  readonly #demand: Metric<'priority_level', Histogram>
  readonly #levels = new Map<string, LevelRatios>()
  readonly #readWrite: Readonly<Record<Phase, readonly [readOnly: TimedRatio, mutating: TimedRatio]>>
  /** Ends what looks at the levels. */
  readonly close: () => void

  constructor(metrics: MetricsRegistry, flowControl: Pick<FlowControl, 'levels' | 'limitsOf'>, clock: Clock) {
    this.#clock = clock
    this.#flowControl = flowControl
    const named = (name: string, help: string) => ({ name: `apiserver_flowcontrol_${name}`, help, labels })
    const byLevel = ['priority_level'] as const
    const phased = ['phase', 'priority_level'] as const
    this.#dispatched = metrics.counter(
      named(
        'dispatched_requests_total',
        'Requests that flow control has let through; those of the group system:masters are not counted.',
      ),
    )
    this.#rejected = metrics.counter({
      ...named('rejected_requests_total', 'Requests that flow control has refused, and why.'),
      labels: [...labels, 'reason'],
    })
    this.#short = metrics.counter(
      named('request_dispatch_no_accommodation_total', 'How often there were too few seats for who was next.'),
    )
    this.#estimated = metrics.histogram({
      ...named('work_estimated_seats', 'How many seats requests were estimated to take.'),
      buckets: workBuckets,
    })
    this.#watchers = metrics.histogram({
      ...named('watch_count_samples', 'How many watched what a request was about to write.'),
      buckets: watcherBuckets,
    })
    this.#now = {
      executing: {
        requests: metrics.gauge(named('current_executing_requests', 'Requests that are being answered.')),
        seats: metrics.gauge(
          named(
            'current_executing_seats',
            'Seats of requests that are being answered, or whose watchers are being told.',
          ),
        ),
      },
      waiting: {
        requests: metrics.gauge(named('current_inqueue_requests', 'Requests that wait for a seat.')),
        seats: metrics.gauge(named('current_inqueue_seats', 'Seats that are waited for.')),
      },
    }
    this.#waitSeconds = metrics.histogram({
      ...named(
        'request_wait_duration_seconds',
        'How long requests of levels with queues waited, and whether they were let in at all.',
      ),
      labels: [...labels, 'execute'],
      buckets: secondsBuckets,
    })
    this.#executionSeconds = metrics.histogram({
      ...named('request_execution_seconds', 'How long requests had their seat.'),
      labels: [...labels, 'type'],
      buckets: secondsBuckets,
    })
    this.#seatUtilization = metrics.histogram({
      ...named(
        'priority_level_seat_utilization',
        'The part of its seats that a level used, at the end of each nanosecond.',
      ),
      labels: phased,
      buckets: seatBuckets,
    })
    this.#requestUtilization = metrics.histogram({
      ...named(
        'priority_level_request_utilization',
        'Requests of a level as a part of how many there may be, at the end of each nanosecond.',
      ),
      labels: phased,
      buckets: requestBuckets,
    })
    this.#demand = metrics.histogram({
      ...named('demand_seats', 'The seats a level could use as a part of those it has, at the end of each nanosecond.'),
      labels: byLevel,
      buckets: demandBuckets,
    })
    const readWrite = metrics.histogram({
      ...named('read_vs_write_current_requests', 'Requests that read and that write, at the end of each nanosecond.'),
      labels: ['phase', 'request_kind'],
      buckets: readWriteBuckets,
    })
    const pair = (phase: Phase) =>
      [
        new TimedRatio(readWrite.with({ phase, request_kind: 'readOnly' }), clock),
        new TimedRatio(readWrite.with({ phase, request_kind: 'mutating' }), clock),
      ] as const
    this.#readWrite = { waiting: pair('waiting'), executing: pair('executing') }
    const gauge = (name: string, help: string) => metrics.gauge({ ...named(name, help), labels: byLevel })
    const nominal = gauge('nominal_limit_seats', 'The seats of each level, without those that it borrows.')
    const lower = gauge('lower_limit_seats', 'The seats of each level that it lends to nobody.')
    const upper = gauge('upper_limit_seats', 'The seats of each level, with all that it may borrow.')
    this.close = metrics.onCollect(() => {
      for (const level of flowControl.levels()) {
        const named = { priority_level: level.name }
        nominal.with(named).set(level.nominal)
        lower.with(named).set(level.reserved)
        upper.with(named).set(level.most)
        this.#ratiosOf(level.name)
      }
      for (const { seats, demand, requests } of this.#levels.values())
        for (const each of [seats, demand, requests.waiting, requests.executing]) each.observe()
      for (const each of [...this.#readWrite.waiting, ...this.#readWrite.executing]) each.observe()
    })
  }

  /** Follows a request that flow control has been asked about. */
  follow(request: FlowRequest): FollowedRequest {
    const names: Labels = { priority_level: request.level, flow_schema: request.schema }
    const startedMs = this.#clock.monotonicMs()
    let phase: Phase | undefined
    let beganMs = startedMs
    let seatsOf: Phase | undefined
    const enterWithSeats = (next: Phase | undefined): void => {
      if (seatsOf !== undefined) this.#changeSeats(request, names, seatsOf, -request.seats)
      seatsOf = next
      if (seatsOf !== undefined) this.#changeSeats(request, names, seatsOf, request.seats)
    }
    const enter = (next: Phase | undefined): void => {
      if (phase !== undefined) this.#change(request, names, phase, -1)
      phase = next
      if (phase !== undefined) this.#change(request, names, phase, 1)
    }
    this.#estimated.with(names).observe(request.seats)
    if (request.watchers !== undefined) this.#watchers.with(names).observe(request.watchers)
    const waited = (execute: boolean): void => {
      if (!request.queues) return
      const seconds = (this.#clock.monotonicMs() - startedMs) / 1000
      this.#waitSeconds.with({ ...names, execute: String(execute) }).observe(seconds)
    }
    const isAnswered = (): void => {
      if (phase === 'executing') {
        const type = request.isWatch ? 'watch' : 'regular'
        this.#executionSeconds.with({ ...names, type }).observe((this.#clock.monotonicMs() - beganMs) / 1000)
      }
      enter(undefined)
    }
    return {
      waits: () => {
        enter('waiting')
        enterWithSeats('waiting')
      },
      begins: () => {
        waited(true)
        this.#dispatched.with(names).inc()
        beganMs = this.#clock.monotonicMs()
        enter('executing')
        enterWithSeats('executing')
      },
      isShort: () => this.#short.with(names).inc(),
      refused: (reason) => {
        // As upstream: only what found no place to wait was not to be executed.
        waited(phase === 'waiting')
        this.#rejected.with({ ...names, reason }).inc()
        enter(undefined)
        enterWithSeats(undefined)
      },
      lingers: () => isAnswered(),
      ends: () => {
        if (phase === 'waiting') waited(true)
        isAnswered()
        enterWithSeats(undefined)
      },
    }
  }

  #change({ level, isMutating }: FlowRequest, names: Labels, phase: Phase, change: 1 | -1): void {
    this.#now[phase].requests.with(names).inc(change)
    this.#ratiosOf(level).requests[phase].add(change)
    this.#readWrite[phase][isMutating ? 1 : 0].add(change)
  }

  #changeSeats({ level }: FlowRequest, names: Labels, phase: Phase, change: number): void {
    this.#now[phase].seats.with(names).inc(change)
    const { seats, demand } = this.#ratiosOf(level)
    demand.add(change)
    if (phase === 'executing') seats.add(change)
  }

  /** With the denominators that it has now. */
  #ratiosOf(level: string): LevelRatios {
    let ratios = this.#levels.get(level)
    if (ratios === undefined) {
      const of = (histogram: Histogram) => new TimedRatio(histogram, this.#clock)
      const phase = (name: Phase) => of(this.#requestUtilization.with({ phase: name, priority_level: level }))
      ratios = {
        seats: of(this.#seatUtilization.with({ phase: 'executing', priority_level: level })),
        demand: of(this.#demand.with({ priority_level: level })),
        requests: { waiting: phase('waiting'), executing: phase('executing') },
      }
      this.#levels.set(level, ratios)
    }
    const { seats, places } = this.#flowControl.limitsOf(level)
    ratios.seats.setDenominator(seats)
    ratios.demand.setDenominator(seats)
    ratios.requests.executing.setDenominator(seats)
    ratios.requests.waiting.setDenominator(places)
    return ratios
  }
}

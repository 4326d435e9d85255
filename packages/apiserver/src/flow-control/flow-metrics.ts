import type { Counter, Metric, MetricsRegistry } from '@coracle/environment'
import type { FlowControl } from './flow-control.ts'

const labels = ['flow_schema', 'priority_level'] as const
type Labels = Readonly<Record<(typeof labels)[number], string>>

/** Why a request got no seat, as upstream names it. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out'

/** What flow control has done and does, under the names of upstream (apiserver, util/flowcontrol/metrics). */
export class FlowMetrics {
  readonly #dispatched: Metric<(typeof labels)[number], Counter>
  readonly #rejected: Metric<(typeof labels)[number] | 'reason', Counter>
  /** Ends what looks at the levels. */
  readonly close: () => void

  constructor(metrics: MetricsRegistry, flowControl: FlowControl) {
    this.#dispatched = metrics.counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Requests that flow control has let through, by schema and level; those of the group system:masters are not counted.',
      labels,
    })
    this.#rejected = metrics.counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Requests that flow control has refused, by schema, level and why.',
      labels: [...labels, 'reason'],
    })
    const byLevel = ['priority_level'] as const
    const seated = metrics.gauge({
      name: 'apiserver_flowcontrol_current_executing_seats',
      help: 'Requests of each level that are being answered.',
      labels: byLevel,
    })
    const waiting = metrics.gauge({
      name: 'apiserver_flowcontrol_current_inqueue_requests',
      help: 'Requests of each level that wait for a seat.',
      labels: byLevel,
    })
    const nominal = metrics.gauge({
      name: 'apiserver_flowcontrol_nominal_limit_seats',
      help: 'The seats of each level, without those that it borrows.',
      labels: byLevel,
    })
    this.close = metrics.onCollect(() => {
      for (const level of flowControl.levels()) {
        const named = { priority_level: level.name }
        seated.with(named).set(level.seated)
        waiting.with(named).set(level.waiting)
        nominal.with(named).set(level.nominal)
      }
    })
  }

  dispatched(names: Labels): void {
    this.#dispatched.with(names).inc()
  }

  rejected(names: Labels, reason: Rejection): void {
    this.#rejected.with({ ...names, reason }).inc()
  }
}

import { createMetricsRegistry, VirtualClock } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { FlowMetrics, type FlowRequest } from './flow-metrics.ts'
import { TimedRatio } from './timed-ratio.ts'

let clock: VirtualClock
let metrics: ReturnType<typeof createMetricsRegistry>
beforeEach(() => {
  clock = new VirtualClock()
  metrics = createMetricsRegistry()
})

/** Lines of a metric of flow control, without its name. */
const lines = (name: string): readonly string[] => {
  const whole = `apiserver_flowcontrol_${name}`
  return metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith(`${whole}{`) || line.startsWith(`${whole}_`))
    .map((line) => line.slice(whole.length))
}
const secondNs = 1e9

describe('a ratio over time', () => {
  it('is in each bucket for as many nanoseconds as it was so high', async () => {
    const ratio = new TimedRatio(metrics.histogram({ name: 'r', help: 'R.', buckets: [0, 0.5, 1] }).with({}), clock)
    ratio.setDenominator(4)
    await clock.advance('1s')
    ratio.add(2)
    await clock.advance('2s')
    ratio.add(2)
    await clock.advance('3s')
    ratio.setDenominator(2)
    await clock.advance('4s')
    ratio.observe()
    expect(metrics.text().split('\n').slice(2, -1)).toEqual([
      `r_bucket{le="0"} ${secondNs}`,
      `r_bucket{le="0.5"} ${3 * secondNs}`,
      `r_bucket{le="1"} ${6 * secondNs}`,
      `r_bucket{le="+Inf"} ${10 * secondNs}`,
      `r_sum ${(2 * 0.5 + 3 * 1 + 4 * 2) * secondNs}`,
      `r_count ${10 * secondNs}`,
    ])
  })
})

describe('what flow control does', () => {
  const share = { nominal: 2, reserved: 1, most: 5 }
  const start = () =>
    new FlowMetrics(
      metrics,
      {
        levels: () => [{ name: 'low', ...share, seated: 0, waiting: 0 }],
        limitsOf: () => ({ seats: share.nominal, places: 10 }),
      },
      clock,
    )
  const request: FlowRequest = { schema: 's', level: 'low', seats: 1, queues: true, isMutating: false, isWatch: false }
  const both = '{priority_level="low",flow_schema="s"}'

  it('shows who has a seat and who waits, by level and schema', () => {
    const flow = start()
    const [first, second] = [flow.follow(request), flow.follow(request)]
    first.begins()
    second.waits()
    for (const name of [
      'current_executing_requests',
      'current_executing_seats',
      'current_inqueue_requests',
      'current_inqueue_seats',
    ])
      expect(lines(name)).toEqual([`${both} 1`])
    first.ends()
    second.begins()
    expect(lines('current_executing_seats')).toEqual([`${both} 1`])
    expect(lines('current_inqueue_seats')).toEqual([`${both} 0`])
    second.ends()
    second.ends()
    expect(lines('current_executing_seats')).toEqual([`${both} 0`])
    expect(lines('dispatched_requests_total')).toEqual([`${both} 2`])
  })

  it('tells seats from requests: one may take several, and keep them when it is answered', () => {
    const flow = start()
    const [first, second] = [3, 2].map((seats) => flow.follow({ ...request, seats, watchers: seats * 10 }))
    first?.begins()
    second?.waits()
    second?.isShort()
    expect(lines('current_executing_seats')).toEqual([`${both} 3`])
    expect(lines('current_inqueue_seats')).toEqual([`${both} 2`])
    first?.lingers()
    expect(lines('current_executing_requests')).toEqual([`${both} 0`])
    expect(lines('current_executing_seats')).toEqual([`${both} 3`])
    expect(lines('request_execution_seconds').at(-1)).toContain('} 1')
    first?.ends()
    second?.ends()
    expect([...lines('current_executing_seats'), ...lines('current_inqueue_seats')]).toEqual([`${both} 0`, `${both} 0`])
    expect(lines('request_execution_seconds').at(-1)).toContain('} 1')
    expect(lines('request_dispatch_no_accommodation_total')).toEqual([`${both} 1`])
    const count = (name: string, bound: number) =>
      lines(name).find((line) => line.startsWith(`_bucket{priority_level="low",flow_schema="s",le="${bound}"}`))
    expect([count('work_estimated_seats', 2), count('work_estimated_seats', 4)].map((line) => line?.at(-1))).toEqual([
      '1',
      '2',
    ])
    expect([count('watch_count_samples', 10), count('watch_count_samples', 100)].map((line) => line?.at(-1))).toEqual([
      '0',
      '2',
    ])
  })

  it('takes how long a level used how many of its seats, and could use more', async () => {
    const flow = start()
    const [first, second, third] = [0, 1, 2].map(() => flow.follow({ ...request, isMutating: true }))
    first?.begins()
    await clock.advance('1s')
    second?.begins()
    third?.waits()
    await clock.advance('2s')
    const seats = '_bucket{phase="executing",priority_level="low",le='
    expect(lines('priority_level_seat_utilization')).toContain(`${seats}"0.5"} ${secondNs}`)
    expect(lines('priority_level_seat_utilization')).toContain(`${seats}"1"} ${3 * secondNs}`)
    expect(lines('demand_seats')).toContain(`_bucket{priority_level="low",le="1.4"} ${secondNs}`)
    expect(lines('demand_seats')).toContain(`_bucket{priority_level="low",le="1.7"} ${3 * secondNs}`)
    const waiting = '_bucket{phase="waiting",priority_level="low",le='
    expect(lines('priority_level_request_utilization')).toContain(`${waiting}"0.03"} ${secondNs}`)
    expect(lines('priority_level_request_utilization')).toContain(`${waiting}"0.1"} ${3 * secondNs}`)
    expect(lines('read_vs_write_current_requests')).toContain(
      `_sum{phase="executing",request_kind="mutating"} ${5 * secondNs}`,
    )
    expect(lines('read_vs_write_current_requests')).toContain(`_sum{phase="executing",request_kind="readOnly"} 0`)
  })

  it('takes how long requests waited and how long they had their seat', async () => {
    const flow = start()
    await clock.advance('7s')
    const watch = flow.follow({ ...request, isWatch: true })
    watch.waits()
    await clock.advance('2s')
    watch.begins()
    await clock.advance('3s')
    watch.ends()
    expect(lines('request_wait_duration_seconds')).toContain(
      '_sum{priority_level="low",flow_schema="s",execute="true"} 2',
    )
    expect(lines('request_execution_seconds')).toContain('_sum{priority_level="low",flow_schema="s",type="watch"} 3')
    flow.follow({ ...request, queues: false }).refused('concurrency-limit')
    expect(lines('request_wait_duration_seconds').join()).not.toContain('"false"')
    const late = flow.follow(request)
    late.waits()
    late.refused('time-out')
    flow.follow(request).refused('queue-full')
    expect(lines('rejected_requests_total')).toEqual(
      ['concurrency-limit', 'time-out', 'queue-full'].map((reason) => `${both.slice(0, -1)},reason="${reason}"} 1`),
    )
    expect(lines('request_wait_duration_seconds')).toContain(
      '_count{priority_level="low",flow_schema="s",execute="false"} 1',
    )
    expect(lines('current_inqueue_requests')).toEqual([`${both} 0`])
  })

  it('takes of a request whose client goes how long it waited, and nothing of one that was not asked about', async () => {
    const flow = start()
    const impatient = flow.follow(request)
    impatient.waits()
    await clock.advance('2s')
    impatient.ends()
    flow.follow(request).ends()
    expect(lines('request_wait_duration_seconds').filter((line) => /^_(sum|count)/.test(line))).toEqual([
      '_sum{priority_level="low",flow_schema="s",execute="true"} 2',
      '_count{priority_level="low",flow_schema="s",execute="true"} 1',
    ])
    expect(lines('request_execution_seconds').join()).not.toContain('_count')
    expect(lines('current_inqueue_requests')).toEqual([`${both} 0`])
  })

  it('takes how long a request that is no watch had its seat', async () => {
    const regular = start().follow(request)
    regular.begins()
    await clock.advance('3s')
    regular.ends()
    expect(lines('request_execution_seconds')).toContain('_sum{priority_level="low",flow_schema="s",type="regular"} 3')
  })

  it('shows the limits of each level', () => {
    start()
    const of = (name: string) => lines(name)
    expect(of('nominal_limit_seats')).toEqual(['{priority_level="low"} 2'])
    expect(of('lower_limit_seats')).toEqual(['{priority_level="low"} 1'])
    expect(of('upper_limit_seats')).toEqual(['{priority_level="low"} 5'])
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMetricsRegistry, metricSeriesMax } from './metrics.ts'
import { collectProcessMetrics } from './process-metrics.ts'

describe('metrics', () => {
  it('are written in the text format of Prometheus, by name', () => {
    const metrics = createMetricsRegistry()
    const requests = metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['code', 'method'] })
    requests.with({ code: '200', method: 'GET' }).inc()
    requests.with({ code: '200', method: 'GET' }).inc(2)
    requests.with({ code: '404', method: 'PUT' }).inc()
    const depth = metrics.gauge({ name: 'depth', help: 'What waits.' }).with({})
    depth.set(5)
    depth.inc()
    depth.dec(3)
    expect(metrics.text()).toBe(
      [
        '# HELP depth What waits.',
        '# TYPE depth gauge',
        'depth 3',
        '# HELP requests_total Requests.',
        '# TYPE requests_total counter',
        'requests_total{code="200",method="GET"} 3',
        'requests_total{code="404",method="PUT"} 1',
        '',
      ].join('\n'),
    )
  })

  it('count from zero where they have no labels', () => {
    const metrics = createMetricsRegistry()
    metrics.counter({ name: 'errors_total', help: 'Errors.' })
    expect(metrics.text()).toContain('errors_total 0\n')
  })

  it('count from zero again when they are reset, but for gauges and what has no labels', () => {
    const metrics = createMetricsRegistry()
    const labels = ['a'] as const
    const counter = metrics.counter({ name: 'counted_total', help: 'C.', labels }).with({ a: '1' })
    const histogram = metrics.histogram({ name: 'spread', help: 'H.', labels, buckets: [1] }).with({ a: '1' })
    const gauge = metrics.gauge({ name: 'held', help: 'G.', labels }).with({ a: '1' })
    const plain = metrics.counter({ name: 'plain_total', help: 'P.' }).with({})
    for (const each of [counter, gauge, plain]) each.inc(3)
    histogram.observe(1, 3)
    metrics.reset()
    counter.inc()
    histogram.observe(2)
    expect(
      metrics
        .text()
        .split('\n')
        .filter((line) => !line.startsWith('#')),
    ).toEqual([
      'counted_total{a="1"} 1',
      'held{a="1"} 3',
      'plain_total 3',
      'spread_bucket{a="1",le="1"} 0',
      'spread_bucket{a="1",le="+Inf"} 1',
      'spread_sum{a="1"} 2',
      'spread_count{a="1"} 1',
      '',
    ])
  })

  it('escape what would break a line', () => {
    const metrics = createMetricsRegistry()
    metrics
      .gauge({ name: 'g', help: 'a\\b\nc', labels: ['x'] })
      .with({ x: 'a"b\\c\nd' })
      .set(Number.POSITIVE_INFINITY)
    expect(metrics.text()).toBe('# HELP g a\\\\b\\nc\n# TYPE g gauge\ng{x="a\\"b\\\\c\\nd"} +Inf\n')
  })

  it('count the values of a histogram up to each bound, the bound included', () => {
    const metrics = createMetricsRegistry()
    const seconds = metrics.histogram({ name: 's', help: 'S.', labels: ['of'], buckets: [0.1, 1] }).with({ of: 'x' })
    for (const value of [0.05, 0.1, 3]) seconds.observe(value)
    seconds.observe(0.25, 2)
    expect(metrics.text().split('\n').slice(2, -1)).toEqual([
      's_bucket{of="x",le="0.1"} 2',
      's_bucket{of="x",le="1"} 4',
      's_bucket{of="x",le="+Inf"} 5',
      's_sum{of="x"} 3.65',
      's_count{of="x"} 5',
    ])
  })

  it('put every value into the first bucket that holds it', () => {
    const bounds = fc.uniqueArray(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), {
      minLength: 1,
      maxLength: 20,
      comparator: 'IsStrictlyEqual',
    })
    fc.assert(
      fc.property(bounds, fc.double({ noNaN: true, min: -1e7, max: 1e7 }), (unsorted, value) => {
        const buckets = unsorted.toSorted((a, b) => a - b)
        const metrics = createMetricsRegistry()
        metrics.histogram({ name: 'h', help: 'H.', buckets }).with({}).observe(value)
        const counts = [...metrics.text().matchAll(/h_bucket\{.*\} (\d)/g)].map(([, count]) => Number(count))
        expect(counts).toEqual([...buckets.map((bound) => (value <= bound ? 1 : 0)), 1])
      }),
    )
  })

  it('are the same for the same name, and refuse another shape', () => {
    const metrics = createMetricsRegistry()
    const options = { name: 'a_total', help: 'A.', labels: ['x'] as const }
    metrics.counter(options).with({ x: '1' }).inc()
    metrics.counter(options).with({ x: '1' }).inc()
    expect(metrics.text()).toContain('a_total{x="1"} 2')
    expect(() => metrics.gauge(options)).toThrow('there is another metric "a_total" already')
    expect(() => metrics.counter({ ...options, labels: ['y'] })).toThrow('another metric')
    expect(() => metrics.counter({ name: 'no name', help: '' })).toThrow('not a name of a metric: "no name"')
    expect(() => metrics.histogram({ name: 'h', help: '', buckets: [2, 1] })).toThrow('must ascend')
  })

  it('are computed when they are read, for as long as somebody wants that', () => {
    const metrics = createMetricsRegistry()
    const gauge = metrics.gauge({ name: 'g', help: 'G.' }).with({})
    let value = 1
    const end = metrics.onCollect(() => gauge.set(value))
    expect(metrics.text()).toContain('g 1\n')
    value = 2
    end()
    expect(metrics.text()).toContain('g 1\n')
  })

  it('are waited for where it takes time to compute them', async () => {
    const metrics = createMetricsRegistry()
    const gauge = metrics.gauge({ name: 'g', help: 'G.' }).with({})
    metrics.onCollect(async () => {
      await Promise.resolve()
      gauge.set(7)
    })
    expect(metrics.text()).toContain('g 0\n')
    expect(await metrics.collected()).toContain('g 7\n')
  })

  it('forget a series, and keep no more of them than there may be', () => {
    const metrics = createMetricsRegistry()
    const counter = metrics.counter({ name: 'c_total', help: 'C.', labels: ['x'] })
    for (let index = 0; index <= metricSeriesMax; index++) counter.with({ x: String(index) }).inc()
    expect(metrics.text().split('\n')).toHaveLength(metricSeriesMax + 3)
    counter.remove({ x: '0' })
    expect(metrics.text()).not.toContain('x="0"')
  })
})

describe('metrics of the process', () => {
  it('are its CPU time and memory, as they are when they are read', () => {
    const metrics = createMetricsRegistry()
    collectProcessMetrics(metrics)
    const value = (name: string) => Number(metrics.text().match(new RegExp(`^${name} (.*)$`, 'm'))?.[1])
    const before = value('process_cpu_seconds_total')
    expect(before).toBeCloseTo((process.cpuUsage().user + process.cpuUsage().system) / 1e6, 0)
    expect(value('process_cpu_seconds_total')).toBeGreaterThanOrEqual(before)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(value('nodejs_heap_size_used_bytes') / 2)
    expect(value('process_virtual_memory_bytes')).toBeGreaterThan(value('process_resident_memory_bytes') / 2)
    expect(value('process_open_fds')).toBeGreaterThan(2)
    expect(value('process_max_fds')).not.toBe(0)
    expect(value('process_start_time_seconds')).toBeGreaterThan(1.7e9)
  })
})

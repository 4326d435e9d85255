import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus, MetricSpec, Scale } from '@coracle/api'
import { deployments } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { firstMemory, type Memory } from './memory.ts'
import { needsMetrics, type ObservedAutoscaler, planAutoscaler, refusedStatus } from './plan.ts'
import type { Reading } from './readings.ts'
import { emptySelector, unreadableSelector } from './selector-problems.ts'
import { nextLookMs } from './turns.ts'

type Spec = HorizontalPodAutoscaler['spec']

const byCpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
}
const byQueue: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } },
}

function autoscaler(
  spec: Partial<Spec> = {},
  status: Partial<HorizontalPodAutoscalerStatus> = {},
): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'default', name: 'web', generation: 4 },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [byCpu],
      ...spec,
    },
    status: { desiredReplicas: 0, ...status },
  }
}

const scaleOf = (replicas: number): Scale => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { namespace: 'default', name: 'web', resourceVersion: '7' },
  spec: { replicas },
  status: { replicas, selector: 'app=web' },
})

const cpuPod = (name: string) => {
  const base = pod(name, { readyFor: 600 })
  const containers = [{ name: 'web', image: 'web', resources: { requests: { cpu: '1' } } }]
  return { ...base, spec: { containers }, status: { ...base.status, startTime: secondsAgo(600) } } as typeof base
}

/** All pods use this much of the CPU that they request. */
const usage = (replicas: number, percent: number): Reading => ({
  pods: new Map(
    Array.from({ length: replicas }, (_, index) => [
      `p${index}`,
      { millis: percent * 10, atMs: startMs, windowMs: 15_000 },
    ]),
  ),
})

interface Given {
  readonly spec?: Partial<Spec>
  readonly status?: Partial<HorizontalPodAutoscalerStatus>
  readonly replicas?: number
  readonly memory?: Memory
  readonly readings?: readonly Reading[]
  readonly more?: Partial<ObservedAutoscaler>
}

/** What is decided with so many replicas. */
function plan({ spec, status, replicas = 3, memory, readings = [], more }: Given) {
  const workload = { pods: Array.from({ length: replicas }, (_, index) => cpuPod(`p${index}`)), readings }
  const target = { resource: deployments, scale: scaleOf(replicas) }
  const observed = { autoscaler: autoscaler(spec, status), target, workload, memory, ...more }
  const result = planAutoscaler(observed, startMs)
  const scaled = result.actions.flatMap((action) =>
    action.type === 'update' ? [(action.object as Scale).spec?.replicas] : [],
  )
  const events = result.actions.flatMap((action) =>
    action.type === 'event' ? [`${action.reason}: ${action.message}`] : [],
  )
  const conditions = Object.fromEntries(
    (result.status?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}: ${each.message}`]),
  )
  return { ...result, scaled, events, conditions }
}

/** Recommendations of so many seconds ago, newest last. */
const recommended = (...past: readonly (readonly [secondsAgo: number, replicas: number])[]): Memory => ({
  recommendations: past.map(([ago, replicas]) => ({ replicas, atMs: startMs - ago * 1000 })),
  scaleUps: [],
  scaleDowns: [],
})

describe('the count', () => {
  it('grows to what the metric asks for', () => {
    const { scaled, status, actions, conditions } = plan({ readings: [usage(3, 80)] })
    expect(scaled).toEqual([5])
    expect(actions.at(-1)).toMatchObject({
      type: 'update',
      subresource: 'scale',
      object: { metadata: { namespace: 'default', name: 'web' } },
      events: {
        succeeded: {
          reason: 'SuccessfulRescale',
          message: 'New size: 5; reason: cpu resource utilization (percentage of request) above target',
        },
        failed: {
          reason: 'FailedRescale',
          message: 'New size: 5; reason: cpu resource utilization (percentage of request) above target; error: {error}',
        },
      },
    })
    // What else changes of the target meanwhile is no obstacle.
    expect((actions.at(-1) as { readonly object?: Scale }).object?.metadata).not.toHaveProperty('resourceVersion')
    expect(status).toMatchObject({
      currentReplicas: 3,
      desiredReplicas: 5,
      lastScaleTime: secondsAgo(0),
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } },
      ],
    })
    expect(conditions).toEqual({
      AbleToScale: 'True SucceededRescale: the HPA controller was able to update the target scale to 5',
      ScalingActive:
        'True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
      ScalingLimited: 'False DesiredWithinRange: the desired count is within the acceptable range',
    })
  })

  it('stays, and says so, and keeps the time of the last change', () => {
    const last = '2025-12-31T00:00:00Z'
    const { scaled, status, conditions, requeueAfterMs } = plan({
      readings: [usage(3, 50)],
      status: { lastScaleTime: last },
    })
    expect([scaled, status?.desiredReplicas, status?.lastScaleTime, requeueAfterMs]).toEqual([[], 3, last, 15_000])
    expect(conditions.AbleToScale).toBe('True ReadyForNewScale: recommended size matches current size')
  })

  it('shrinks when the window is over', () => {
    const { scaled, actions } = plan({ replicas: 4, readings: [usage(4, 10)], memory: recommended([301, 4], [200, 1]) })
    expect(scaled).toEqual([1])
    expect(actions.at(-1)).toMatchObject({
      events: { succeeded: { message: 'New size: 1; reason: All metrics below target' } },
    })
  })

  it.each<[string, Given, readonly number[], string]>([
    [
      'the most that was asked for within five minutes holds it',
      { replicas: 4, readings: [usage(4, 10)], memory: recommended([299, 3], [200, 1]) },
      [3],
      'True SucceededRescale: the HPA controller was able to update the target scale to 3',
    ],
    [
      'the count at the start holds it',
      { replicas: 4, readings: [usage(4, 10)] },
      [],
      'True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
    ],
    [
      'a window of growth holds it to the least that was asked for',
      {
        readings: [usage(3, 100)],
        spec: { behavior: withWindows(60, 300) },
        memory: recommended([59, 4], [30, 6]),
      },
      [4],
      'True SucceededRescale: the HPA controller was able to update the target scale to 4',
    ],
    [
      'a window of growth that asked for no more holds it',
      {
        readings: [usage(3, 100)],
        spec: { behavior: withWindows(60, 300) },
        memory: recommended([59, 2], [30, 6]),
      },
      [],
      'True ScaleUpStabilized: recent recommendations were lower than current one, applying the lowest recent recommendation',
    ],
    [
      'what is older than the window is forgotten',
      { readings: [usage(3, 100)], spec: { behavior: withWindows(60, 300) }, memory: recommended([60, 2], [59, 6]) },
      [6],
      'True SucceededRescale: the HPA controller was able to update the target scale to 6',
    ],
    [
      'no window of shrinking lets it shrink at once',
      { replicas: 4, readings: [usage(4, 10)], spec: { behavior: withWindows(0, 0) }, memory: recommended([1, 4]) },
      [1],
      'True SucceededRescale: the HPA controller was able to update the target scale to 1',
    ],
    [
      'the window of shrinking is five minutes where a behavior does not say',
      {
        replicas: 4,
        readings: [usage(4, 10)],
        spec: { behavior: { scaleUp: withWindows(0, 0).scaleUp, scaleDown: unlimited } },
        memory: recommended([299, 4]),
      },
      [],
      'True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
    ],
  ])('%s', (_what, given, scaled, ableToScale) => {
    const result = plan(given)
    expect([result.scaled, result.conditions.AbleToScale]).toEqual([scaled, ableToScale])
  })

  it.each<[string, Given, number, string]>([
    [
      'the most',
      { readings: [usage(3, 200)], spec: { maxReplicas: 4 } },
      4,
      'True TooManyReplicas: the desired replica count is more than the maximum replica count',
    ],
    [
      'the fewest',
      { readings: [usage(3, 1)], memory: recommended([400, 3]), spec: { minReplicas: 2 } },
      2,
      'True TooFewReplicas: the desired replica count is less than the minimum replica count',
    ],
    [
      'twice as many',
      { readings: [usage(3, 900)], spec: { maxReplicas: 50 } },
      6,
      'True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate',
    ],
    [
      'four',
      { replicas: 1, readings: [usage(1, 900)], spec: { maxReplicas: 50 } },
      4,
      'True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate',
    ],
    [
      'the most, before the rate',
      { readings: [usage(3, 900)], spec: { maxReplicas: 6 } },
      6,
      'True TooManyReplicas: the desired replica count is more than the maximum replica count',
    ],
  ])('is limited to %s', (_what, given, replicas, limited) => {
    const result = plan(given)
    expect([result.scaled, result.conditions.ScalingLimited]).toEqual([[replicas], limited])
  })

  it.each([
    ['above', 12, 10, 'Current number of replicas above Spec.MaxReplicas'],
    ['below', 2, 3, 'Current number of replicas below Spec.MinReplicas'],
  ])('is brought back from %s its bounds, whatever the metrics are', (_where, replicas, wanted, reason) => {
    const spec = { minReplicas: 3 }
    expect(needsMetrics(autoscaler(spec), scaleOf(replicas))).toBe(false)
    const { scaled, actions, events } = plan({ replicas, spec, more: { workload: undefined } })
    expect([scaled, events]).toEqual([[wanted], []])
    expect(actions[0]).toMatchObject({ events: { succeeded: { message: `New size: ${wanted}; reason: ${reason}` } } })
  })

  it.each([1, 10])('goes by the metrics at its bounds, too: with %d of 1 to 10', (replicas) => {
    expect(needsMetrics(autoscaler(), scaleOf(replicas))).toBe(true)
    const { conditions } = plan({ replicas, readings: [usage(replicas, 50)] })
    expect(conditions.ScalingActive).toMatch(/^True ValidMetricFound/)
  })

  it('grows to what was asked for lately, though no metric is above its target now', () => {
    const { actions } = plan({ readings: [usage(3, 50)], memory: recommended([100, 5]) })
    expect(actions.at(-1)).toMatchObject({
      because: 'the autoscaler wants 5 replicas',
      events: { succeeded: { message: 'New size: 5; reason: ' } },
    })
  })

  it('that was asked for lately gives way to its bounds, and the conditions say both', () => {
    const { scaled, conditions } = plan({
      spec: { maxReplicas: 3 },
      readings: [usage(3, 50)],
      memory: recommended([100, 5]),
    })
    expect(scaled).toEqual([])
    expect(conditions.AbleToScale).toMatch(/^True ScaleDownStabilized/)
    expect(conditions.ScalingLimited).toMatch(/^True TooManyReplicas/)
  })

  it.each<[string, Given]>([
    ['switched off', { replicas: 0 }],
    ['above its bounds', { replicas: 12 }],
    ['below its bounds', { replicas: 2, spec: { minReplicas: 3 } }],
  ])('shows no metrics while it is %s: none were read', (_what, given) => {
    const currentMetrics = [{ type: 'Resource' }]
    const { status } = plan({ ...given, status: { currentMetrics }, more: { workload: undefined } })
    expect(status).not.toHaveProperty('currentMetrics')
  })

  it('of zero switches scaling off', () => {
    expect(needsMetrics(autoscaler(), scaleOf(0))).toBe(false)
    const { actions, conditions, status } = plan({ replicas: 0, more: { workload: undefined } })
    expect([actions, status?.desiredReplicas]).toEqual([[], 0])
    expect(conditions.ScalingActive).toBe(
      'False ScalingDisabled: scaling is disabled since the replica count of the target is zero',
    )
  })

  it.each([
    [0, 25_000, 3],
    [1, 0, 0],
  ])('goes from %d by an external metric of %d thousandths to %d where zero is allowed', (replicas, millis, wanted) => {
    const spec = { minReplicas: 0, metrics: [byQueue] }
    expect(needsMetrics(autoscaler(spec), scaleOf(replicas))).toBe(true)
    const { scaled } = plan({ replicas, spec, readings: [{ millis }], memory: recommended([400, 1]) })
    expect(scaled).toEqual([wanted])
  })

  it('tolerates what a behavior says, in each direction', () => {
    const spec = {
      behavior: { scaleUp: { ...unlimited, tolerance: '0.5' }, scaleDown: { ...unlimited, tolerance: '0' } },
    }
    expect(plan({ spec, readings: [usage(3, 75)] }).scaled).toEqual([])
    expect(plan({ spec, readings: [usage(3, 76)] }).scaled).toEqual([5])
    expect(plan({ spec, readings: [usage(3, 33)], memory: recommended([400, 3]) }).scaled).toEqual([2])
  })
})

const unlimited = { selectPolicy: 'Max', policies: [{ type: 'Pods', value: 100, periodSeconds: 15 }] }

function withWindows(up: number, down: number) {
  return {
    scaleUp: { ...unlimited, stabilizationWindowSeconds: up },
    scaleDown: { ...unlimited, stabilizationWindowSeconds: down },
  }
}

describe('a load that is steady', () => {
  const steady = (replicas: number, spec: Partial<Spec> = {}) =>
    plan({ replicas, spec, status: { desiredReplicas: replicas }, more: { workload: 'steady' } })

  it('leaves the count as it is, whatever was measured, and warns of nothing', () => {
    expect(steady(3).actions).toEqual([])
  })

  it('shows what was measured last', () => {
    const currentMetrics = [{ type: 'Resource' }]
    const { status } = plan({ status: { currentMetrics }, more: { workload: 'steady' } })
    expect(status).toMatchObject({ currentMetrics, currentReplicas: 3, desiredReplicas: 3 })
  })

  it.each([
    ['more than there may be', 12, 10],
    ['fewer than there must be', 1, 2],
  ])('changes it where there are %s', (_, replicas, wanted) => {
    expect(steady(replicas, { minReplicas: 2 }).status?.desiredReplicas).toBe(wanted)
  })
})

describe('several metrics', () => {
  const spec = { metrics: [byCpu, byQueue] }
  const failure = { error: 'unable to fetch metrics from external metrics API: away' }
  const wholeFailure = `unable to get external metric default/queue/nil: ${failure.error}`

  it('ask for the most of what each asks for', () => {
    const { scaled, status, conditions } = plan({ spec, readings: [usage(3, 60), { millis: 61_000 }] })
    expect(scaled).toEqual([6])
    expect(status?.currentMetrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 60, averageValue: '600m' } } },
      { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '20334m' } } },
    ])
    expect(conditions.ScalingActive).toContain('from external metric queue(nil)')
  })

  it.each<[string, readonly Reading[], readonly number[], string]>([
    ['the first, where both ask for as many', [usage(3, 80), { millis: 50_000 }], [5], 'cpu resource utilization'],
    ['the first, where it asks for more', [usage(3, 80), { millis: 40_000 }], [5], 'cpu resource utilization'],
    ['the second, where it asks for more', [usage(3, 60), { millis: 50_000 }], [5], 'external metric queue'],
  ])('scale by %s', (_what, readings, scaled, metric) => {
    const result = plan({ spec, readings })
    expect(result.scaled).toEqual(scaled)
    expect(result.conditions.ScalingActive).toContain(`from ${metric}`)
    expect(result.actions.at(-1)?.because).toContain(`${metric}`)
  })

  it('are named by the last that asks for none, where all do', () => {
    const { conditions } = plan({ spec: { ...spec, minReplicas: 0 }, readings: [usage(3, 0), { millis: 0 }] })
    expect(conditions.ScalingActive).toContain('from external metric queue')
  })

  it('keep the count where one cannot be had, and the other asks for as many as there are', () => {
    const { scaled, conditions } = plan({ spec, readings: [usage(3, 50), failure] })
    expect(scaled).toEqual([])
    expect(conditions.ScalingActive).toMatch(/^True ValidMetricFound/)
  })

  it('cannot be had where they were not read', () => {
    expect(plan({ spec, readings: [usage(3, 50)] }).events).toEqual([expect.stringContaining('it was not read')])
    expect(plan({ more: { workload: undefined } }).events).toEqual([
      'FailedComputeMetricsReplicas: the metrics were not read',
    ])
  })

  it('make it grow where one cannot be had', () => {
    const { scaled, events, conditions, status, actions } = plan({ spec, readings: [usage(3, 80), failure] })
    expect(actions[0]).toMatchObject({ type: 'event', eventType: 'Warning' })
    expect([scaled, events]).toEqual([[5], [`FailedGetExternalMetric: ${wholeFailure}`]])
    expect(conditions.ScalingActive).toContain('True ValidMetricFound')
    expect(status?.currentMetrics?.[1]).toEqual({ type: '' })
  })

  it('do not make it shrink where one cannot be had', () => {
    const { scaled, events, conditions } = plan({
      spec,
      readings: [usage(3, 10), failure],
      memory: recommended([400, 3]),
    })
    expect(scaled).toEqual([])
    expect(events).toEqual([
      `FailedGetExternalMetric: ${wholeFailure}`,
      `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 2), first error is: failed to get queue external metric value: failed to get queue external metric: ${wholeFailure}`,
    ])
    expect(conditions.ScalingActive).toBe(
      `False FailedGetExternalMetric: the HPA was unable to compute the replica count: ${wholeFailure}`,
    )
  })

  it('keep it where none can be had, and tell the count', () => {
    const unread = { error: 'no metrics returned from resource metrics API' }
    const { scaled, status, events, conditions } = plan({
      readings: [unread],
      status: { desiredReplicas: 3, currentReplicas: 9 },
    })
    const why = `failed to get cpu utilization: unable to get metrics for resource cpu: ${unread.error}`
    expect([scaled, status?.currentReplicas, status?.desiredReplicas]).toEqual([[], 3, 3])
    expect(events).toEqual([
      `FailedGetResourceMetric: ${why}`,
      `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${why}`,
    ])
    expect(conditions).toEqual({
      AbleToScale: "True SucceededGetScale: the HPA controller was able to get the target's current scale",
      ScalingActive: `False FailedGetResourceMetric: the HPA was unable to compute the replica count: ${why}`,
    })
  })
})

describe('a metric of each kind', () => {
  const each: Reading = { pods: new Map([['p0', { millis: 30_000, atMs: startMs, windowMs: 0 }]]) }
  const selector = { matchLabels: { queue: 'mail', app: 'web' } }
  const shown =
    '&LabelSelector{MatchLabels:map[string]string{app: web,queue: mail,},MatchExpressions:[]LabelSelectorRequirement{},}'
  const described = { apiVersion: 'v1', kind: 'Service', name: 'web' }
  const ofOne = { type: 'AverageValue', averageValue: '1' }
  it.each<[string, MetricSpec, Reading, string, unknown]>([
    [
      'a container',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'web', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      usage(1, 100),
      'cpu container resource utilization (percentage of request)',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'web', current: { averageUtilization: 100, averageValue: '1' } },
      },
    ],
    [
      'an amount of a resource of a container',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'web', target: { type: 'AverageValue', averageValue: '500m' } },
      },
      usage(1, 100),
      'cpu resource',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'web', current: { averageValue: '1' } },
      },
    ],
    [
      'an amount of a resource',
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '500m' } } },
      usage(1, 100),
      'cpu resource',
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1' } } },
    ],
    [
      'an amount of memory',
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '16Mi' } } },
      { pods: new Map([['p0', { millis: 32 * 1024 * 1024 * 1000, atMs: startMs, windowMs: 0 }]]) },
      'memory resource',
      { type: 'Resource', resource: { name: 'memory', current: { averageValue: '32Mi' } } },
    ],
    [
      'pods',
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '15' } } },
      each,
      'pods metric qps',
      { type: 'Pods', pods: { metric: { name: 'qps' }, current: { averageValue: '30' } } },
    ],
    [
      'an object',
      {
        type: 'Object',
        object: { describedObject: described, metric: { name: 'qps' }, target: { type: 'Value', value: '15' } },
      },
      { millis: 30_000 },
      'Service metric qps',
      { type: 'Object', object: { describedObject: described, metric: { name: 'qps' }, current: { value: '30' } } },
    ],
    [
      'an object, shared by the pods',
      {
        type: 'Object',
        object: {
          describedObject: described,
          metric: { name: 'qps' },
          target: { type: 'AverageValue', averageValue: '15' },
        },
      },
      { millis: 30_000 },
      'external metric qps(nil)',
      {
        type: 'Object',
        object: { describedObject: described, metric: { name: 'qps' }, current: { averageValue: '30' } },
      },
    ],
    [
      'something outside',
      { type: 'External', external: { metric: { name: 'length', selector }, target: { type: 'Value', value: '15' } } },
      { millis: 30_000 },
      `external metric length(${shown})`,
      { type: 'External', external: { metric: { name: 'length', selector }, current: { value: '30' } } },
    ],
  ])('%s', (_what, metric, reading, name, current) => {
    const { scaled, status, actions } = plan({ replicas: 1, spec: { metrics: [metric] }, readings: [reading] })
    expect([scaled, status?.currentMetrics]).toEqual([[2], [current]])
    expect(actions.at(-1)).toMatchObject({
      events: { succeeded: { message: `New size: 2; reason: ${name} above target` } },
    })
  })

  it.each<[string, MetricSpec, string, string]>([
    [
      'FailedGetResourceMetric',
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } } },
      'failed to get cpu usage: unable to get metrics for resource cpu: away',
      'failed to get cpu resource metric value: ',
    ],
    [
      'FailedGetResourceMetric',
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Value', value: '1' } } },
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
      'failed to get cpu resource metric value: ',
    ],
    [
      'FailedGetContainerResourceMetric',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'web', target: { type: 'AverageValue', averageValue: '1' } },
      },
      'failed to get cpu usage: unable to get metrics for resource cpu: away',
      'failed to get web container metric value: ',
    ],
    [
      'FailedGetPodsMetric',
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '15' } } },
      'unable to get metric qps: away',
      'failed to get pods metric value: ',
    ],
    [
      'FailedGetObjectMetric',
      {
        type: 'Object',
        object: { describedObject: described, metric: { name: 'qps' }, target: { type: 'Value', value: '15' } },
      },
      'unable to get metric qps: Service on default web/away',
      'failed to get object metric value: ',
    ],
    [
      'FailedGetObjectMetric',
      {
        type: 'Object',
        object: {
          describedObject: described,
          metric: { name: 'qps' },
          target: { type: 'AverageValue', averageValue: '15' },
        },
      },
      'unable to get metric qps: Service on default web/away',
      'failed to get object metric value: failed to get qps object metric: ',
    ],
    [
      'FailedGetExternalMetric',
      { type: 'External', external: { metric: { name: 'length', selector }, target: { type: 'Value', value: '15' } } },
      `unable to get external metric default/length/${shown}: away`,
      'failed to get length external metric value: failed to get external metric length: ',
    ],
    [
      'FailedGetExternalMetric',
      byQueue,
      'unable to get external metric default/queue/nil: away',
      'failed to get queue external metric value: failed to get queue external metric: ',
    ],
    ['InvalidMetricSourceType', { type: 'Moon' }, 'unknown metric source type "Moon"', ''],
    [
      'InvalidMetricSourceType',
      {
        type: 'Moon',
        resource: { name: 'cpu', target: ofOne },
        containerResource: { name: 'cpu', container: 'web', target: ofOne },
        pods: { metric: { name: 'qps' }, target: ofOne },
        object: { describedObject: described, metric: { name: 'qps' }, target: ofOne },
        external: { metric: { name: 'qps' }, target: ofOne },
      },
      'unknown metric source type "Moon"',
      '',
    ],
  ])('that cannot be had is told of as %s: %j', (reason, metric, message, summary) => {
    const { events, conditions } = plan({ replicas: 1, spec: { metrics: [metric] }, readings: [{ error: 'away' }] })
    expect(events).toEqual([
      `${reason}: ${message}`,
      `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: ${summary}${message}`,
    ])
    expect(conditions.ScalingActive).toBe(
      `False ${reason}: the HPA was unable to compute the replica count: ${message}`,
    )
  })

  const noPods = 'no pods returned by selector while calculating replica count'
  it.each<[string, MetricSpec, Reading, string]>([
    ['a resource', byCpu, each, `FailedGetResourceMetric: failed to get cpu utilization: ${noPods}`],
    [
      'pods',
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '15' } } },
      each,
      `FailedGetPodsMetric: ${noPods}`,
    ],
    [
      'an object',
      {
        type: 'Object',
        object: { describedObject: described, metric: { name: 'qps' }, target: { type: 'Value', value: '15' } },
      },
      { millis: 30_000 },
      `FailedGetObjectMetric: unable to calculate ready pods: ${noPods}`,
    ],
    [
      'something outside',
      { type: 'External', external: { metric: { name: 'length' }, target: { type: 'Value', value: '15' } } },
      { millis: 30_000 },
      `FailedGetExternalMetric: unable to calculate ready pods: ${noPods}`,
    ],
  ])('of %s may have been read, and tell nothing, as there are no pods', (_, metric, reading, event) => {
    const workload = { pods: [], readings: [reading] }
    expect(plan({ replicas: 1, spec: { metrics: [metric] }, more: { workload } }).events[0]).toBe(event)
  })
})

describe('what is scaled', () => {
  it('may not be there', () => {
    const error = 'deployments.apps "web" not found'
    const { scaled, events, conditions, status } = plan({ status: { currentReplicas: 3 }, more: { target: { error } } })
    expect([scaled, events, status?.currentReplicas]).toEqual([[], [`FailedGetScale: ${error}`], 3])
    expect(conditions).toEqual({
      AbleToScale: `False FailedGetScale: the HPA controller was unable to get the target's current scale: ${error}`,
    })
  })

  it('may not let itself be scaled', () => {
    const before = { desiredReplicas: 3, currentReplicas: 3, lastScaleTime: '2025-12-31T00:00:00Z' }
    const { status, memory, memoryOnceScaled } = plan({ readings: [usage(3, 80)], status: before })
    const refused = refusedStatus(autoscaler({}, before), status ?? before, 'no', startMs)
    expect(refused).toMatchObject(before)
    expect(refused.conditions?.find(({ type }) => type === 'AbleToScale')).toMatchObject({
      status: 'False',
      reason: 'FailedUpdateScale',
      message: 'the HPA controller was unable to update the target scale: no',
    })
    expect([memory?.scaleUps, memoryOnceScaled?.scaleUps]).toEqual([[], [{ change: 2, atMs: startMs }]])
    expect(refusedStatus(autoscaler(), status ?? before, 'no', startMs)).not.toHaveProperty('lastScaleTime')
  })

  it.each([
    [
      emptySelector,
      'SelectorRequired: selector is required',
      "InvalidSelector: the HPA target's scale is missing a selector",
    ],
    [
      unreadableSelector('no'),
      "InvalidSelector: couldn't convert selector into a corresponding internal selector object: no",
      "InvalidSelector: couldn't convert selector into a corresponding internal selector object: no",
    ],
  ])('may not tell its pods: %o', (workload, event, condition) => {
    const { scaled, events, conditions } = plan({ more: { workload } })
    expect([scaled, events[0], conditions.ScalingActive]).toEqual([[], event, `False ${condition}`])
    expect(events[1]).toMatch(/^FailedComputeMetricsReplicas: /)
  })
})

describe('the rates of a behavior', () => {
  const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds })
  const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds })
  const changed = (ups: readonly (readonly [number, number])[], downs: readonly (readonly [number, number])[] = []) => {
    const events = (of: readonly (readonly [number, number])[]) =>
      of.map(([ago, change]) => ({ change, atMs: startMs - ago * 1000 }))
    return { ...firstMemory(0, startMs - 1_000_000), scaleUps: events(ups), scaleDowns: events(downs) }
  }
  type Policies = readonly ReturnType<typeof pods>[]

  it.each<[string, number, Policies, string, Memory, number]>([
    ['a number of pods', 10, [pods(4)], 'Max', changed([]), 14],
    ['a share', 10, [percent(50)], 'Max', changed([]), 15],
    ['a share, rounded up', 1, [percent(10)], 'Max', changed([]), 2],
    ['the larger of two', 10, [pods(4), percent(50)], 'Max', changed([]), 15],
    ['the smaller of two', 10, [pods(4), percent(50)], 'Min', changed([]), 14],
    ['nothing where it is disabled', 10, [pods(4)], 'Disabled', changed([]), 10],
    ['what is left of its period', 10, [pods(4)], 'Max', changed([[30, 3]]), 11],
    [
      'nothing where its period is used up',
      10,
      [pods(4)],
      'Max',
      changed([
        [30, 3],
        [10, 5],
      ]),
      10,
    ],
    ['all again when its period is over', 10, [pods(4)], 'Max', changed([[60, 4]]), 14],
    ['back up what shrank within its period', 10, [pods(4)], 'Max', changed([], [[30, 3]]), 17],
    ['a share of what there was when its period began', 20, [percent(100)], 'Max', changed([[30, 10]]), 20],
  ])('let it grow by %s', (_what, replicas, policies, selectPolicy, memory, wanted) => {
    const spec = { maxReplicas: 1000, behavior: { scaleUp: { policies, selectPolicy }, scaleDown: unlimited } }
    const { scaled, conditions } = plan({ replicas, spec, memory, readings: [usage(replicas, 5000)] })
    expect(scaled).toEqual(wanted === replicas ? [] : [wanted])
    expect(conditions.ScalingLimited).toMatch(/^True ScaleUpLimit/)
  })

  it.each<[string, number, Policies, string, Memory, number]>([
    ['a number of pods', 100, [pods(20)], 'Max', changed([]), 80],
    ['a share', 100, [percent(50)], 'Max', changed([]), 50],
    ['a share, cut', 5, [percent(10)], 'Max', changed([]), 4],
    ['the larger of two', 100, [pods(20), percent(50)], 'Max', changed([]), 50],
    ['the smaller of two', 100, [pods(20), percent(50)], 'Min', changed([]), 80],
    ['nothing where it is disabled', 100, [pods(20)], 'Disabled', changed([]), 100],
    ['what is left of its period', 100, [pods(20)], 'Max', changed([], [[30, 15]]), 95],
    ['nothing where its period is used up', 100, [pods(20)], 'Max', changed([], [[30, 25]]), 100],
    ['what grew within its period as well', 100, [pods(20)], 'Max', changed([[30, 10]]), 70],
  ])('let it shrink by %s', (_what, replicas, policies, selectPolicy, memory, wanted) => {
    const scaleDown = { policies, selectPolicy, stabilizationWindowSeconds: 0 }
    const spec = { maxReplicas: 1000, behavior: { scaleUp: unlimited, scaleDown } }
    const { scaled, conditions } = plan({ replicas, spec, memory, readings: [usage(replicas, 1)] })
    expect(scaled).toEqual(wanted === replicas ? [] : [wanted])
    expect(conditions.ScalingLimited).toMatch(/^True ScaleDownLimit/)
  })

  it('give way to the bounds', () => {
    const behavior = {
      scaleUp: { policies: [pods(100)] },
      scaleDown: { policies: [pods(100)], stabilizationWindowSeconds: 0 },
    }
    const memory = changed([])
    const up = plan({ replicas: 3, spec: { behavior, maxReplicas: 5 }, memory, readings: [usage(3, 900)] })
    expect([up.scaled, up.conditions.ScalingLimited?.slice(0, 20)]).toEqual([[5], 'True TooManyReplicas'])
    const down = plan({ replicas: 5, spec: { behavior, minReplicas: 3 }, memory, readings: [usage(5, 1)] })
    expect([down.scaled, down.conditions.ScalingLimited?.slice(0, 19)]).toEqual([[3], 'True TooFewReplicas'])
  })

  it('are counted from what was carried out, and forgotten when no policy looks back so far', () => {
    const spec = { behavior: { scaleUp: { policies: [pods(4)] }, scaleDown: { ...unlimited } } }
    const { memoryOnceScaled } = plan({
      spec,
      readings: [usage(3, 80)],
      memory: changed([
        [61, 1],
        [59, 1],
      ]),
    })
    expect(memoryOnceScaled?.scaleUps.map(({ change }) => change)).toEqual([1, 2])
  })
})

describe('nextLookMs', () => {
  it('is at most 15 seconds away, the same moment from wherever in them, and 15 seconds after the last', () => {
    const first = nextLookMs('some-uid', startMs)
    expect(first).toBeGreaterThan(startMs)
    expect(first).toBeLessThanOrEqual(startMs + 15_000)
    expect(nextLookMs('some-uid', first - 1)).toBe(first)
    expect(nextLookMs('some-uid', first)).toBe(first + 15_000)
  })

  it('is spread over the 15 seconds', () => {
    const seconds = Array.from({ length: 300 }, (_, index) => {
      const moment = nextLookMs(`uid-${index}`, startMs)
      return Math.floor((moment % 15_000) / 1000)
    })
    expect(new Set(seconds).size).toBe(15)
  })
})

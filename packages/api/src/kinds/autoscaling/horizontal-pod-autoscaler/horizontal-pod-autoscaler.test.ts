import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../../test/requests.ts'
import { compile } from '../../../schema/compile.ts'
import { arbitraryOf } from '../../../testing/arbitrary.ts'
import { parseTime } from '../../../time.ts'
import { fromV1, toV1 } from './conversion-v1.ts'
import { horizontalPodAutoscalers } from './horizontal-pod-autoscaler.ts'
import type { MetricSpec } from './metrics.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalerSchema } from './schema.ts'
import { type HorizontalPodAutoscalerV1, horizontalPodAutoscalerV1Schema } from './schema-v1.ts'

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const cpu = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
const withSpec = (spec: object) => ({ spec: { scaleTargetRef: target, maxReplicas: 5, ...spec } })
const annotation = (name: string): string => `autoscaling.alpha.kubernetes.io/${name}`

describe('the defaults of an autoscaler', () => {
  it('scale from one pod on, by 80 percent of the CPU', () => {
    expect(decoded(horizontalPodAutoscalers, withSpec({})).spec).toEqual({
      scaleTargetRef: target,
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [cpu(80)],
    })
  })

  it('are the same where the list of metrics is empty', () => {
    expect(decoded(horizontalPodAutoscalers, withSpec({ metrics: [] })).spec.metrics).toEqual([cpu(80)])
  })

  it('complete a behavior that says something', () => {
    const { behavior } = decoded(
      horizontalPodAutoscalers,
      withSpec({ behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } }),
    ).spec
    expect(behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: {
        stabilizationWindowSeconds: 60,
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    })
  })
})

describe('validation of an autoscaler', () => {
  const pods = { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } }
  const rules = { policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }], selectPolicy: 'Max' }
  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', {}, []],
    [
      'no policies at all',
      { behavior: { scaleUp: { policies: [] } } },
      ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
    ],
    [
      'no limits',
      { minReplicas: 0, maxReplicas: 0, metrics: [{ type: 'Pods', pods }] },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.maxReplicas: Required value: must be set and greater than 0',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'a resource that containers do not have',
      {
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'pods',
              container: 'a',
              target: { type: 'Utilization', averageUtilization: 50 },
            },
          },
        ],
      },
      ['spec.metrics[0].containerResource.name: Invalid value: "pods": must be a standard resource for containers'],
    ],
    [
      'limits that cross',
      { minReplicas: 6 },
      ['spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`'],
    ],
    [
      'nothing to scale',
      { scaleTargetRef: {} },
      [
        'spec.scaleTargetRef.kind: Required value',
        'spec.scaleTargetRef.name: Required value',
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      ],
    ],
    ['a controller of the first group', { scaleTargetRef: { kind: 'ReplicationController', name: 'web' } }, []],
    [
      'a metric from another source than it says',
      { metrics: [{ type: 'Object', pods }] },
      ['spec.metrics[0].object: Required value: must populate information for the given metric source'],
    ],
    [
      'a metric from where no metric comes',
      { metrics: [{ type: 'constructor' }] },
      [
        'spec.metrics[0].type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
        'spec.metrics[0].type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      ],
    ],
    [
      'a metric from two sources',
      { metrics: [{ type: 'Pods', pods, resource: cpu(1).resource }] },
      ['spec.metrics[0].resource: Forbidden: must populate the given metric source only'],
    ],
    [
      'targets that cannot be',
      {
        metrics: [
          { type: 'Resource', resource: { name: '', target: { type: 'Much' } } },
          { type: 'Pods', pods: { metric: {}, target: { type: 'AverageValue', averageValue: '-1' } } },
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } } },
        ],
      },
      [
        'spec.metrics[0].resource.name: Required value: must specify a resource name',
        'spec.metrics[0].resource.target.type: Invalid value: "Much": must be either Utilization, Value, or AverageValue',
        'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
        'spec.metrics[1].pods.metric.name: Required value: must specify a metric name',
        'spec.metrics[1].pods.target.averageValue: Invalid value: "-1": must be positive',
        'spec.metrics[2].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
      ],
    ],
    [
      'a behavior beyond its limits',
      {
        behavior: {
          scaleUp: { ...rules, stabilizationWindowSeconds: 3601, selectPolicy: 'Any' },
          scaleDown: { ...rules, policies: [{ type: 'Pod', value: 0, periodSeconds: 1801 }], tolerance: '-1' },
        },
      },
      [
        'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
        'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
        'spec.behavior.scaleDown.policies[0].type: Unsupported value: "Pod": supported values: "Percent", "Pods"',
        'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
        'spec.behavior.scaleDown.tolerance: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
  ])('says of %s', (_, spec, problems) => {
    expect(problemsOfCreate(horizontalPodAutoscalers, withSpec(spec))).toEqual(problems)
  })

  it('lets one scale to zero that did so before, and none below', () => {
    const external = {
      type: 'External',
      external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } },
    }
    const from = (minReplicas: number) => withSpec({ minReplicas, metrics: [external] })
    expect(problemsOfUpdate(horizontalPodAutoscalers, from(0), from(0))).toEqual([])
    expect(problemsOfUpdate(horizontalPodAutoscalers, from(0), from(-1))).toEqual([
      'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
    ])
    expect(problemsOfUpdate(horizontalPodAutoscalers, from(1), from(0))).toEqual([
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    ])
  })

  it('lets a target stay that a new autoscaler could not have', () => {
    const before = withSpec({ scaleTargetRef: { kind: 'Deployment', name: 'web' } })
    const after = withSpec({ scaleTargetRef: { kind: 'Deployment', name: 'api' } })
    expect(problemsOfUpdate(horizontalPodAutoscalers, before, after)).toEqual([])
    const other = withSpec({ scaleTargetRef: { kind: 'ReplicaSet', name: 'api' } })
    expect(problemsOfUpdate(horizontalPodAutoscalers, before, other)).toHaveLength(1)
  })
})

describe('the table of autoscalers', () => {
  const nowMs = parseTime('2026-01-01T00:01:00Z')
  it('tells targets as upstream does', () => {
    expect(columnNames(horizontalPodAutoscalers).shown).toEqual([
      'Name',
      'Reference',
      'Targets',
      'MinPods',
      'MaxPods',
      'Replicas',
      'Age',
    ])
    const draft = {
      metadata: { name: 'web', creationTimestamp: '2026-01-01T00:00:00Z' },
      ...withSpec({
        metrics: [
          cpu(50),
          {
            type: 'External',
            external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '4' } },
          },
          { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } } },
        ],
      }),
      status: {
        currentReplicas: 2,
        desiredReplicas: 2,
        currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } }],
      },
    }
    expect(row(horizontalPodAutoscalers, draft, nowMs)).toEqual({
      Name: 'web',
      Reference: 'Deployment/web',
      Targets: 'cpu: 40%/50%, <unknown>/4 (avg) + 1 more...',
      MinPods: '1',
      MaxPods: 5,
      Replicas: 2,
      Age: '60s',
    })
  })
})

describe('autoscaling/v1', () => {
  const hub = (spec: object, status: object = {}) => decoded(horizontalPodAutoscalers, { ...withSpec(spec), status })

  it('has a field for the utilization of the CPU', () => {
    const autoscaler = hub({ metrics: [cpu(50)] })
    const shown = toV1(autoscaler)
    expect(shown.spec).toEqual({
      scaleTargetRef: target,
      minReplicas: 1,
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 50,
    })
    expect(shown.metadata.annotations).toBeUndefined()
    expect(fromV1(shown).spec).toEqual(autoscaler.spec)
  })

  it('keeps the rest in annotations, written as upstream writes them', () => {
    const autoscaler = hub(
      {
        metrics: [
          cpu(50),
          { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } } },
        ],
        behavior: { scaleDown: { selectPolicy: 'Disabled' } },
      },
      {
        conditions: [{ type: 'AbleToScale', status: 'True' }],
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '3m' } } },
        ],
      },
    )
    const { metadata, status } = toV1(autoscaler)
    expect(metadata.annotations).toEqual({
      [annotation('metrics')]: '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"10"}}]',
      [annotation('behavior')]:
        '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Disabled","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}',
      [annotation('current-metrics')]:
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"3m"}}]',
      [annotation('conditions')]: '[{"type":"AbleToScale","status":"True"}]',
    })
    expect(status).toEqual({ currentReplicas: 0, desiredReplicas: 0, currentCPUUtilizationPercentage: 7 })
  })

  it('finds the utilization of the CPU among other targets for it', () => {
    const amount = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '300m' } },
    }
    const shown = toV1(hub({ metrics: [amount, cpu(70)] }))
    expect(shown.spec.targetCPUUtilizationPercentage).toBe(70)
    expect(shown.metadata.annotations).toEqual({
      [annotation('metrics')]: '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"300m"}}]',
    })
    expect(fromV1(shown).spec.metrics).toEqual([amount, cpu(70)])
  })

  it('takes the one number for the current metrics where the annotation lists none', () => {
    const given = toV1(hub({ metrics: [cpu(50)] }))
    const read = fromV1({
      ...given,
      metadata: { ...given.metadata, annotations: { [annotation('current-metrics')]: '[]' } },
      status: { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 7 },
    })
    expect(read.status?.currentMetrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7 } } },
    ])
  })

  it.each(['', 'abc', '[]'])('keeps its annotations out of what is written in autoscaling/v2: %j', (text) => {
    const annotations = Object.fromEntries(
      ['metrics', 'behavior', 'current-metrics', 'conditions'].map((name) => [annotation(name), text]),
    )
    const given = decoded(horizontalPodAutoscalers, { ...withSpec({}), metadata: { name: 'web', annotations } })
    const { prepareForCreate, prepareForUpdate, prepareForStatusUpdate } = horizontalPodAutoscalers.strategy
    for (const prepare of [prepareForCreate, prepareForUpdate, prepareForStatusUpdate]) {
      expect(prepare?.(given, given as never, 0).metadata).toEqual({ name: 'web' })
    }
  })

  it('never stores the annotations, and takes what is no JSON for nothing', () => {
    const given = {
      ...toV1(hub({ metrics: [cpu(50)] })),
      metadata: {
        name: 'web',
        annotations: { mine: 'x', [annotation('metrics')]: '{', [annotation('behavior')]: '7' },
      },
    }
    expect(fromV1(given).metadata).toEqual({ name: 'web', annotations: { mine: 'x' } })
    expect(fromV1(given).spec).toMatchObject({ metrics: [cpu(50)] })
  })

  it('loses nothing of any autoscaler but the order of its metrics', () => {
    const { decode, applyDefaults } = compile(horizontalPodAutoscalerSchema)
    fc.assert(
      fc.property(arbitraryOf(horizontalPodAutoscalerSchema), (value) => {
        const { applyDefaults: complete } = horizontalPodAutoscalers
        const any = applyDefaults(decode({ ...value, metadata: value.metadata ?? {} }).value) as HorizontalPodAutoscaler
        const autoscaler = complete?.(good(any)) ?? any
        const back = applyDefaults(decode(fromV1(toV1(autoscaler))).value) as HorizontalPodAutoscaler
        expect(sorted(back)).toEqual(sorted(autoscaler))
      }),
      { numRuns: 200 },
    )
  })

  it('loses nothing of what was written in it', () => {
    const { decode, applyDefaults } = compile(horizontalPodAutoscalerV1Schema)
    fc.assert(
      fc.property(arbitraryOf(horizontalPodAutoscalerV1Schema), (value) => {
        const given = applyDefaults(
          decode({ ...value, metadata: value.metadata ?? {} }).value,
        ) as HorizontalPodAutoscalerV1
        const { spec, status } = toV1(fromV1(given))
        expect({ spec, status }).toEqual({ spec: given.spec, status: given.status })
      }),
      { numRuns: 100 },
    )
  })
})

/** With metrics that validation lets pass: one source each, targets of the type that goes with it, one for the CPU. */
function good(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec } = autoscaler
  const value = { type: 'Value', value: '5' }
  const average = { type: 'AverageValue', averageValue: '5' }
  const sources: readonly Omit<MetricSpec, 'type'>[] = [
    { object: { describedObject: { kind: 'Ingress', name: 'in' }, target: average, metric: { name: 'a' } } },
    { object: { describedObject: { kind: 'Ingress', name: 'in' }, target: value, metric: { name: 'b' } } },
    { pods: { metric: { name: 'a', selector: { matchLabels: { a: 'b' } } }, target: average } },
    { resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 5 } } },
    { resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 9 } } },
    { containerResource: { name: 'cpu', container: 'main', target: average } },
    { external: { metric: { name: 'a' }, target: value } },
  ]
  const count = (spec.metrics ?? []).length
  const metrics = sources.slice(0, count * 2).map((source): MetricSpec => {
    const [field = ''] = Object.keys(source)
    return { type: field.charAt(0).toUpperCase() + field.slice(1), ...source }
  })
  const { currentMetrics: _currentMetrics, ...status } = autoscaler.status ?? { desiredReplicas: 0 }
  return {
    ...autoscaler,
    spec: { ...spec, metrics: metrics.length === 0 ? undefined : metrics },
    status,
  }
}

function sorted({ spec, ...rest }: HorizontalPodAutoscaler): unknown {
  const metrics = (spec.metrics ?? []).map((metric) => JSON.stringify(sortedKeys(metric))).sort()
  return { ...rest, spec: { ...spec, metrics } }
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sortedKeys(each)]),
  )
}

/** autoscaling/v1 and the hub: what v1 has no field for stands in annotations while an object is shown as v1. */
import type { ObjectMeta } from '../../../meta.ts'
import { mapList } from '../../../schema/builders.ts'
import { compile } from '../../../schema/compile.ts'
import { behaviorFromV1, behaviorToV1 } from './behavior-v1.ts'
import type { MetricSpec, MetricStatus } from './metrics.ts'
import { specsFromV1, specToV1, statusesFromV1, statusToV1 } from './metrics-v1.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalerCondition } from './schema.ts'
import type { HorizontalPodAutoscalerV1 } from './schema-v1.ts'

const prefix = 'autoscaling.alpha.kubernetes.io/'
const annotationNames = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const
type AnnotationName = (typeof annotationNames)[number]

/** The hub's form. What an annotation says that cannot be read is as if it were not there. */
export function fromV1(autoscaler: HorizontalPodAutoscalerV1): HorizontalPodAutoscaler {
  const { metadata, spec, status } = autoscaler
  const { targetCPUUtilizationPercentage, ...sameSpec } = spec
  const { currentCPUUtilizationPercentage, ...sameStatus } = status ?? { currentReplicas: 0, desiredReplicas: 0 }
  const read = <T>(name: AnnotationName, parse: (text: string) => T): T | undefined =>
    readOrNothing(metadata.annotations?.[prefix + name], parse)
  const metrics = [
    ...(read('metrics', specsFromV1) ?? []),
    ...(targetCPUUtilizationPercentage === undefined ? [] : [cpuTarget(targetCPUUtilizationPercentage)]),
  ]
  const behavior = read('behavior', behaviorFromV1)
  const conditions = read('conditions', conditionsFrom)
  // The annotation knows more of the metrics than the one number, if it names any.
  const statuses = read('current-metrics', statusesFromV1) ?? []
  const usage = currentCPUUtilizationPercentage === undefined ? [] : [cpuUsage(currentCPUUtilizationPercentage)]
  const currentMetrics = statuses.length === 0 ? usage : statuses
  return {
    ...autoscaler,
    metadata: withoutOwnAnnotations(metadata),
    spec: {
      ...sameSpec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...sameStatus,
      ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
      ...(conditions === undefined ? {} : { conditions }),
    },
  }
}

/** What v1 shows. Of several metrics that aim at a utilization of the CPU it can keep the first alone, as upstream. */
export function toV1(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscalerV1 {
  const { spec, status } = autoscaler
  const { metrics = [], behavior, ...sameSpec } = spec
  const { currentMetrics = [], conditions = [], currentReplicas = 0, ...sameStatus } = status ?? { desiredReplicas: 0 }
  const others = metrics.filter((metric) => utilizationTarget(metric) === undefined)
  const target = metrics.map(utilizationTarget).find((percent) => percent !== undefined)
  const usage = currentMetrics.findLast(
    (each) => isCpu(each) && each.resource?.current.averageUtilization !== undefined,
  )
  const current = usage?.resource?.current.averageUtilization
  const metadata = withAnnotations(withoutOwnAnnotations(autoscaler.metadata), {
    ...(others.length === 0 ? {} : { metrics: others.map(specToV1) }),
    ...(behavior === undefined ? {} : { behavior: behaviorToV1(behavior) }),
    ...(currentMetrics.length === 0 ? {} : { 'current-metrics': currentMetrics.map(statusToV1) }),
    ...(conditions.length === 0 ? {} : { conditions }),
  })
  return {
    ...autoscaler,
    metadata,
    spec: { ...sameSpec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...sameStatus,
      currentReplicas,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  }
}

const isCpu = ({ type, resource }: MetricSpec | MetricStatus): boolean =>
  type === 'Resource' && resource?.name === 'cpu'

/** The utilization of the CPU that a metric aims at; undefined for one that aims at something else. */
const utilizationTarget = (metric: MetricSpec): number | undefined =>
  isCpu(metric) ? metric.resource?.target.averageUtilization : undefined

/** What a utilization of the CPU is as a metric. */
export const cpuTarget = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

const cpuUsage = (averageUtilization: number): MetricStatus => ({
  type: 'Resource',
  resource: { name: 'cpu', current: { averageUtilization } },
})

function conditionsFrom(text: string) {
  const schema = mapList(horizontalPodAutoscalerCondition, ['type'])
  return compile(schema).decode(JSON.parse(text)).value
}

function readOrNothing<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  if (text === undefined) return undefined
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** Without the annotations that say what is in fields of the hub: an object of any version has no others of these names. */
export function withoutOwnAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata
  if (annotations === undefined || !annotationNames.some((name) => Object.hasOwn(annotations, prefix + name))) {
    return metadata
  }
  const own = new Set<string>(annotationNames.map((name) => prefix + name))
  const kept = Object.entries(annotations).filter(([key]) => !own.has(key))
  const { annotations: _annotations, ...rest } = metadata
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) }
}

function withAnnotations(metadata: ObjectMeta, values: Partial<Record<AnnotationName, unknown>>): ObjectMeta {
  const added = Object.entries(values).map(([name, value]) => [prefix + name, JSON.stringify(value)])
  if (added.length === 0) return metadata
  return { ...metadata, annotations: { ...metadata.annotations, ...Object.fromEntries(added) } }
}

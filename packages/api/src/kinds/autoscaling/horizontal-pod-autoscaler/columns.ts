import { ageColumn, type ColumnSource, column, nameColumn } from '../../columns.ts'
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from './metrics.ts'
import type { HorizontalPodAutoscaler } from './schema.ts'

/** The columns of `kubectl get hpa` (printers/internalversion printHorizontalPodAutoscaler). */
export const horizontalPodAutoscalerColumns: readonly ColumnSource<HorizontalPodAutoscaler>[] = [
  nameColumn,
  column('Reference', ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`, {
    field: 'spec.scaleTargetRef',
  }),
  column('Targets', targetsText, { field: 'spec.metrics' }),
  column('MinPods', ({ spec }) => String(spec.minReplicas ?? '<unset>'), 'The fewest there may be.'),
  column('MaxPods', ({ spec }) => spec.maxReplicas, 'The most there may be.'),
  column('Replicas', ({ status }) => status?.currentReplicas ?? 0, 'How many there are.'),
  ageColumn,
]

/** How many metrics are shown; the others are counted. */
const shownMetricsMax = 2

function targetsText({ spec: { metrics = [] }, status }: HorizontalPodAutoscaler): string {
  if (metrics.length === 0) return '<none>'
  const texts = metrics.map((metric, index) => metricText(metric, status?.currentMetrics?.[index]))
  const shown = texts.slice(0, shownMetricsMax).join(', ')
  return texts.length > shownMetricsMax ? `${shown} + ${texts.length - shownMetricsMax} more...` : shown
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  const { external, pods, object, resource, containerResource } = metric
  switch (metric.type) {
    case 'External':
      return valueText(external?.target, status?.external?.current)
    case 'Object':
      return valueText(object?.target, status?.object?.current)
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? unknown}/${pods?.target.averageValue ?? 0}`
    case 'Resource':
      return `${resource?.name ?? ''}: ${usageText(resource?.target, status?.resource?.current)}`
    case 'ContainerResource':
      return `${containerResource?.name ?? ''}: ${usageText(containerResource?.target, status?.containerResource?.current)}`
    default:
      return '<unknown type>'
  }
}

const unknown = '<unknown>'

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
  return `${current?.value ?? unknown}/${target?.value ?? 0}`
}

function usageText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue}`
  return `${percent(current?.averageUtilization) ?? unknown}/${percent(target?.averageUtilization) ?? '<auto>'}`
}

const percent = (number: number | undefined): string | undefined => (number === undefined ? undefined : `${number}%`)

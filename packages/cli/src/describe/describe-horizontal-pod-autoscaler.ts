import type {
  Event,
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ScalingRules,
} from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

/** An autoscaler in detail. */
export function describeHorizontalPodAutoscaler(
  { metadata, spec, status }: HorizontalPodAutoscaler,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  const { kind, name } = spec.scaleTargetRef
  describeIdentity(text, metadata)
  text.timeOrZero(0, 'CreationTimestamp', metadata.creationTimestamp)
  text.field(0, 'Reference', `${kind}/${name}`).field(0, 'Metrics', '( current / target )')
  for (const [index, metric] of (spec.metrics ?? []).entries()) {
    text.line(1, metricLine(metric, status?.currentMetrics?.[index]))
  }
  text.field(0, 'Min replicas', spec.minReplicas ?? '<unset>').field(0, 'Max replicas', spec.maxReplicas)
  if (spec.behavior !== undefined) {
    text.heading(0, 'Behavior')
    describeRules(text, 'Scale Up', spec.behavior.scaleUp)
    describeRules(text, 'Scale Down', spec.behavior.scaleDown)
  }
  const counts = `${status?.currentReplicas ?? 0} current / ${status?.desiredReplicas ?? 0} desired`
  text.field(0, `${kind} pods`, counts)
  const conditions = status?.conditions ?? []
  if (conditions.length > 0) {
    const rows = conditions.map(({ type, status: value, reason = '', message = '' }) => [type, value, reason, message])
    text.table(0, 'Conditions', ['Type', 'Status', 'Reason', 'Message'], rows)
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** What a metric is and is to be, in kubectl's words. */
function metricLine(metric: MetricSpec, current: MetricStatus | undefined): string {
  const { type, resource, containerResource, pods, object, external } = metric
  if (type === 'Resource' && resource !== undefined) {
    return `resource ${resource.name} on pods${usageText(resource.target, current?.resource?.current)}`
  }
  if (type === 'ContainerResource' && containerResource !== undefined) {
    const { name, container, target } = containerResource
    const used = current?.containerResource?.current
    return `resource ${name} of container "${container}" on pods${usageText(target, used)}`
  }
  if (type === 'Pods' && pods !== undefined) {
    return `${JSON.stringify(pods.metric.name)} on pods:${amountsText('averageValue', pods.target, current?.pods?.current)}`
  }
  if (type === 'Object' && object !== undefined) {
    const { metric, describedObject, target } = object
    const about = `"${metric.name}" on ${describedObject.kind}/${describedObject.name}`
    const used = current?.object?.current
    return target.type === 'AverageValue'
      ? `${about} (target average value):${amountsText('averageValue', target, used)}`
      : `${about} (target value):${amountsText('value', target, used)}`
  }
  if (type === 'External' && external !== undefined) {
    const about = JSON.stringify(external.metric.name)
    const used = current?.external?.current
    if (external.target.averageValue === undefined) {
      return `${about} (target value):${amountsText('value', external.target, used)}`
    }
    const known = used?.averageValue === undefined ? undefined : used
    return `${about} (target average value):${amountsText('averageValue', external.target, known)}`
  }
  return `<unknown metric type ${JSON.stringify(type)}>`
}

/** What there is and what there is to be; what is known and not set is as Go prints no amount. */
function amountsText(
  field: 'value' | 'averageValue',
  target: MetricTarget,
  current: MetricValueStatus | undefined,
): string {
  const now = current === undefined ? '<unknown>' : (current[field] ?? '<nil>')
  return `\t${now} / ${target[field] ?? '<nil>'}`
}

function usageText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `:${amountsText('averageValue', target, current)}`
  const used = current?.averageUtilization
  const now = used === undefined ? '<unknown>' : `${used}% (${current?.averageValue ?? '<nil>'})`
  const wanted = target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`
  return `  (as a percentage of request):\t${now} / ${wanted}`
}

function describeRules(text: Description, label: string, rules: ScalingRules | undefined): void {
  if (rules === undefined) return
  text.heading(1, label)
  const { stabilizationWindowSeconds, policies = [], selectPolicy = 'Max' } = rules
  if (stabilizationWindowSeconds !== undefined) {
    text.line(2, `Stabilization Window: ${stabilizationWindowSeconds} seconds`)
  }
  if (policies.length === 0) return
  text.line(2, `Select Policy: ${selectPolicy}`).heading(2, 'Policies')
  for (const { type, value, periodSeconds } of policies) {
    text.line(3, `- Type: ${type}\tValue: ${value}\tPeriod: ${periodSeconds} seconds`)
  }
}

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
import { formatLocalTime } from './local-time.ts'
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
  if (metadata.creationTimestamp !== undefined) {
    text.field(0, 'CreationTimestamp', formatLocalTime(metadata.creationTimestamp))
  }
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

const unknown = '<unknown>'

/** What a metric is and is to be, in kubectl's words. */
function metricLine(metric: MetricSpec, current: MetricStatus | undefined): string {
  const { resource, containerResource, pods, object, external } = metric
  if (resource !== undefined) {
    const { name, target } = resource
    return `resource ${name} on pods${usageText(target, current?.resource?.current)}`
  }
  if (containerResource !== undefined) {
    const { name, container, target } = containerResource
    const used = current?.containerResource?.current
    return `resource ${name} of container ${JSON.stringify(container)} on pods${usageText(target, used)}`
  }
  if (pods !== undefined) {
    const average = current?.pods?.current.averageValue ?? unknown
    return `${JSON.stringify(pods.metric.name)} on pods:\t${average} / ${pods.target.averageValue ?? ''}`
  }
  if (object !== undefined) {
    const { kind, name } = object.describedObject
    const about = `${JSON.stringify(object.metric.name)} on ${kind}/${name} ${targetWord(object.target)}`
    return `${about}:\t${valueText(object.target, current?.object?.current)}`
  }
  if (external !== undefined) {
    const about = `${JSON.stringify(external.metric.name)} ${targetWord(external.target)}`
    return `${about}:\t${valueText(external.target, current?.external?.current)}`
  }
  return `<unknown metric type ${JSON.stringify(metric.type)}>`
}

function usageText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `:\t${current?.averageValue ?? unknown} / ${target.averageValue}`
  const used = current?.averageUtilization
  const now = used === undefined ? unknown : `${used}% (${current?.averageValue ?? unknown})`
  return `  (as a percentage of request):\t${now} / ${target.averageUtilization ?? '<auto>'}%`
}

const targetWord = ({ averageValue }: MetricTarget): string =>
  averageValue === undefined ? '(target value)' : '(target average value)'

const valueText = (target: MetricTarget, current: MetricValueStatus | undefined): string =>
  target.averageValue === undefined
    ? `${current?.value ?? unknown} / ${target.value ?? ''}`
    : `${current?.averageValue ?? unknown} / ${target.averageValue}`

function describeRules(text: Description, label: string, rules: ScalingRules | undefined): void {
  if (rules === undefined) return
  text.heading(1, label)
  if (rules.stabilizationWindowSeconds !== undefined) {
    text.field(2, 'Stabilization Window', `${rules.stabilizationWindowSeconds} seconds`)
  }
  const { policies = [], selectPolicy, tolerance } = rules
  if (selectPolicy !== undefined) text.field(2, 'Select Policy', selectPolicy)
  if (tolerance !== undefined) text.field(2, 'Tolerance', tolerance)
  if (policies.length === 0) return
  text.heading(2, 'Policies')
  for (const { type, value, periodSeconds } of policies) {
    text.line(3, `- Type: ${type}\tValue: ${value}\tPeriod: ${periodSeconds} seconds`)
  }
}

import {
  formatQuantity,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type MetricValueStatus,
  type QuantityFormat,
  quantityMilli,
} from '@coracle/api'
import { selectorText } from '../selector-text.ts'
import type { Reading } from './readings.ts'
import {
  type Basis,
  type Calculation,
  replicasByAverage,
  replicasByShare,
  replicasByUtilization,
  replicasByValue,
} from './replica-calculator.ts'

/** What one metric of an autoscaler asks for. */
export type Proposal =
  | {
      readonly replicas: number
      /** What the metric is called in events. */
      readonly metric: string
      readonly status: MetricStatus
    }
  /** It asks for nothing: why, for the event and the condition of that reason, and for the summary of all metrics. */
  | { readonly reason: string; readonly error: string; readonly summary: string }

/** What a metric asks for by what was read of it. */
export function proposalOf(spec: MetricSpec, reading: Reading, basis: Basis, namespace: string): Proposal {
  const { resource, containerResource, pods, object, external } = spec
  if (spec.type === 'Resource' && resource !== undefined) return byResource(resource, reading, basis)
  if (spec.type === 'ContainerResource' && containerResource !== undefined) {
    return byContainerResource(containerResource, reading, basis)
  }
  if (spec.type === 'Pods' && pods !== undefined) return byPods(pods, reading, basis)
  if (spec.type === 'Object' && object !== undefined) return byObject(object, reading, basis, namespace)
  if (spec.type === 'External' && external !== undefined) return byExternal(external, reading, basis, namespace)
  const error = `unknown metric source type ${JSON.stringify(spec.type)}`
  return { reason: 'InvalidMetricSourceType', error, summary: error }
}

/** Where a metric comes from, by the type that asks for it. */
type Source<Field extends keyof MetricSpec> = NonNullable<MetricSpec[Field]>

function byResource({ name, target }: Source<'resource'>, reading: Reading, basis: Basis): Proposal {
  const outcome = byUsage(name, '', target, reading, basis)
  if ('error' in outcome) {
    return failed('FailedGetResourceMetric', outcome.error, `failed to get ${name} resource metric value`)
  }
  const { replicas, current } = outcome
  const metric = isShared(target) ? `${name} resource` : `${name} resource utilization (percentage of request)`
  return { replicas, metric, status: { type: 'Resource', resource: { name, current } } }
}

function byContainerResource(source: Source<'containerResource'>, reading: Reading, basis: Basis): Proposal {
  const { name, container, target } = source
  const outcome = byUsage(name, container, target, reading, basis)
  if ('error' in outcome) {
    const summary = `failed to get ${container} container metric value`
    return failed('FailedGetContainerResourceMetric', outcome.error, summary)
  }
  const { replicas, current } = outcome
  const metric = isShared(target)
    ? `${name} resource`
    : `${name} container resource utilization (percentage of request)`
  return { replicas, metric, status: { type: 'ContainerResource', containerResource: { name, container, current } } }
}

function byPods({ metric, target }: Source<'pods'>, reading: Reading, basis: Basis): Proposal {
  const targetMillis = millisOf(target.averageValue)
  const outcome = ofPods(reading, (readings) => replicasByAverage(basis, readings, { resource: '', targetMillis }))
  if ('error' in outcome) {
    const error = 'error' in reading ? `unable to get metric ${metric.name}: ${outcome.error}` : outcome.error
    return failed('FailedGetPodsMetric', error, 'failed to get pods metric value')
  }
  const { replicas, millis } = outcome
  const status = { type: 'Pods', pods: { metric, current: { averageValue: quantityOf(millis) } } }
  return { replicas, metric: `pods metric ${metric.name}`, status }
}

function byObject(source: Source<'object'>, reading: Reading, basis: Basis, namespace: string): Proposal {
  const { metric, target, describedObject } = source
  const { kind, name } = describedObject
  const outcome = byTotal(target, reading, basis)
  if ('error' in outcome) {
    // The words are in upstream's order.
    const about = `unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/`
    const error = 'error' in reading ? about + outcome.error : outcome.error
    const summary = isShared(target) ? `: failed to get ${metric.name} object metric` : ''
    return failed('FailedGetObjectMetric', error, `failed to get object metric value${summary}`)
  }
  const { replicas, current } = outcome
  const shown = isShared(target)
    ? `external metric ${metric.name}(${selectorText(metric.selector)})`
    : `${kind} metric ${metric.name}`
  return { replicas, metric: shown, status: { type: 'Object', object: { describedObject, metric, current } } }
}

function byExternal(
  { metric, target }: Source<'external'>,
  reading: Reading,
  basis: Basis,
  namespace: string,
): Proposal {
  const { name, selector } = metric
  const outcome = byTotal(target, reading, basis)
  if ('error' in outcome) {
    const about = `unable to get external metric ${namespace}/${name}/${selectorText(selector)}: `
    const error = 'error' in reading ? about + outcome.error : outcome.error
    const what = isShared(target) ? `${name} external metric` : `external metric ${name}`
    return failed(
      'FailedGetExternalMetric',
      error,
      `failed to get ${name} external metric value: failed to get ${what}`,
    )
  }
  const { replicas, current } = outcome
  const shown = `external metric ${name}(${selectorText(selector)})`
  return { replicas, metric: shown, status: { type: 'External', external: { metric, current } } }
}

const failed = (reason: string, error: string, summary: string): Proposal => ({
  reason,
  error,
  summary: `${summary}: ${error}`,
})

type Outcome = { readonly replicas: number; readonly current: MetricValueStatus } | { readonly error: string }

/** By what pods use of a resource, all their containers or one. */
function byUsage(resource: string, container: string, target: MetricTarget, reading: Reading, basis: Basis): Outcome {
  const { averageValue, averageUtilization } = target
  const unread = 'error' in reading ? `unable to get metrics for resource ${resource}: ` : ''
  if (averageValue !== undefined) {
    const outcome = ofPods(reading, (readings) =>
      replicasByAverage(basis, readings, { resource, targetMillis: quantityMilli(averageValue) }),
    )
    if ('error' in outcome) return { error: `failed to get ${resource} usage: ${unread}${outcome.error}` }
    return { replicas: outcome.replicas, current: { averageValue: quantityOf(outcome.millis, formatOf(resource)) } }
  }
  if (averageUtilization === undefined) {
    return {
      error:
        'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    }
  }
  const outcome = ofPods(reading, (readings) =>
    replicasByUtilization(basis, readings, { resource, container, targetPercent: averageUtilization }),
  )
  if ('error' in outcome) return { error: `failed to get ${resource} utilization: ${unread}${outcome.error}` }
  const { replicas, millis, percent = 0 } = outcome
  const used = quantityOf(millis, formatOf(resource))
  return { replicas, current: { averageUtilization: percent, averageValue: used } }
}

/** By a value for all pods: which each is to have a share of, or which is to be as it is. */
function byTotal(target: MetricTarget, reading: Reading, basis: Basis): Outcome {
  if ('error' in reading) return reading
  if (!('millis' in reading)) return { error: 'it was read of each pod' }
  const { millis } = reading
  if (isShared(target)) {
    const outcome = replicasByShare(basis, millis, millisOf(target.averageValue))
    if ('error' in outcome) return outcome
    return { replicas: outcome.replicas, current: { averageValue: quantityOf(outcome.millis) } }
  }
  const outcome = replicasByValue(basis, millis, millisOf(target.value))
  if ('error' in outcome) return outcome
  return { replicas: outcome.replicas, current: { value: quantityOf(outcome.millis) } }
}

const isShared = ({ averageValue }: MetricTarget): boolean => averageValue !== undefined

function ofPods(
  reading: Reading,
  calculate: (readings: Extract<Reading, { readonly pods: unknown }>['pods']) => Calculation,
): Calculation {
  if ('error' in reading) return reading
  return 'pods' in reading ? calculate(reading.pods) : { error: 'it was not read of each pod' }
}

const millisOf = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityMilli(quantity))

/** Memory is told as the resource metrics API tells it. */
const formatOf = (resource: string): QuantityFormat => (resource === 'memory' ? 'BinarySI' : 'DecimalSI')

const quantityOf = (millis: number, format: QuantityFormat = 'DecimalSI'): string =>
  formatQuantity({ nanos: BigInt(Math.trunc(millis)) * 1_000_000n, format })

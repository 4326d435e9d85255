/**
 * Metrics as autoscaling/v1 has them, which only its annotations do: flat, and with amounts that are always there, 0 for
 * none. The fields of an annotation are nobody's schema: what does not look right is taken for absent.
 */

import { atomicList } from '../../../schema/builders.ts'
import { compile } from '../../../schema/compile.ts'
import { type MetricSpec, type MetricStatus, type MetricTarget, metricSpec, metricStatus } from './metrics.ts'

type Json = Readonly<Record<string, unknown>>

/** A metric to scale by, as it stands in the annotation. */
export function specToV1({ type, object, pods, resource, containerResource, external }: MetricSpec): Json {
  return present({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      targetValue: object.target.value ?? none,
      selector: object.metric.selector,
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? none,
      selector: pods.metric.selector,
    },
    resource: resource && { name: resource.name, ...utilizationToV1(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...utilizationToV1(containerResource.target),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  })
}

/** The metrics to scale by that an annotation holds. Throws where it holds none. */
export function specsFromV1(text: string): readonly MetricSpec[] {
  return decodeMetrics(compile(atomicList(metricSpec)), text, (metric) => {
    const { object, pods, resource, containerResource, external } = metric
    return {
      type: metric.type,
      object: object && {
        describedObject: object.target,
        target: {
          type: object.averageValue === undefined ? 'Value' : 'AverageValue',
          value: object.averageValue === undefined ? object.targetValue : some(object.targetValue),
          averageValue: object.averageValue,
        },
        metric: { name: object.metricName, selector: object.selector },
      },
      pods: pods && {
        metric: { name: pods.metricName, selector: pods.selector },
        target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
      },
      resource: resource && { name: resource.name, target: utilizationFromV1(resource) },
      containerResource: containerResource && {
        name: containerResource.name,
        target: utilizationFromV1(containerResource),
        container: containerResource.container,
      },
      external: external && {
        metric: { name: external.metricName, selector: external.metricSelector },
        target: {
          type: external.targetValue === undefined ? 'AverageValue' : 'Value',
          value: external.targetValue,
          averageValue: external.targetAverageValue,
        },
      },
    }
  })
}

/** What a metric was, as it stands in the annotation. */
export function statusToV1({ type, object, pods, resource, containerResource, external }: MetricStatus): Json {
  return present({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: object.current.value ?? none,
      selector: object.metric.selector,
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? none,
      selector: pods.metric.selector,
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current.averageUtilization,
      currentAverageValue: resource.current.averageValue ?? none,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current.averageUtilization,
      currentAverageValue: containerResource.current.averageValue ?? none,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value ?? none,
      currentAverageValue: external.current.averageValue,
    },
  })
}

/** What the metrics were that an annotation holds. Throws where it holds none. */
export function statusesFromV1(text: string): readonly MetricStatus[] {
  return decodeMetrics(compile(atomicList(metricStatus)), text, (metric) => {
    const { object, pods, resource, containerResource, external } = metric
    return {
      type: metric.type,
      object: object && {
        metric: { name: object.metricName, selector: object.selector },
        current: { value: object.currentValue, averageValue: object.averageValue },
        describedObject: object.target,
      },
      pods: pods && {
        metric: { name: pods.metricName, selector: pods.selector },
        current: { averageValue: pods.currentAverageValue },
      },
      resource: resource && { name: resource.name, current: usageFromV1(resource) },
      containerResource: containerResource && {
        name: containerResource.name,
        current: usageFromV1(containerResource),
        container: containerResource.container,
      },
      external: external && {
        metric: { name: external.metricName, selector: external.metricSelector },
        current: { value: external.currentValue, averageValue: external.currentAverageValue },
      },
    }
  })
}

/** What an amount says that must be there and is not. */
const none = '0'

const some = (amount: unknown): unknown => (amount === none ? undefined : amount)

const utilizationToV1 = ({ averageUtilization, averageValue }: MetricTarget) => ({
  targetAverageUtilization: averageUtilization,
  targetAverageValue: averageValue,
})

const utilizationFromV1 = ({ targetAverageUtilization, targetAverageValue }: Flat) => ({
  type: targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
  averageValue: targetAverageValue,
  averageUtilization: targetAverageUtilization,
})

const usageFromV1 = ({ currentAverageUtilization, currentAverageValue }: Flat) => ({
  averageValue: currentAverageValue,
  averageUtilization: currentAverageUtilization,
})

type Flat = Readonly<Record<string, unknown>>

interface MetricV1 {
  readonly type?: unknown
  readonly object?: Flat
  readonly pods?: Flat
  readonly resource?: Flat
  readonly containerResource?: Flat
  readonly external?: Flat
}

function decodeMetrics<T>(
  { decode, applyDefaults }: ReturnType<typeof compile<readonly T[]>>,
  text: string,
  nest: (metric: MetricV1) => unknown,
): readonly T[] {
  const metrics: unknown = JSON.parse(text)
  if (!Array.isArray(metrics)) throw new SyntaxError('metrics are a list')
  return applyDefaults(decode(metrics.map((metric) => nest(metric as MetricV1))).value ?? [])
}

/** Without members that are undefined. */
const present = (members: Json): Json =>
  Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => {
      if (value === undefined) return []
      return [[key, isMembers(value) ? present(value) : value]]
    }),
  )

const isMembers = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a HorizontalPodAutoscaler (autoscaling/v2) scales by, and what it has last seen of it. */
import { int32, object, optional, pointer, quantity, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { autoscalingV2 } from '../../meta/names.ts'

export interface CrossVersionObjectReference extends Infer<typeof crossVersionObjectReference> {}
export const crossVersionObjectReference = object(
  `${autoscalingV2}.CrossVersionObjectReference`,
  'Names an object of any kind in the same namespace.',
  {
    kind: required(string(), 'Kind of the object.', { default: '' }),
    name: required(string(), 'Name of the object.', { default: '' }),
    apiVersion: optional(string(), 'API version of the object.'),
  },
)

export interface MetricIdentifier extends Infer<typeof metricIdentifier> {}
export const metricIdentifier = object(`${autoscalingV2}.MetricIdentifier`, 'Names a metric.', {
  name: required(string(), 'Name of the metric.', { default: '' }),
  selector: optional(labelSelector, 'Which series of it are meant; all where there is none.'),
})

export interface MetricTarget extends Infer<typeof metricTarget> {}
export const metricTarget = object(`${autoscalingV2}.MetricTarget`, 'What a metric is to be.', {
  type: required(string(), 'What the target is given as: Utilization, Value or AverageValue.', { default: '' }),
  value: optional(quantity, 'What the metric is to be.'),
  averageValue: optional(quantity, 'What the metric is to be on average over all pods.'),
  averageUtilization: pointer(int32(), 'Percent of what the pods request that they are to use on average.'),
})

export interface MetricValueStatus extends Infer<typeof metricValueStatus> {}
export const metricValueStatus = object(`${autoscalingV2}.MetricValueStatus`, 'What a metric was last.', {
  value: optional(quantity, 'What it was.'),
  averageValue: optional(quantity, 'What it was on average over all pods.'),
  averageUtilization: pointer(int32(), 'Percent of what the pods request that they used on average.'),
})

const target = required(metricTarget, 'What the metric is to be.', { default: { type: '' } })
const current = required(metricValueStatus, 'What the metric was last.', { default: {} })
const metric = required(metricIdentifier, 'Which metric.', { default: { name: '' } })
const describedObject = required(crossVersionObjectReference, 'The object the metric is about.', {
  default: { kind: '', name: '' },
})
const resourceName = required(string(), 'Name of the resource, such as cpu.', { default: '' })
const container = required(string(), 'Name of the container that counts in each pod.', { default: '' })

export const resourceMetricSource = object(
  `${autoscalingV2}.ResourceMetricSource`,
  'What the pods use of a resource that they request.',
  { name: resourceName, target },
)

export const containerResourceMetricSource = object(
  `${autoscalingV2}.ContainerResourceMetricSource`,
  'What one container of each pod uses of a resource that it requests.',
  { name: resourceName, target, container },
)

export const podsMetricSource = object(
  `${autoscalingV2}.PodsMetricSource`,
  'A metric that each pod has, averaged over them.',
  { metric, target },
)

export const objectMetricSource = object(
  `${autoscalingV2}.ObjectMetricSource`,
  'A metric of one object, such as the requests per second of an Ingress.',
  { describedObject, target, metric },
)

export const externalMetricSource = object(
  `${autoscalingV2}.ExternalMetricSource`,
  'A metric of the external metrics API, and the value that is aimed at.',
  { metric, target },
)

/** Where a metric comes from, by the type that asks for the field. */
export const metricSourceFields = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const

export interface MetricSpec extends Infer<typeof metricSpec> {}
export const metricSpec = object(`${autoscalingV2}.MetricSpec`, 'One metric to scale by, from exactly one source.', {
  type: required(string(), 'The source: ContainerResource, External, Object, Pods or Resource.', { default: '' }),
  object: optional(objectMetricSource, 'A metric of one object.'),
  pods: optional(podsMetricSource, 'A metric of the pods.'),
  resource: optional(resourceMetricSource, 'A resource that the pods request.'),
  containerResource: optional(containerResourceMetricSource, 'A resource that one container of each pod requests.'),
  external: optional(externalMetricSource, 'A metric of something outside of the cluster.'),
})

export const resourceMetricStatus = object(
  `${autoscalingV2}.ResourceMetricStatus`,
  'What the pods were last seen to use of a resource.',
  { name: resourceName, current },
)

export const containerResourceMetricStatus = object(
  `${autoscalingV2}.ContainerResourceMetricStatus`,
  'What one container of each pod was last seen to use of a resource.',
  { name: resourceName, current, container },
)

export const podsMetricStatus = object(`${autoscalingV2}.PodsMetricStatus`, 'What a metric of the pods was last.', {
  metric,
  current,
})

export const objectMetricStatus = object(
  `${autoscalingV2}.ObjectMetricStatus`,
  'What a metric of one object was last.',
  { metric, current, describedObject },
)

export const externalMetricStatus = object(
  `${autoscalingV2}.ExternalMetricStatus`,
  'What a metric of something outside of the cluster was last.',
  { metric, current },
)

export interface MetricStatus extends Infer<typeof metricStatus> {}
export const metricStatus = object(`${autoscalingV2}.MetricStatus`, 'What one metric was last.', {
  type: required(string(), 'The source: ContainerResource, External, Object, Pods or Resource.', { default: '' }),
  object: optional(objectMetricStatus, 'A metric of one object.'),
  pods: optional(podsMetricStatus, 'A metric of the pods.'),
  resource: optional(resourceMetricStatus, 'A resource that the pods request.'),
  containerResource: optional(containerResourceMetricStatus, 'A resource that one container of each pod requests.'),
  external: optional(externalMetricStatus, 'A metric of something outside of the cluster.'),
})

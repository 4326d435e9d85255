/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const autoscalingMessages = {
  'io.k8s.api.autoscaling.v1': `
CrossVersionObjectReference: kind name apiVersion
HorizontalPodAutoscaler: metadata spec status
HorizontalPodAutoscalerSpec: scaleTargetRef minReplicas maxReplicas targetCPUUtilizationPercentage
HorizontalPodAutoscalerStatus: observedGeneration lastScaleTime currentReplicas desiredReplicas
  currentCPUUtilizationPercentage
Scale: metadata spec status
ScaleSpec: replicas
ScaleStatus: replicas selector
`,
  'io.k8s.api.autoscaling.v2': `
ContainerResourceMetricSource: name target container
ContainerResourceMetricStatus: name current container
CrossVersionObjectReference: kind name apiVersion
ExternalMetricSource: metric target
ExternalMetricStatus: metric current
HPAScalingPolicy: type value periodSeconds
HPAScalingRules: selectPolicy policies stabilizationWindowSeconds tolerance
HorizontalPodAutoscaler: metadata spec status
HorizontalPodAutoscalerBehavior: scaleUp scaleDown
HorizontalPodAutoscalerCondition: type status lastTransitionTime! reason message
HorizontalPodAutoscalerSpec: scaleTargetRef minReplicas maxReplicas metrics behavior
HorizontalPodAutoscalerStatus: observedGeneration lastScaleTime currentReplicas desiredReplicas currentMetrics
  conditions
MetricIdentifier: name selector
MetricSpec: type object pods resource external 7:containerResource
MetricStatus: type object pods resource external 7:containerResource
MetricTarget: type value averageValue averageUtilization
MetricValueStatus: value averageValue averageUtilization
ObjectMetricSource: describedObject target metric
ObjectMetricStatus: metric current describedObject
PodsMetricSource: metric target
PodsMetricStatus: metric current
ResourceMetricSource: name target
ResourceMetricStatus: name current
`,
} as const

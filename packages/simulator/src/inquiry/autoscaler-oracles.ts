import type { HorizontalPodAutoscaler } from '@coracle/api'
import type { Kind } from '../kinds.ts'
import { type Oracle, says, unless } from './oracle.ts'

const targetMissing: Oracle = (_, object, { view }) => {
  const { kind, name } = (object as HorizontalPodAutoscaler).spec.scaleTargetRef
  const target = view.find(kind as Kind, object.metadata.namespace, name)
  return unless(target === undefined, `${kind} ${name} is there`)
}

const saysOneOf = (type: string, status: string, ...reasons: readonly string[]) =>
  Object.fromEntries(reasons.map((reason) => [reason, says(type, status, reason)]))

/** Findings about autoscalers, by their reasons. */
export const autoscalerOracles: Readonly<Record<string, Oracle>> = {
  TargetMissing: targetMissing,
  ...saysOneOf('AbleToScale', 'False', 'FailedGetScale', 'FailedUpdateScale'),
  ...saysOneOf('AbleToScale', 'True', 'ScaleDownStabilized', 'ScaleUpStabilized'),
  ...saysOneOf('ScalingActive', 'False', 'ScalingDisabled', 'InvalidSelector', 'AmbiguousSelector'),
  ...saysOneOf('ScalingActive', 'False', 'FailedGetResourceMetric', 'FailedGetContainerResourceMetric'),
  ...saysOneOf('ScalingLimited', 'True', 'TooManyReplicas', 'TooFewReplicas', 'ScaleUpLimit', 'ScaleDownLimit'),
}

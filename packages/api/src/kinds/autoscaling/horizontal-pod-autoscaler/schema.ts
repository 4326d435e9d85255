import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  int32,
  int64,
  mapList,
  object,
  optional,
  pointer,
  required,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { autoscalingV2 } from '../../meta/names.ts'
import { behavior } from './behavior.ts'
import { crossVersionObjectReference, metricSpec, metricStatus } from './metrics.ts'

export interface HorizontalPodAutoscalerSpec extends Infer<typeof horizontalPodAutoscalerSpec> {}
export const horizontalPodAutoscalerSpec = object(
  `${autoscalingV2}.HorizontalPodAutoscalerSpec`,
  'What is scaled, by what, and within which limits.',
  {
    scaleTargetRef: required(crossVersionObjectReference, 'What is scaled: anything that has a scale subresource.', {
      byValue: true,
      default: { kind: '', name: '' },
    }),
    minReplicas: pointer(int32(), 'The fewest there may be; 1 unless set.', { default: 1 }),
    maxReplicas: required(int32(), 'The most there may be.', { default: 0 }),
    metrics: optional(
      atomicList(metricSpec),
      'What decides the count: the metric that asks for most. 80 percent of the requested CPU unless set.',
    ),
    behavior: optional(behavior, 'How fast the count may grow and shrink.'),
  },
  { checkedOrder: ['minReplicas', 'maxReplicas', 'scaleTargetRef', 'metrics', 'behavior'] },
)

export interface HorizontalPodAutoscalerCondition extends Infer<typeof horizontalPodAutoscalerCondition> {}
export const horizontalPodAutoscalerCondition = conditionOf(
  `${autoscalingV2}.HorizontalPodAutoscalerCondition`,
  'One aspect of how an autoscaler is doing.',
  'What it is about: ScalingActive, AbleToScale or ScalingLimited.',
)

export interface HorizontalPodAutoscalerStatus extends Infer<typeof horizontalPodAutoscalerStatus> {}
export const horizontalPodAutoscalerStatus = object(
  `${autoscalingV2}.HorizontalPodAutoscalerStatus`,
  'What the autoscaler last saw and decided.',
  {
    observedGeneration: pointer(int64(), 'The generation that this status answers.'),
    lastScaleTime: optional(time, 'When the count was last changed.'),
    currentReplicas: optional(int32(), 'How many there were.'),
    desiredReplicas: required(int32(), 'How many the autoscaler wants.', { default: 0 }),
    currentMetrics: optional(atomicList(metricStatus), 'What the metrics were.', { alwaysWritten: true }),
    conditions: optional(
      mapList(horizontalPodAutoscalerCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
  },
)

/** Keeps the number of pods of something in step with what it has to do. */
export interface HorizontalPodAutoscaler extends Infer<typeof horizontalPodAutoscalerSchema> {}
export const horizontalPodAutoscalerSchema = kindSchema(
  `${autoscalingV2}.HorizontalPodAutoscaler`,
  'Scales something that has a scale subresource by what its metrics say.',
  {
    spec: required(horizontalPodAutoscalerSpec, 'What is to be.', {
      default: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 },
    }),
    status: optional(horizontalPodAutoscalerStatus, 'What is. Written by the controller.', {
      default: { desiredReplicas: 0 },
    }),
  },
)

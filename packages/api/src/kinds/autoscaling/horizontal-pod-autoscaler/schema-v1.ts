/** autoscaling/v1: what it cannot say of the hub's version is in annotations. */
import { kindSchema } from '../../../meta.ts'
import { int32, int64, object, optional, pointer, required, string, time } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { autoscalingV1 } from '../../meta/names.ts'

export const crossVersionObjectReferenceV1 = object(
  `${autoscalingV1}.CrossVersionObjectReference`,
  'Names an object of any kind in the same namespace.',
  {
    kind: required(string(), 'Kind of the object.', { default: '' }),
    name: required(string(), 'Name of the object.', { default: '' }),
    apiVersion: optional(string(), 'API version of the object.'),
  },
  { mapType: 'atomic' },
)

export interface HorizontalPodAutoscalerV1 extends Infer<typeof horizontalPodAutoscalerV1Schema> {}
export const horizontalPodAutoscalerV1Schema = kindSchema(
  `${autoscalingV1}.HorizontalPodAutoscaler`,
  'Scales something that has a scale subresource by the CPU that its pods use.',
  {
    spec: required(
      object(`${autoscalingV1}.HorizontalPodAutoscalerSpec`, 'What is scaled, and within which limits.', {
        scaleTargetRef: required(
          crossVersionObjectReferenceV1,
          'What is scaled: anything that has a scale subresource.',
          { byValue: true, default: { kind: '', name: '' } },
        ),
        minReplicas: pointer(int32(), 'The fewest there may be; 1 unless set.', { default: 1 }),
        maxReplicas: required(int32(), 'The most there may be.', { default: 0 }),
        targetCPUUtilizationPercentage: pointer(
          int32(),
          'Percent of the CPU they request that the pods are to use on average; 80 unless set.',
        ),
      }),
      'What is to be.',
      { default: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 } },
    ),
    status: optional(
      object(`${autoscalingV1}.HorizontalPodAutoscalerStatus`, 'What the autoscaler last saw and decided.', {
        observedGeneration: pointer(int64(), 'The generation that this status answers.'),
        lastScaleTime: optional(time, 'When the count was last changed.'),
        currentReplicas: required(int32(), 'How many there were.', { default: 0 }),
        desiredReplicas: required(int32(), 'How many the autoscaler wants.', { default: 0 }),
        currentCPUUtilizationPercentage: pointer(
          int32(),
          'Percent of the CPU they request that the pods used on average.',
        ),
      }),
      'What is. Written by the controller.',
      { default: { currentReplicas: 0, desiredReplicas: 0 } },
    ),
  },
)

/** How fast a HorizontalPodAutoscaler may scale. */
import { atomicList, int32, object, optional, pointer, quantity, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { autoscalingV2 } from '../../meta/names.ts'

export interface ScalingPolicy extends Infer<typeof scalingPolicy> {}
export const scalingPolicy = object(
  `${autoscalingV2}.HPAScalingPolicy`,
  'A limit of how much may change within some time.',
  {
    type: required(string(), 'What value counts: Pods or Percent.', { default: '' }),
    value: required(int32(), 'How much may change within the period.', { default: 0 }),
    periodSeconds: required(int32(), 'Seconds the policy looks back.', { default: 0 }),
  },
)

export interface ScalingRules extends Infer<typeof scalingRules> {}
export const scalingRules = object(`${autoscalingV2}.HPAScalingRules`, 'How scaling in one direction is limited.', {
  stabilizationWindowSeconds: pointer(
    int32(),
    'Seconds of past recommendations that are looked at, so that the count does not go up and down.',
  ),
  selectPolicy: pointer(string(), 'Which of several policies counts: Max, Min, or Disabled for no scaling at all.'),
  policies: optional(atomicList(scalingPolicy), 'What may change, and how fast.', { keepsEmpty: true }),
  tolerance: optional(quantity, 'How far a metric may be off its target, as a fraction, before anything changes.'),
})

export interface Behavior extends Infer<typeof behavior> {}
export const behavior = object(
  `${autoscalingV2}.HorizontalPodAutoscalerBehavior`,
  'Rules for scaling up and for scaling down.',
  {
    scaleUp: optional(scalingRules, 'How it may grow.'),
    scaleDown: optional(scalingRules, 'How it may shrink.'),
  },
)

/** What growing is limited to where nothing is said of it (autoscaling/v2 GenerateHPAScaleUpRules). */
const defaultScaleUp: ScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}

/** The window of shrinking is the controller's unless it is given. */
const defaultScaleDown: ScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

/** A behavior that says something says all of it. */
export function withRules(given: Behavior): Behavior {
  const { scaleUp, scaleDown } = given
  const complete = (rules: ScalingRules | undefined, usual: ScalingRules) => {
    const isComplete = Object.keys(usual).every((key) => rules?.[key as keyof ScalingRules] !== undefined)
    return rules !== undefined && isComplete ? rules : { ...usual, ...rules }
  }
  const [up, down] = [complete(scaleUp, defaultScaleUp), complete(scaleDown, defaultScaleDown)]
  return up === scaleUp && down === scaleDown ? given : { scaleUp: up, scaleDown: down }
}

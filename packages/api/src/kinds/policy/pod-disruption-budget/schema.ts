import { kindSchema } from '../../../meta.ts'
import {
  defaulted,
  enumOf,
  int32,
  int64,
  intOrString,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { condition } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { policyV1 } from '../names.ts'

export interface PodDisruptionBudgetSpec extends Infer<typeof podDisruptionBudgetSpec> {}
export const podDisruptionBudgetSpec = object(
  `${policyV1}.PodDisruptionBudgetSpec`,
  'Pods, and how many of them must or need not be there.',
  {
    minAvailable: optional(
      intOrString,
      'How many of the pods must be healthy after an eviction: a number, or a percentage of those there should be.',
    ),
    selector: optional(labelSelector, 'The pods that are guarded. An empty one picks all of the namespace.', {
      patchStrategy: 'replace',
    }),
    maxUnavailable: optional(
      intOrString,
      'How many of the pods may be missing or unhealthy after an eviction. Not beside minAvailable.',
    ),
    unhealthyPodEvictionPolicy: pointer(
      enumOf('AlwaysAllow', 'IfHealthyBudget'),
      'When pods that are not ready may go: always, or while enough others are healthy, which is the rule unless set.',
    ),
  },
  { checkedOrder: ['minAvailable', 'maxUnavailable', 'selector', 'unhealthyPodEvictionPolicy'] },
)

export interface PodDisruptionBudgetStatus extends Infer<typeof podDisruptionBudgetStatus> {}
export const podDisruptionBudgetStatus = object(
  `${policyV1}.PodDisruptionBudgetStatus`,
  'How many pods may be evicted now, as the disruption controller last counted them.',
  {
    observedGeneration: optional(int64(), 'The generation that these counts answer. Behind it nothing is evicted.'),
    disruptedPods: optional(
      mapOf(time),
      'Pods whose eviction is granted and whose deletion has not been seen yet, with when that was. They count as gone.',
    ),
    disruptionsAllowed: defaulted(int32(), 'How many pods may be evicted now.', 0),
    currentHealthy: defaulted(int32(), 'How many of the pods are healthy.', 0),
    desiredHealthy: defaulted(int32(), 'How many of the pods must be healthy.', 0),
    expectedPods: defaulted(int32(), 'How many pods there should be.', 0),
    conditions: optional(
      mapList(condition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
  },
)

/** How many pods of an application may be taken away at a time by those who ask first. */
export interface PodDisruptionBudget extends Infer<typeof podDisruptionBudgetSchema> {}
export const podDisruptionBudgetSchema = kindSchema(
  `${policyV1}.PodDisruptionBudget`,
  'Guards pods of an application: evictions, such as those of kubectl drain, leave as many of them as it says.',
  {
    spec: optional(podDisruptionBudgetSpec, 'Which pods are guarded, and how many of them must stay.', { default: {} }),
    status: optional(podDisruptionBudgetStatus, 'How many pods may be evicted now. Only read.'),
  },
)

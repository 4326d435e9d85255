import { kindSchema } from '../../../meta.ts'
import { defaulted, int32, int64, mapList, object, optional, pointer, required } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { emptyTemplate, podTemplateSpec } from '../../core/pod/pod-template.ts'
import { conditionOf } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { appsV1 } from '../../meta/names.ts'

export interface ReplicaSetSpec extends Infer<typeof replicaSetSpec> {}
export const replicaSetSpec = object(
  `${appsV1}.ReplicaSetSpec`,
  'How many pods there are to be, which ones count, and what new ones look like.',
  {
    replicas: pointer(int32(), 'How many pods there are to be. Zero is a number too; 1 unless set.', { default: 1 }),
    minReadySeconds: optional(
      int32(),
      'Seconds a pod must have been ready, without a container crashing, to count as available. 0 unless set.',
    ),
    selector: required(
      labelSelector,
      'The pods that count. The template must carry such labels. It cannot be changed.',
    ),
    template: optional(podTemplateSpec, 'What new pods look like. A change touches no pod that exists.', {
      byValue: true,
      default: emptyTemplate,
    }),
  },
  { checkedOrder: ['replicas', 'minReadySeconds', 'selector', 'template'] },
)

export interface ReplicaSetCondition extends Infer<typeof replicaSetCondition> {}
export const replicaSetCondition = conditionOf(
  `${appsV1}.ReplicaSetCondition`,
  'One aspect of how a replica set is doing.',
  'What it is about, such as ReplicaFailure.',
)

export interface ReplicaSetStatus extends Infer<typeof replicaSetStatus> {}
export const replicaSetStatus = object(
  `${appsV1}.ReplicaSetStatus`,
  'How many pods there are, as the controller last counted them.',
  {
    replicas: required(int32(), 'Pods that exist and count.', { default: 0 }),
    fullyLabeledReplicas: optional(int32(), 'Of those, the ones that carry all labels of the template.'),
    readyReplicas: optional(int32(), 'Of those, the ones that are ready.'),
    availableReplicas: optional(int32(), 'Of those, the ones that have been ready for minReadySeconds.'),
    terminatingReplicas: pointer(int32(), 'Pods that are on their way out.'),
    observedGeneration: optional(int64(), 'The generation that these counts answer.'),
    conditions: optional(
      mapList(replicaSetCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
  },
)

/** Keeps a number of pods of a template running; most of them belong to a Deployment. */
export interface ReplicaSet extends Infer<typeof replicaSetSchema> {}
export const replicaSetSchema = kindSchema(
  `${appsV1}.ReplicaSet`,
  'Keeps a number of pods of a template running: it makes what is missing and deletes what is too much. Usually made by a Deployment.',
  {
    spec: defaulted(replicaSetSpec, 'What is to be.', { template: emptyTemplate } as ReplicaSetSpec),
    status: optional(replicaSetStatus, 'What is. Written by the controller.', { default: { replicas: 0 } }),
  },
)

import { kindSchema } from '../../../meta.ts'
import {
  defaulted,
  int32,
  int64,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'
import { podTemplateSpec } from '../pod/pod-template.ts'

export interface ReplicationControllerSpec extends Infer<typeof replicationControllerSpec> {}
export const replicationControllerSpec = object(
  `${coreV1}.ReplicationControllerSpec`,
  'How many pods there are to be, which ones count, and what new ones look like.',
  {
    replicas: pointer(int32(), 'How many pods there are to be. Zero is a number too; 1 unless set.', { default: 1 }),
    minReadySeconds: optional(
      int32(),
      'Seconds a pod must have been ready, without a container crashing, to count as available. 0 unless set.',
    ),
    selector: optional(
      mapOf(string(), { mapType: 'atomic' }),
      'Labels of the pods that count. The template must carry them; its labels are the selector where none is given.',
    ),
    template: optional(podTemplateSpec, 'What new pods look like. A change touches no pod that exists.'),
  },
)

export interface ReplicationControllerCondition extends Infer<typeof replicationControllerCondition> {}
export const replicationControllerCondition = conditionOf(
  `${coreV1}.ReplicationControllerCondition`,
  'One aspect of how a replication controller is doing.',
  'What it is about, such as ReplicaFailure.',
)

export interface ReplicationControllerStatus extends Infer<typeof replicationControllerStatus> {}
export const replicationControllerStatus = object(
  `${coreV1}.ReplicationControllerStatus`,
  'How many pods there are, as the controller last counted them.',
  {
    replicas: required(int32(), 'Pods that exist and count.', { default: 0 }),
    fullyLabeledReplicas: optional(int32(), 'Of those, the ones that carry all labels of the template.'),
    readyReplicas: optional(int32(), 'Of those, the ones that are ready.'),
    availableReplicas: optional(int32(), 'Of those, the ones that have been ready for minReadySeconds.'),
    observedGeneration: optional(int64(), 'The generation that these counts answer.'),
    conditions: optional(
      mapList(replicationControllerCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
  },
)

/** Keeps a number of pods of a template running. */
export interface ReplicationController extends Infer<typeof replicationControllerSchema> {}
export const replicationControllerSchema = kindSchema(
  `${coreV1}.ReplicationController`,
  'Keeps a number of pods of a template running: it makes what is missing and deletes what is too much.',
  {
    spec: defaulted(replicationControllerSpec, 'What is to be.', {}),
    status: optional(replicationControllerStatus, 'What is. Written by the controller.', { default: { replicas: 0 } }),
  },
)

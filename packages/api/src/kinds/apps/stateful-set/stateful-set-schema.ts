import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  defaulted,
  enumOf,
  int32,
  int64,
  intOrString,
  literal,
  mapList,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { persistentVolumeClaimSchema } from '../../core/persistent-volume-claim/schema.ts'
import { emptyTemplate, podTemplateSpec } from '../../core/pod/pod-template.ts'
import { conditionOf } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { appsV1 } from '../../meta/names.ts'

export interface RollingUpdateStatefulSetStrategy extends Infer<typeof rollingUpdateStatefulSetStrategy> {}
export const rollingUpdateStatefulSetStrategy = object(
  `${appsV1}.RollingUpdateStatefulSetStrategy`,
  'Which pods are replaced, and how many at a time.',
  {
    partition: pointer(int32(), 'Pods with a smaller ordinal stay as they are; 0 unless set, which means none.'),
    maxUnavailable: optional(
      intOrString,
      'How many pods may be missing: a number, or a percentage of those wanted, rounded down, but at least 1. 1 unless set.',
    ),
  },
)

export interface StatefulSetUpdateStrategy extends Infer<typeof statefulSetUpdateStrategy> {}
export const statefulSetUpdateStrategy = object(
  `${appsV1}.StatefulSetUpdateStrategy`,
  'When pods of a StatefulSet are replaced, and which of them.',
  {
    type: optional(
      literal<'RollingUpdate' | 'OnDelete'>(),
      'RollingUpdate: one after the other, the last first. OnDelete: when somebody deletes them. RollingUpdate unless set.',
    ),
    rollingUpdate: optional(rollingUpdateStatefulSetStrategy, 'Which and how many; with RollingUpdate only.'),
  },
)

export interface StatefulSetOrdinals extends Infer<typeof statefulSetOrdinals> {}
export const statefulSetOrdinals = object(`${appsV1}.StatefulSetOrdinals`, 'How pods are numbered.', {
  start: optional(int32(), 'Number of the first pod; 0 unless set.', { default: 0 }),
})

export interface StatefulSetPersistentVolumeClaimRetentionPolicy
  extends Infer<typeof statefulSetPersistentVolumeClaimRetentionPolicy> {}
export const statefulSetPersistentVolumeClaimRetentionPolicy = object(
  `${appsV1}.StatefulSetPersistentVolumeClaimRetentionPolicy`,
  'Whether claims are kept or deleted when their StatefulSet goes or shrinks.',
  {
    whenDeleted: optional(enumOf('Retain', 'Delete'), 'When the StatefulSet is deleted: Retain unless set.', {
      default: 'Retain',
    }),
    whenScaled: optional(enumOf('Retain', 'Delete'), 'When there are to be fewer pods: Retain unless set.', {
      default: 'Retain',
    }),
  },
)

export interface StatefulSetSpec extends Infer<typeof statefulSetSpec> {}
export const statefulSetSpec = object(
  `${appsV1}.StatefulSetSpec`,
  'How many pods there are to be, what they look like, and what storage each of them has.',
  {
    replicas: pointer(int32(), 'How many pods there are to be. Zero is a number too; 1 unless set.', { default: 1 }),
    selector: required(
      labelSelector,
      'The pods that count. The template must carry such labels. It cannot be changed.',
    ),
    template: required(podTemplateSpec, 'What the pods look like, beside their names and their claims.', {
      byValue: true,
      default: emptyTemplate,
    }),
    volumeClaimTemplates: optional(
      atomicList(persistentVolumeClaimSchema),
      'Claims that each pod has of its own, named after the claim and the pod. They are mounted by their names here.',
    ),
    serviceName: optional(string(), 'The Service that gives the pods their names in DNS. It cannot be changed.', {
      default: '',
    }),
    podManagementPolicy: optional(
      literal<'OrderedReady' | 'Parallel'>(),
      'OrderedReady: one pod after the other, each once the one before is ready. Parallel: all at once. OrderedReady unless set.',
      { default: 'OrderedReady' },
    ),
    updateStrategy: optional(statefulSetUpdateStrategy, 'How old pods become new ones.', {
      byValue: true,
      default: {},
    }),
    revisionHistoryLimit: pointer(int32(), 'How many old templates are kept to go back to; 10 unless set.', {
      default: 10,
    }),
    minReadySeconds: optional(
      int32(),
      'Seconds a pod must have been ready, without a container crashing, to count as available. 0 unless set.',
    ),
    persistentVolumeClaimRetentionPolicy: pointer(
      statefulSetPersistentVolumeClaimRetentionPolicy,
      'What becomes of the claims of pods that are no longer wanted.',
      { default: {} },
    ),
    ordinals: optional(statefulSetOrdinals, 'How pods are numbered: from 0 unless set.'),
  },
  {
    checkedOrder: [
      'podManagementPolicy',
      'updateStrategy',
      'persistentVolumeClaimRetentionPolicy',
      'replicas',
      'minReadySeconds',
      'ordinals',
      'selector',
      'template',
    ],
  },
)

export interface StatefulSetCondition extends Infer<typeof statefulSetCondition> {}
export const statefulSetCondition = conditionOf(
  `${appsV1}.StatefulSetCondition`,
  'One aspect of how a stateful set is doing.',
  'What it is about.',
)

export interface StatefulSetStatus extends Infer<typeof statefulSetStatus> {}
export const statefulSetStatus = object(
  `${appsV1}.StatefulSetStatus`,
  'How many pods there are, as the controller last counted them.',
  {
    observedGeneration: optional(int64(), 'The generation that these counts answer.'),
    replicas: required(int32(), 'Pods that exist and count.', { default: 0 }),
    readyReplicas: optional(int32(), 'Of those, the ones that are ready.'),
    currentReplicas: optional(int32(), 'Of those, the ones that are made from currentRevision.'),
    updatedReplicas: optional(int32(), 'Of those, the ones that are made from updateRevision.'),
    currentRevision: optional(string(), 'The ControllerRevision from which pods are made that are not updated yet.'),
    updateRevision: optional(string(), 'The ControllerRevision from which updated pods are made.'),
    collisionCount: pointer(int32(), 'How often the name of a new ControllerRevision was taken by another one.'),
    conditions: optional(
      mapList(statefulSetCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
    availableReplicas: optional(int32(), 'Pods that have been ready for minReadySeconds.', { default: 0 }),
  },
)

/** Keeps numbered pods of a template running, each with a name and storage that stay when the pod is replaced. */
export interface StatefulSet extends Infer<typeof statefulSetSchema> {}
export const statefulSetSchema = kindSchema(
  `${appsV1}.StatefulSet`,
  'Keeps numbered pods of a template running. Each has a name and storage that stay when the pod is replaced.',
  {
    spec: defaulted(statefulSetSpec, 'What is to be.', { template: emptyTemplate } as StatefulSetSpec),
    status: optional(statefulSetStatus, 'What is. Written by the controller.', { default: { replicas: 0 } }),
  },
)

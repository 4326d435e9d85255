import { kindSchema } from '../../../meta.ts'
import {
  boolean,
  defaulted,
  int32,
  int64,
  intOrString,
  literal,
  mapList,
  object,
  optional,
  pointer,
  required,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { emptyTemplate, podTemplateSpec } from '../../core/pod/pod-template.ts'
import { conditionOf } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { appsV1 } from '../../meta/names.ts'

export interface RollingUpdateDeployment extends Infer<typeof rollingUpdateDeployment> {}
export const rollingUpdateDeployment = object(
  `${appsV1}.RollingUpdateDeployment`,
  'How far the pods may be from their number while they are replaced.',
  {
    maxUnavailable: optional(
      intOrString,
      'How many pods may be missing: a number, or a percentage of those wanted, rounded down. 25% unless set.',
    ),
    maxSurge: optional(
      intOrString,
      'How many pods there may be too many: a number, or a percentage of those wanted, rounded up. 25% unless set.',
    ),
  },
)

export interface DeploymentStrategy extends Infer<typeof deploymentStrategy> {}
export const deploymentStrategy = object(
  `${appsV1}.DeploymentStrategy`,
  'Whether old pods go before new ones come, or side by side with them.',
  {
    type: optional(
      literal<'RollingUpdate' | 'Recreate'>(),
      'RollingUpdate: a few at a time. Recreate: all old ones go before the first new one comes. RollingUpdate unless set.',
    ),
    rollingUpdate: optional(rollingUpdateDeployment, 'How many at a time; with RollingUpdate only.'),
  },
)

export interface DeploymentSpec extends Infer<typeof deploymentSpec> {}
export const deploymentSpec = object(
  `${appsV1}.DeploymentSpec`,
  'How many pods there are to be, what they look like, and how a new template takes the place of an old one.',
  {
    replicas: pointer(int32(), 'How many pods there are to be. Zero is a number too; 1 unless set.', { default: 1 }),
    selector: required(
      labelSelector,
      'The pods that count. The template must carry such labels. It cannot be changed.',
    ),
    template: required(podTemplateSpec, 'What the pods look like. A change starts a rollout.', {
      byValue: true,
      default: emptyTemplate,
    }),
    strategy: optional(deploymentStrategy, 'How old pods become new ones.', {
      byValue: true,
      default: {},
      patchStrategy: 'retainKeys',
    }),
    minReadySeconds: optional(
      int32(),
      'Seconds a pod must have been ready, without a container crashing, to count as available. 0 unless set.',
    ),
    revisionHistoryLimit: pointer(int32(), 'How many old templates are kept to go back to; 10 unless set.', {
      default: 10,
    }),
    paused: optional(boolean, 'Whether changes of the template wait.'),
    progressDeadlineSeconds: pointer(
      int32(),
      'Seconds without progress after which a rollout counts as failed, which the condition Progressing then says. 600 unless set.',
      { default: 600 },
    ),
  },
  {
    checkedOrder: [
      'replicas',
      'selector',
      'template',
      'strategy',
      'minReadySeconds',
      'revisionHistoryLimit',
      'progressDeadlineSeconds',
    ],
  },
)

export interface DeploymentCondition extends Infer<typeof deploymentCondition> {}
export const deploymentCondition = conditionOf(
  `${appsV1}.DeploymentCondition`,
  'One aspect of how a deployment is doing.',
  'What it is about: Available, Progressing or ReplicaFailure.',
  { lastUpdateTime: optional(time, 'When this was last said.', { byValue: true }) },
)

export interface DeploymentStatus extends Infer<typeof deploymentStatus> {}
export const deploymentStatus = object(
  `${appsV1}.DeploymentStatus`,
  'How many pods there are, as the controller last counted them.',
  {
    observedGeneration: optional(int64(), 'The generation that these counts answer.'),
    replicas: optional(int32(), 'Pods that exist and count.'),
    updatedReplicas: optional(int32(), 'Of those, the ones that are made from the present template.'),
    readyReplicas: optional(int32(), 'Of those, the ones that are ready.'),
    availableReplicas: optional(int32(), 'Of those, the ones that have been ready for minReadySeconds.'),
    unavailableReplicas: optional(int32(), 'Pods that are missing until enough are available.'),
    terminatingReplicas: pointer(int32(), 'Pods that are on their way out.'),
    conditions: optional(
      mapList(deploymentCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
    collisionCount: pointer(int32(), 'How often the name of a new ReplicaSet was taken by another one.'),
  },
)

/** Keeps pods of a template running, and replaces them step by step when the template changes. */
export interface Deployment extends Infer<typeof deploymentSchema> {}
export const deploymentSchema = kindSchema(
  `${appsV1}.Deployment`,
  'Keeps a number of pods of a template running, by way of a ReplicaSet for each version of the template.',
  {
    spec: defaulted(deploymentSpec, 'What is to be.', { template: emptyTemplate } as DeploymentSpec),
    status: optional(deploymentStatus, 'What is. Written by the controller.', { default: {} }),
  },
)

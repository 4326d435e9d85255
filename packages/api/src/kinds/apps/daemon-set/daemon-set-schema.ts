import { kindSchema } from '../../../meta.ts'
import {
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
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { emptyTemplate, podTemplateSpec } from '../../core/pod/pod-template.ts'
import { conditionOf } from '../../meta/condition.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { appsV1 } from '../../meta/names.ts'

export interface RollingUpdateDaemonSet extends Infer<typeof rollingUpdateDaemonSet> {}
export const rollingUpdateDaemonSet = object(
  `${appsV1}.RollingUpdateDaemonSet`,
  'How many nodes may be without a pod, or have two, while pods are replaced.',
  {
    maxUnavailable: optional(
      intOrString,
      'On how many nodes the pod may be missing: a number, or a percentage of the nodes, rounded up. 1 unless set.',
    ),
    maxSurge: optional(
      intOrString,
      'How many nodes may have the new pod beside the old one: a number, or a percentage, rounded up. 0 unless set.',
    ),
  },
)

export interface DaemonSetUpdateStrategy extends Infer<typeof daemonSetUpdateStrategy> {}
export const daemonSetUpdateStrategy = object(
  `${appsV1}.DaemonSetUpdateStrategy`,
  'When pods of a DaemonSet are replaced, and how many at a time.',
  {
    type: optional(
      literal<'RollingUpdate' | 'OnDelete'>(),
      'RollingUpdate: a few nodes at a time. OnDelete: when somebody deletes them. RollingUpdate unless set.',
    ),
    rollingUpdate: optional(rollingUpdateDaemonSet, 'How many nodes at a time; with RollingUpdate only.'),
  },
)

export interface DaemonSetSpec extends Infer<typeof daemonSetSpec> {}
export const daemonSetSpec = object(
  `${appsV1}.DaemonSetSpec`,
  'What the pods look like, and on which nodes they are: on all that the template lets them run on.',
  {
    selector: required(
      labelSelector,
      'The pods that count. The template must carry such labels. It cannot be changed.',
      { absenceIsToldByRules: true },
    ),
    template: required(podTemplateSpec, 'What the pods look like; where they run follows from it as well.', {
      byValue: true,
      default: emptyTemplate,
    }),
    updateStrategy: optional(daemonSetUpdateStrategy, 'How old pods become new ones.', { byValue: true, default: {} }),
    minReadySeconds: optional(
      int32(),
      'Seconds a pod must have been ready, without a container crashing, to count as available. 0 unless set.',
    ),
    revisionHistoryLimit: pointer(int32(), 'How many old templates are kept to go back to; 10 unless set.', {
      default: 10,
    }),
  },
  { checkedOrder: ['selector', 'template', 'minReadySeconds', 'updateStrategy', 'revisionHistoryLimit'] },
)

export interface DaemonSetCondition extends Infer<typeof daemonSetCondition> {}
export const daemonSetCondition = conditionOf(
  `${appsV1}.DaemonSetCondition`,
  'One aspect of how a daemon set is doing.',
  'What it is about.',
)

export interface DaemonSetStatus extends Infer<typeof daemonSetStatus> {}
export const daemonSetStatus = object(
  `${appsV1}.DaemonSetStatus`,
  'On how many nodes there are pods, as the controller last counted them.',
  {
    currentNumberScheduled: required(int32(), 'Nodes that have the pod and should.', { default: 0 }),
    numberMisscheduled: required(int32(), 'Nodes that have the pod and should not.', { default: 0 }),
    desiredNumberScheduled: required(int32(), 'Nodes that should have the pod.', { default: 0 }),
    numberReady: required(int32(), 'Nodes that should have the pod and have one that is ready.', { default: 0 }),
    observedGeneration: optional(int64(), 'The generation that these counts answer.'),
    updatedNumberScheduled: optional(int32(), 'Nodes whose pod is made from the present template.'),
    numberAvailable: optional(int32(), 'Nodes whose pod has been ready for minReadySeconds.'),
    numberUnavailable: optional(int32(), 'Nodes that should have the pod and have none that is available.'),
    collisionCount: pointer(int32(), 'How often the name of a new ControllerRevision was taken by another one.'),
    conditions: optional(
      mapList(daemonSetCondition, ['type'], { duplicates: 'allowed' }),
      'What else there is to say, by type.',
    ),
  },
)

/** Keeps one pod of a template on every node that fits. */
export interface DaemonSet extends Infer<typeof daemonSetSchema> {}
export const daemonSetSchema = kindSchema(
  `${appsV1}.DaemonSet`,
  'Keeps one pod of a template on every node that fits: it comes with the node, and goes with it.',
  {
    spec: defaulted(daemonSetSpec, 'What is to be.', { template: emptyTemplate } as DaemonSetSpec),
    status: optional(daemonSetStatus, 'What is. Written by the controller.', { default: {} as DaemonSetStatus }),
  },
)

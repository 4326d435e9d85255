import {
  atomicList,
  enumOf,
  exactInt64,
  int32,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { labelSelector } from '../common.ts'

export interface Toleration extends Infer<typeof toleration> {}
export const toleration = object(`${coreV1}.Toleration`, 'Taints that do not keep the pod away from a node.', {
  key: optional(string(), 'Key of the taint. Empty, with the operator Exists, is every taint.'),
  operator: optional(
    literal<'Equal' | 'Exists' | 'Gt' | 'Lt' | ''>(),
    'Equal (the default) compares the value too; Exists does not.',
  ),
  value: optional(string(), 'Value of the taint; with the operator Exists there is none.'),
  effect: optional(
    literal<'NoExecute' | 'NoSchedule' | 'PreferNoSchedule' | ''>(),
    'Effect of the taint; empty is every effect.',
  ),
  tolerationSeconds: pointer(
    exactInt64(),
    'How long a NoExecute taint is tolerated before the pod is evicted. For ever unless set.',
  ),
})

export interface TopologySpreadConstraint extends Infer<typeof topologySpreadConstraint> {}
export const topologySpreadConstraint = object(
  `${coreV1}.TopologySpreadConstraint`,
  'How evenly matching pods are spread over groups of nodes.',
  {
    maxSkew: required(int32(), 'By how many pods any group may exceed the smallest one.', { default: 0 }),
    topologyKey: required(string(), 'Label of nodes; nodes with the same value are one group.', { default: '' }),
    whenUnsatisfiable: required(
      literal<'DoNotSchedule' | 'ScheduleAnyway' | ''>(),
      'Whether the pod waits where the spread would be too uneven, or only prefers other nodes.',
      { default: '' },
    ),
    labelSelector: optional(labelSelector, 'Which pods are counted.'),
    matchLabelKeys: optional(
      atomicList(string()),
      'Labels of this pod that counted pods must have with the same values. Merged into labelSelector on creation.',
    ),
    minDomains: pointer(
      int32(),
      'With fewer groups than this the smallest is taken to be empty. Only with DoNotSchedule.',
    ),
    nodeAffinityPolicy: pointer(
      enumOf('Honor', 'Ignore'),
      "Whether nodes that the pod's node selector and affinity rule out are left out. Honor unless set.",
    ),
    nodeTaintsPolicy: pointer(
      enumOf('Honor', 'Ignore'),
      'Whether nodes with taints the pod does not tolerate are left out. Ignore unless set.',
    ),
  },
)

export interface PodSchedulingGate extends Infer<typeof podSchedulingGate> {}
export const podSchedulingGate = object(`${coreV1}.PodSchedulingGate`, 'A reason not to schedule the pod yet.', {
  name: required(string(), 'Name of the gate, unique in the pod.', { default: '' }),
})

export interface PodSchedulingGroup extends Infer<typeof podSchedulingGroup> {}
export const podSchedulingGroup = object(
  `${coreV1}.PodSchedulingGroup`,
  'A reference to a group of pods.',
  {
    podGroupName: pointer(string(), 'Name of the PodGroup in the pod’s namespace.'),
  },
  { unions: [{ fields: ['podGroupName'] }] },
)

export interface PodReadinessGate extends Infer<typeof podReadinessGate> {}
export const podReadinessGate = object(`${coreV1}.PodReadinessGate`, 'A further condition for the pod to be ready.', {
  conditionType: required(string(), 'Type of the condition that must be True.', { default: '' }),
})

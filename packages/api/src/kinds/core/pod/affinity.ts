import { atomicList, int32, object, optional, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { labelSelector, nodeSelector, nodeSelectorTerm } from '../common.ts'

export interface PreferredSchedulingTerm extends Infer<typeof preferredSchedulingTerm> {}
export const preferredSchedulingTerm = object(
  `${coreV1}.PreferredSchedulingTerm`,
  'Nodes that are preferred, and how much. An empty term matches every node.',
  {
    weight: required(int32(), 'How much a match counts, from 1 to 100.', { default: 0 }),
    preference: required(nodeSelectorTerm, 'Which nodes.', { default: {} }),
  },
)

export interface NodeAffinity extends Infer<typeof nodeAffinity> {}
export const nodeAffinity = object(`${coreV1}.NodeAffinity`, 'Which nodes the pod must or should run on.', {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    nodeSelector,
    'The node must match when the pod is scheduled. What happens to its labels later does not matter.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    atomicList(preferredSchedulingTerm),
    'The weights of all matching terms are added up; the node with the highest sum is preferred.',
  ),
})

export interface PodAffinityTerm extends Infer<typeof podAffinityTerm> {}
export const podAffinityTerm = object(
  `${coreV1}.PodAffinityTerm`,
  'A set of pods, and what counts as being in the same place as one of them.',
  {
    labelSelector: optional(labelSelector, 'Which pods. None unless set.'),
    matchLabelKeys: optional(
      atomicList(string()),
      'Labels of this pod that the others must have with the same values. Merged into labelSelector on creation.',
    ),
    mismatchLabelKeys: optional(
      atomicList(string()),
      'Labels of this pod whose values the others must not have. Merged into labelSelector on creation.',
    ),
    namespaces: optional(
      atomicList(string()),
      "Namespaces the pods are in, beside those of namespaceSelector; the pod's own if neither is set.",
    ),
    namespaceSelector: optional(
      labelSelector,
      'Namespaces the pods are in, by label. An empty selector is all of them.',
    ),
    topologyKey: required(string(), 'Label of nodes; nodes with the same value are the same place.', { default: '' }),
  },
)

export interface WeightedPodAffinityTerm extends Infer<typeof weightedPodAffinityTerm> {}
export const weightedPodAffinityTerm = object(
  `${coreV1}.WeightedPodAffinityTerm`,
  'A preference for or against places, and how much it counts.',
  {
    weight: required(int32(), 'How much a match counts, from 1 to 100.', { default: 0 }),
    podAffinityTerm: required(podAffinityTerm, 'Which places.', { default: { topologyKey: '' } }),
  },
)

export interface PodAffinity extends Infer<typeof podAffinity> {}
export const podAffinity = object(`${coreV1}.PodAffinity`, 'Which pods this one must or should be near.', {
  requiredDuringSchedulingIgnoredDuringExecution: optional(
    atomicList(podAffinityTerm),
    'All of these must hold when the pod is scheduled.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: optional(
    atomicList(weightedPodAffinityTerm),
    'The weights of those that hold are added up; the node with the highest sum is preferred.',
  ),
})

export interface PodAntiAffinity extends Infer<typeof podAntiAffinity> {}
export const podAntiAffinity = object(
  `${coreV1}.PodAntiAffinity`,
  'Which pods this one must not or should not be near.',
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(
      atomicList(podAffinityTerm),
      'None of these may hold when the pod is scheduled.',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      atomicList(weightedPodAffinityTerm),
      'The weights of those that hold count against a node.',
    ),
  },
)

export interface Affinity extends Infer<typeof affinity> {}
export const affinity = object(`${coreV1}.Affinity`, 'Wishes and demands about nodes and about other pods.', {
  nodeAffinity: optional(nodeAffinity, 'By the labels of nodes.'),
  podAffinity: optional(podAffinity, 'Near which pods.'),
  podAntiAffinity: optional(podAntiAffinity, 'Away from which pods.'),
})

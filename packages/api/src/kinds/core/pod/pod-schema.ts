import { type KubernetesObject, kindSchema } from '../../../meta.ts'
import { optional } from '../../../schema/builders.ts'
import type { ObjectSchema } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { emptyPodSpec, type PodSpec, podSpec } from './pod-spec.ts'
import { type PodStatus, podStatus } from './pod-status.ts'

/** Containers that run together on one node, sharing its network and volumes. */
export interface Pod extends KubernetesObject {
  readonly spec: PodSpec
  readonly status?: PodStatus | undefined
}

export const podSchema = kindSchema(
  `${coreV1}.Pod`,
  'Containers that run together on one node, with one network address and the same volumes. Usually made by a controller.',
  {
    spec: optional(podSpec, 'What is to run, and how.', { default: emptyPodSpec }),
    status: optional(podStatus, 'How the pod is, as its node last said.', { default: {} }),
  },
) as ObjectSchema<Pod>

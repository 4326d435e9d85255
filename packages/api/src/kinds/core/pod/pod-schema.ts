import { kindSchema } from '../../../meta.ts'
import { defaulted, optional } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { emptyPodSpec, podSpec } from './pod-spec.ts'
import { podStatus } from './pod-status.ts'

/** Containers that run together on one node, sharing its network and volumes. */
export interface Pod extends Infer<typeof podSchema> {}
export const podSchema = kindSchema(
  `${coreV1}.Pod`,
  'Containers that run together on one node, with one network address and the same volumes. Usually made by a controller.',
  {
    spec: defaulted(podSpec, 'What is to run, and how.', emptyPodSpec),
    status: optional(podStatus, 'How the pod is, as its node last said.', { default: {} }),
  },
)

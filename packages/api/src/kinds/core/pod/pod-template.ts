import { type ObjectMeta, objectMeta } from '../../../meta.ts'
import { object, optional } from '../../../schema/builders.ts'
import type { ObjectSchema } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { emptyPodSpec, type PodSpec, podSpec } from './pod-spec.ts'

/** What pods made from a template look like. */
export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta | undefined
  readonly spec: PodSpec
}

export const podTemplateSpec = object(`${coreV1}.PodTemplateSpec`, 'What pods made from it look like.', {
  metadata: optional(objectMeta, 'Labels and annotations of the pods.'),
  spec: optional(podSpec, 'What the pods run.', { default: emptyPodSpec }),
}) as ObjectSchema<PodTemplateSpec>

import { objectMeta } from '../../../meta.ts'
import { defaulted, object, optional } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { emptyPodSpec, podSpec } from './pod-spec.ts'

/** What pods made from a template look like. */
export interface PodTemplateSpec extends Infer<typeof podTemplateSpec> {}
export const podTemplateSpec = object(
  `${coreV1}.PodTemplateSpec`,
  'Metadata and specification of pods that are made.',
  {
    metadata: optional(objectMeta, 'Labels and annotations of the pods.', { default: {}, byValue: true }),
    spec: defaulted(podSpec, 'What the pods run.', emptyPodSpec, { byValue: true }),
  },
  // Labels and annotations are named without their metadata, as upstream does, where something is wrong in themselves.
  { checkedOrder: ['metadata', 'labels', 'annotations', 'spec'] },
)

/** What upstream has where a template must be but is not given: validation says what is missing in it. */
export const emptyTemplate: PodTemplateSpec = { metadata: {}, spec: emptyPodSpec }

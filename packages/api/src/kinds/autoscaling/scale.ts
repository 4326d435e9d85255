import { kindSchema } from '../../meta.ts'
import { int32, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { autoscalingV1 } from '../meta/names.ts'

export interface ScaleSpec extends Infer<typeof scaleSpec> {}
export const scaleSpec = object(`${autoscalingV1}.ScaleSpec`, 'The number of replicas that is wanted.', {
  replicas: optional(int32(), 'How many there are to be.'),
})

export interface ScaleStatus extends Infer<typeof scaleStatus> {}
export const scaleStatus = object(`${autoscalingV1}.ScaleStatus`, 'How many there are.', {
  replicas: required(int32(), 'How many there are.', { default: 0 }),
  selector: optional(string(), 'Which pods count, as a label selector in a query string.'),
})

/** What a `scale` subresource shows and takes, whatever is behind it. Not stored. */
export interface Scale extends Infer<typeof scaleSchema> {}
export const scaleSchema = kindSchema(
  `${autoscalingV1}.Scale`,
  'How many of something there are and should be: the scale subresource of whatever can be scaled.',
  {
    spec: optional(scaleSpec, 'How many are wanted.', { default: {} }),
    status: optional(scaleStatus, 'How many there are. Only read.', { default: { replicas: 0 } }),
  },
)

import { kindSchema } from '../../meta.ts'
import { required } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { coreV1 } from '../meta/names.ts'
import { objectReference } from './common.ts'

/** Puts a pod on a node; what `pods/binding` takes. Not stored. */
export interface Binding extends Infer<typeof bindingSchema> {}
export const bindingSchema = kindSchema(
  `${coreV1}.Binding`,
  'Ties one object to another: the scheduler puts a pod on a node with it. Never stored.',
  { target: required(objectReference, 'What the object is tied to: a node.') },
)

import { kindSchema } from '../../meta.ts'
import { required } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { resourceDefinition } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { objectReference } from './common.ts'

/** Puts a pod on a node; what `pods/binding` takes. Not stored. */
export interface Binding extends Infer<typeof bindingSchema> {}
export const bindingSchema = kindSchema(
  `${coreV1}.Binding`,
  'Ties one object to another: the scheduler puts a pod on a node with it. Never stored.',
  { target: required(objectReference, 'What the object is tied to: a node.') },
)

/** `v1` bindings: the older path of `pods/binding`. */
export const bindings = resourceDefinition<Binding>(bindingSchema, {
  plural: 'bindings',
  verbs: ['create'],
  columns: [],
})

import { kindSchema } from '../../meta.ts'
import { optional } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { deleteOptionsSchema } from '../meta/delete-options.ts'
import { policyV1 } from './names.ts'

/** Asks a pod to go, if its disruption budget allows that; what `pods/eviction` takes. Not stored. */
export interface Eviction extends Infer<typeof evictionSchema> {}
export const evictionSchema = kindSchema(
  `${policyV1}.Eviction`,
  'Asks that a pod be deleted if its disruption budget allows it. Never stored.',
  { deleteOptions: optional(deleteOptionsSchema, 'How the pod is to be deleted.') },
)

import { kindSchema } from '../../../meta.ts'
import { atomicList, object, optional, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'

export interface LimitRangeItem extends Infer<typeof limitRangeItem> {}
export const limitRangeItem = object(`${coreV1}.LimitRangeItem`, 'Limits for one type of thing.', {
  type: required(string(), 'What is limited: each Container, each Pod as a whole, or each PersistentVolumeClaim.', {
    default: '',
  }),
  max: optional(resourceList, 'The most that one may have.'),
  min: optional(resourceList, 'The least that one must have.'),
  default: optional(resourceList, 'Limits of containers that say none; max unless set.'),
  defaultRequest: optional(resourceList, 'Requests of containers that say none; default unless set, else min.'),
  maxLimitRequestRatio: optional(resourceList, 'How many times its request a limit may be.'),
})

export interface LimitRangeSpec extends Infer<typeof limitRangeSpec> {}
export const limitRangeSpec = object(`${coreV1}.LimitRangeSpec`, 'Limits of the objects of a namespace.', {
  limits: required(atomicList(limitRangeItem), 'The limits, each type once.', { default: [] }),
})

/** How much single pods, containers and claims of a namespace may have, and what they get where they do not say. */
export interface LimitRange extends Infer<typeof limitRangeSchema> {}
export const limitRangeSchema = kindSchema(
  `${coreV1}.LimitRange`,
  'How much each pod, container or claim of a namespace may have, and what containers get that do not say.',
  { spec: optional(limitRangeSpec, 'What is limited, and how.', { default: { limits: [] } }) },
)

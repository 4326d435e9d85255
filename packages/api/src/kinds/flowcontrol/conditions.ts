import { object, optional, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'

/** A condition of this group. */
export type FlowCondition = Infer<ReturnType<typeof flowCondition>>

/** The form of conditions in this group, where upstream requires nothing in the schema. */
export const flowCondition = (name: string, doc: string) =>
  object(name, doc, {
    type: optional(string(), 'What it is about.'),
    status: optional(string(), 'Whether it holds: True, False or Unknown.'),
    lastTransitionTime: optional(time, 'When the status last changed.', { byValue: true }),
    reason: optional(string(), 'Why, in one CamelCase word.'),
    message: optional(string(), 'Why, in a sentence.'),
  })

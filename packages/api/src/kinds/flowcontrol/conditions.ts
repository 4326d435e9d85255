import { duplicateField, type FieldError, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { object, optional, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'

/** The form of conditions in this group, where upstream requires nothing in the schema. */
export const flowCondition = (name: string, doc: string) =>
  object(name, doc, {
    type: optional(string(), 'What it is about.'),
    status: optional(string(), 'Whether it holds: True, False or Unknown.'),
    lastTransitionTime: optional(time, 'When the status last changed.', { byValue: true }),
    reason: optional(string(), 'Why, in one CamelCase word.'),
    message: optional(string(), 'Why, in a sentence.'),
  })

/** That each condition has a type, and no two the same (ValidateFlowSchemaStatus). */
export function checkFlowConditions(
  conditions: readonly Infer<ReturnType<typeof flowCondition>>[] = [],
  path: FieldPath,
): readonly FieldError[] {
  const types = new Set<string>()
  return conditions.flatMap(({ type = '' }, index) => {
    const at = path.index(index).field('type')
    const isTwice = types.has(type)
    types.add(type)
    return [...(isTwice ? [duplicateField(at, type)] : []), ...(type === '' ? [requiredField(at)] : [])]
  })
}

import { duplicateField, type FieldError, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import type { FlowCondition } from './conditions.ts'

/** That each condition has a type, and no two the same (ValidateFlowSchemaStatus). */
export function checkFlowConditions(conditions: readonly FlowCondition[] = [], path: FieldPath): readonly FieldError[] {
  const types = new Set<string>()
  return conditions.flatMap(({ type = '' }, index) => {
    const at = path.index(index).field('type')
    const isTwice = types.has(type)
    types.add(type)
    return [...(isTwice ? [duplicateField(at, type)] : []), ...(type === '' ? [requiredField(at)] : [])]
  })
}

import { type FieldError, requiredField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'

const policies: readonly string[] = ['PreemptLowerPriority', 'Never']

/** What is wrong with a policy of a pod or of a priority class, where there is one. */
export function checkPreemptionPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (policy === undefined || policies.includes(policy)) return []
  return [policy === '' ? requiredField(path) : unsupportedField(path, policy, policies)]
}

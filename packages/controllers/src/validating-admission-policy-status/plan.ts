import type { ValidatingAdmissionPolicy } from '@coracle/api'
import type { ExpressionWarning } from '@coracle/api/admission'
import type { Plan } from '@coracle/controller-runtime'

type Status = NonNullable<ValidatingAdmissionPolicy['status']>

/** Whether what a policy says of itself is about what it is now. */
export const isChecked = ({ metadata, status }: ValidatingAdmissionPolicy): boolean =>
  (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)

/** Says what checking types has found, once for each generation. Pure. */
export function planTypeChecking(
  policy: ValidatingAdmissionPolicy,
  warnings: () => readonly ExpressionWarning[],
): Plan<Status> {
  if (isChecked(policy)) return { actions: [] }
  const found = warnings()
  const typeChecking = found.length === 0 ? {} : { expressionWarnings: found }
  return { actions: [], status: { ...policy.status, observedGeneration: policy.metadata.generation, typeChecking } }
}

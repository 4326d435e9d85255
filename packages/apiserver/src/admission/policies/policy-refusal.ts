import { ApiError, type KubernetesObject } from '@coracle/api'
import type { AdmissionAttributes } from '../admission.ts'
import { forbiddenByAdmission } from '../forbidden.ts'

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/** The refusal of a request by a policy, for a reason that decides the code. */
export function policyRefusal(
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  reason: string,
  why: string,
): ApiError {
  const { message, status } = forbiddenByAdmission(attributes, object, why)
  return new ApiError(codes[reason] ?? 422, reason, message, { ...status.details, causes: [{ message: why }] })
}

/** Why a policy that must not fail could not change a request. */
export interface MutationFailure {
  readonly message: string
  readonly reason: 'Forbidden' | 'Invalid'
}

/** The refusal of a request because of these: the first of them decides, and all are causes. Upstream's code is that of a Forbidden. */
export function mutationRefusal(
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  failures: readonly MutationFailure[],
): ApiError {
  const { status } = forbiddenByAdmission(attributes, object, '')
  const [{ message, reason } = { message: '', reason: 'Forbidden' }] = failures
  const causes = failures.map((each) => ({ message: each.message }))
  return new ApiError(403, reason, message, { ...status.details, causes })
}

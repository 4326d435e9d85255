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

import { nestingMax, nestsDeeperThan } from '../json.ts'
import { ApiError, badRequest } from '../status.ts'

/**
 * A patch that is well formed and does not fit the object. Code, reason and message are upstream's; the cause says, as
 * upstream's answer does not, what does not fit.
 */
export function patchDoesNotApply(why: string): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ reason: 'FieldValueInvalid', message: why, field: 'patch' }],
  })
}

/** Refuses patches that nest too deep to be walked. */
export function checkNesting(patch: unknown): void {
  if (nestsDeeperThan(patch, nestingMax)) throw badRequest('exceeded max depth')
}

import { goText } from '../go-text.ts'
import { nestingMax, nestsDeeperThan } from '../json.ts'
import { ApiError, badRequest } from '../status.ts'

/** Most characters of a value that a message shows. */
const shownMax = 1000

/**
 * A patch that is well formed and does not fit the object. Code, reason and message are upstream's; the cause says, as
 * upstream's answer does not, what does not fit.
 */
export function patchDoesNotApply(why: string): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ reason: 'FieldValueInvalid', message: why, field: 'patch' }],
  })
}

/** A strategic merge patch that cannot be merged as it says: upstream answers these with 500, no reason and these words. */
export const patchCannotBeMerged = (why: string): ApiError => new ApiError(500, '', why)

/** A value of a patch as messages show it: as Go prints it, cut off where it is long. */
export function patchText(value: unknown): string {
  const text = goText(value)
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}...`
}

/** Refuses patches that nest too deep to be walked. */
export function checkNesting(patch: unknown): void {
  if (nestsDeeperThan(patch, nestingMax)) throw badRequest('exceeded max depth')
}

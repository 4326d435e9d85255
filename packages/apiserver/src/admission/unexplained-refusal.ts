import { ApiError } from '@coracle/api'

/** Upstream's answer where a plugin refuses without saying what kind of error that is: a 500 with its words. */
export const unexplainedRefusal = (why: string): ApiError => new ApiError(500, '', why)

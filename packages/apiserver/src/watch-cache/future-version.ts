import { ApiError } from '@coracle/api'

/** How long a read waits for a version that is still to come. */
export const futureVersionWaitMs = 3000

/** How a read takes a version: at least that one, or that one alone, of which upstream does not say when to ask again. */
export type WantedVersion = 'at least' | 'exactly'

/** A read wants a version that is still to come. */
export function tooLargeVersion(requested: number, current: number, wanted: WantedVersion): ApiError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`
  return new ApiError(504, 'Timeout', message, { causes, ...(wanted === 'exactly' ? {} : { retryAfterSeconds: 1 }) })
}
